# SPDX-License-Identifier: MIT
"""The far half: sky, mountains, the wooded banks and the boathouse."""

import numpy as np

from .canvas import CENTRE, EYE, FOCUS, HEIGHT, HORIZON, SUN, WIDTH, Canvas, Noise, f32, mix, rgb, smooth


class Far(Canvas):
    def sky_colour(self, u, v):
        t = np.clip((HORIZON - v) / HORIZON, 0, 1)[:, :, None]
        stops = [
            (0.00, rgb(1.10, 0.43, 0.15)),
            (0.10, rgb(0.86, 0.34, 0.19)),
            (0.22, rgb(0.40, 0.235, 0.25)),
            (0.40, rgb(0.135, 0.150, 0.285)),
            (0.66, rgb(0.040, 0.074, 0.195)),
            (1.00, rgb(0.012, 0.030, 0.098)),
        ]
        colour = np.zeros((v.shape[0], 1, 3), f32) + stops[0][1]
        for (a, _), (b, c) in zip(stops, stops[1:]):
            colour = mix(colour, c, smooth(a, b, t))
        d = np.hypot((u - SUN) * 0.62, v - HORIZON - 0.01)[:, :, None]
        glow = np.exp(-d * 5.2) * rgb(1.5, 0.62, 0.20) + np.exp(-d * 17) * rgb(2.6, 1.35, 0.52)
        return colour * mix(0.72, 1.0, np.exp(-(((u - SUN) / 0.7) ** 2)))[:, :, None] + glow

    def sky(self):
        rows = int(HORIZON * self.h) + 8
        u, v = self.u, self.v[:rows]
        sky = self.sky_colour(u, v)

        # Two decks of cloud, seen from below and lit from beyond the horizon.
        for seed, high, cover, strength in ((3, 0.10, 0.10, 0.75), (8, 0.17, 0.02, 0.9)):
            noise = Noise(seed)
            z = 1 / np.maximum(HORIZON + high - v, 0.02)
            x = (u - CENTRE) * z
            warp = noise.fbm(x * 0.7, z * 1.1, 4)
            n = noise.fbm(x * 1.0 + 1.2 * warp, z * 1.75 + 0.5 * warp, 7, 0.53)
            thin = smooth(cover, cover + 0.42, n) * smooth(0.0, 0.09, HORIZON - v)
            thick = smooth(cover + 0.16, cover + 0.62, n)
            t = np.clip((HORIZON - v) / HORIZON, 0, 1)
            near = np.exp(-(((u - SUN) / 0.55) ** 2))
            warm = np.exp(-t * 2.4) * (0.35 + 0.65 * near)
            lit = mix(rgb(0.085, 0.080, 0.15), rgb(1.80, 0.66, 0.36), warm[:, :, None])
            dark = mix(rgb(0.030, 0.034, 0.085), rgb(0.30, 0.12, 0.14), warm[:, :, None])
            cloud = mix(lit, dark, (thick * 0.85)[:, :, None])
            sky = mix(sky, cloud, (thin * strength)[:, :, None])

        # Stars where it is dark enough, a young moon.
        for _ in range(260):
            x, y = self.random.uniform(0, WIDTH / HEIGHT), self.random.uniform(0, 0.34) ** 1.25
            power = self.random.pareto(2.2) * 0.05 * (1 - y / 0.34)
            i, j = int(y * self.h), int(x * self.h)
            sky[i : i + 2, j : j + 2] += f32(min(power, 0.9)) * rgb(0.9, 0.95, 1.1)
        x, y, r = 0.335, 0.145, 0.0165
        d = np.clip((r - np.hypot(u - x, v - y)) * self.h + 0.5, 0, 1)
        e = np.clip((np.hypot(u - x + r * 0.50, v - y + r * 0.34) - r * 0.93) * self.h * 0.5 + 0.5, 0, 1)
        glow = 0.05 / (1 + (np.hypot(u - x, v - y) / (r * 1.1)) ** 2.4)
        sky += (d * e)[:, :, None] * rgb(3.4, 3.1, 2.6) + glow[:, :, None] * rgb(1.0, 0.9, 0.85)
        sky += (d * (1 - e) * 0.02)[:, :, None] * rgb(0.9, 0.95, 1.2)
        self.image[:rows] = sky

    def mountains(self):
        """A field of heights behind the lake, found column by column: the first step outwards at
        which the highest ground so far reaches a pixel is what the pixel shows."""
        noise = Noise(21)
        steps = 900
        z = np.geomspace(900, 16000, steps).astype(f32)[:, None]
        u = self.u
        x = (u - CENTRE) * z / FOCUS

        def ground(x, z):
            axis = 420 * np.sin(z / 3400) + 60
            side = np.abs(x - axis)
            rise = smooth(250, 4300, side - 0.03 * z) ** 0.9
            bend = 260 * noise.fbm(x / 1500 + 7, z / 1500, 3)
            peaks = noise.ridged((x + bend) / 2300 + 4.2, (z - bend) / 2300 + 1.7, 9)
            hills = noise.fbm(x / 700, z / 700, 5)
            return (
                rise * (0.02 + peaks**1.25 * 1.18) * 2350
                + smooth(900, 1500, z) * (34 + 26 * hills) * smooth(40, 400, side)
                - 4
            )

        height = ground(x, z)
        top = np.minimum.accumulate(HORIZON - FOCUS * (height - EYE) / z, 0)
        low = int(HORIZON * self.h) + 2
        high = max(0, int(top.min() * self.h) - 1)
        v = self.v[high:low, 0]
        depth = np.full((low - high, self.w), np.inf, f32)
        for column in range(self.w):
            line = -top[:, column]
            k = np.searchsorted(line, -v)
            inside = k < steps
            k1 = np.minimum(k, steps - 1)
            k0 = np.maximum(k1 - 1, 0)
            rise = line[k1] - line[k0]
            t = np.where(rise > 0, (-v - line[k0]) / np.where(rise > 0, rise, 1), 1)
            depth[inside, column] = (z[k0, 0] + (z[k1, 0] - z[k0, 0]) * np.clip(t, 0, 1))[inside]

        seen = np.isfinite(depth)
        zz = np.where(seen, depth, 1000).astype(f32)
        xx = (u - CENTRE) * zz / FOCUS
        step = zz * 0.0016 + 1
        hx = (ground(xx + step, zz) - ground(xx - step, zz)) / (2 * step)
        hz = (ground(xx, zz + step) - ground(xx, zz - step)) / (2 * step)
        tall = ground(xx, zz)
        length = np.sqrt(hx * hx + hz * hz + 1)
        up = 1 / length
        # The last light comes from beyond the ridges, off to the right; the sky lights the rest.
        sun = np.clip((-hx * 0.72 + 0.30 + -hz * 0.55) / length, 0, 1)
        grain = Noise(5).fbm(xx / 38, zz / 38, 5)
        snow = smooth(420, 760, tall + 260 * grain) * smooth(0.50, 0.72, up + 0.16 * grain)
        woods = smooth(520, 250, tall + 230 * grain)
        rock = mix(rgb(0.10, 0.085, 0.085), rgb(0.020, 0.028, 0.026), woods[:, :, None])
        speckle = Noise(6).fbm(xx / 7, tall / 9 + zz / 30, 3)
        rock = rock * np.maximum(0.12, 0.8 + 0.5 * grain + (0.5 + 1.5 * woods) * speckle)[:, :, None]
        albedo = mix(rock, rgb(0.80, 0.83, 0.90), snow[:, :, None])
        ambient = rgb(0.105, 0.125, 0.245) * (0.15 + 0.85 * up[:, :, None] ** 1.5)
        colour = albedo * (ambient + sun[:, :, None] * rgb(0.52, 0.25, 0.18))
        air = self.sky_colour(u, np.full((1, 1), HORIZON - 0.075, f32))
        air = mix(
            air, rgb(0.125, 0.125, 0.27), 0.34 + 0.50 * smooth(0.16, 0.66, np.abs(u - SUN))[:, :, None]
        )
        haze = 1 - np.exp(-((zz / 9800) ** 1.3) * (0.50 + 0.80 * np.exp(-np.maximum(tall, 0) / 260)))
        colour = mix(colour, air, np.clip(haze, 0, 1)[:, :, None])
        mist = np.exp(-np.maximum(tall, 0) / 46) * smooth(900, 3600, zz) * 0.55
        colour = mix(colour, air * 0.9, mist[:, :, None])

        part = self.image[high:low]
        edge = seen.astype(f32)[:, :, None]
        part += (colour - part) * edge

    def conifer(self, x, base, height, colour):
        r = self.random
        rows = int(r.integers(15, 24))
        lean = r.uniform(-0.03, 0.03) * height
        slim = r.uniform(0.10, 0.19)
        sides = []
        for sign in (-1, 1):
            side, y = [], base - height * 0.965
            for i in range(rows):
                t = (base - y) / height
                out = height * (0.008 + slim * (1 - t) ** 0.8) * r.uniform(0.55, 1.2)
                axis = x + lean * t
                side.append((axis + sign * out * r.uniform(0.25, 0.5), y))
                side.append((axis + sign * out, y + height * r.uniform(0.008, 0.034)))
                y = min(base - height * 0.03, y + height / rows * r.uniform(0.7, 1.25))
            sides.append(side)
        trunk = height * 0.012
        points = (
            [(x + lean, base - height)] + sides[1] + [(x + trunk, base - height * 0.03), (x + trunk, base)]
        )
        points += [(x - trunk, base), (x - trunk, base - height * 0.03)] + sides[0][::-1]
        self.polygon(points, colour)

    def shore(self, x):
        """How far below the horizon the land meets the water."""
        return HORIZON + 0.0035 + 0.012 * smooth(1.02, 1.30, x) + 0.0055 * smooth(0.42, 0.10, x)

    def banks(self):
        r = self.random
        ground = Noise(33)
        xs = np.linspace(-0.02, 1.52, 900)
        rise = 0.005 + 0.050 * smooth(0.56, 0.0, xs) + 0.062 * smooth(1.00, 1.42, xs)
        rise = rise * (0.75 + 0.35 * ground.fbm(xs * 9, 0 * xs, 4))
        points = [(x, self.shore(x) - h) for x, h in zip(xs, rise)]
        points += [(x, self.shore(x)) for x in xs[::-1]]

        def earth(u, v):
            n = ground.fbm(u * 160, v * 420, 4)[:, :, None]
            return rgb(0.013, 0.016, 0.019) * (1 + 0.9 * n)

        self.polygon(points, earth)

        def wood(depth):
            tint = mix(rgb(0.007, 0.010, 0.012), rgb(0.046, 0.040, 0.064), depth)
            return lambda u, v: tint * (1 + 0.55 * ground.fbm(u * 520, v * 340, 3)[:, :, None])

        for depth, count, size in (
            (1.0, 420, 0.026),
            (0.6, 330, 0.040),
            (0.25, 190, 0.058),
            (0.0, 120, 0.080),
        ):
            for _ in range(count):
                right = r.random() < 0.55
                t = r.random() ** 1.35
                x = 1.54 - t * (0.50 - 0.10 * (1 - depth)) if right else -0.03 + t * (0.46 + 0.1 * depth)
                if depth == 0 and 1.08 < x < 1.335:
                    continue
                edge = smooth(0, 0.30, (x - 1.02) if right else (0.50 - x))
                tall = size * r.uniform(0.55, 1.25) * (0.45 + 0.75 * edge)
                base = self.shore(x) - 0.5 * np.interp(x, xs, rise) * (0.3 + depth)
                self.conifer(x, base, tall, wood(depth))

        # Lamps of a village on the far shore.
        for _ in range(46):
            x = 0.50 + 0.20 * r.beta(1.6, 1.6) if r.random() < 0.6 else r.uniform(0.40, 1.04)
            y = HORIZON + 0.001 - abs(r.normal(0, 0.0045))
            warm = r.random()
            self.light(
                x,
                y,
                r.uniform(0.0005, 0.00105),
                mix(rgb(7, 3.1, 0.9), rgb(6, 5.0, 3.6), warm) * r.uniform(0.5, 1.6),
                0.05,
            )

    def cabin(self):
        """A boathouse on the right bank: flat walls, sharp roofs, lit panes."""
        boards = Noise(40)
        x0, x1, xr = 1.125, 1.222, 1.315  # gable, corner, end
        base = self.shore(1.2) - 0.004
        eave, ridge = base - 0.050, base - 0.098
        middle = (x0 + x1) / 2

        def wall(shade):
            def colour(u, v):
                n = boards.fbm(u * 60, v * 900, 3)
                seam = 1 - 0.45 * (np.mod((base - v) * 190, 1) < 0.16)
                return rgb(0.058, 0.032, 0.024) * ((shade * seam) * (1 + 0.25 * n))[:, :, None]

            return colour

        def roof(u, v):
            row = np.floor((v - ridge) * 230)
            n = boards(u * 190 + 37.7 * row, row)[:, :, None]
            seam = 1 - 0.4 * (np.mod((v - ridge) * 230, 1) < 0.2)
            sheen = rgb(0.052, 0.046, 0.075) * (1 + 0.35 * n) * seam[:, :, None]
            return sheen * (1 + 0.5 * smooth(ridge + 0.05, ridge, v))[:, :, None]

        stone = rgb(0.030, 0.028, 0.032)
        self.polygon(
            [(1.262, ridge - 0.026), (1.278, ridge - 0.026), (1.278, ridge + 0.02), (1.262, ridge + 0.02)],
            lambda u, v: stone * (1 + 0.5 * boards(u * 420, v * 420)[:, :, None]),
        )
        self.polygon(
            [
                (1.2595, ridge - 0.0285),
                (1.2805, ridge - 0.0285),
                (1.2805, ridge - 0.024),
                (1.2595, ridge - 0.024),
            ],
            stone * 1.7,
        )
        self.polygon(
            [(x0, base + 0.003), (x0, eave), (middle, ridge), (x1, eave), (x1, base + 0.003)], wall(1.35)
        )
        self.polygon([(x1, base + 0.003), (x1, eave), (xr, eave), (xr, base + 0.003)], wall(0.8))
        over = 0.010
        self.polygon(
            [
                (middle, ridge - 0.004),
                (xr - (x1 - middle) + 0.052, ridge - 0.004),
                (xr + over, eave + 0.006),
                (x1 + over * 0.6, eave + 0.006),
            ],
            roof,
        )
        self.polygon(
            [
                (middle, ridge - 0.008),
                (middle, ridge - 0.0005),
                (x0 - over, eave + 0.010),
                (x0 - over - 0.004, eave + 0.006),
            ],
            rgb(0.10, 0.055, 0.05),
        )
        self.polygon(
            [
                (middle, ridge - 0.008),
                (middle, ridge - 0.0005),
                (x1 + over * 0.6, eave + 0.010),
                (x1 + over * 0.6 + 0.004, eave + 0.006),
            ],
            rgb(0.13, 0.065, 0.05),
        )

        def window(a, b, c, d, columns, rows, power):
            frame = 0.0021
            self.polygon(
                [
                    (a - frame, c - frame),
                    (b + frame, c - frame),
                    (b + frame, d + frame),
                    (a - frame, d + frame),
                ],
                rgb(0.16, 0.10, 0.07),
            )
            wide, tall = (b - a) / columns, (d - c) / rows
            for i in range(columns):
                for j in range(rows):
                    p, q = a + i * wide + 0.0009, c + j * tall + 0.0009
                    s, t = a + (i + 1) * wide - 0.0009, c + (j + 1) * tall - 0.0009

                    def pane(u, v):
                        lamp = np.exp(
                            -((((u - (a + b) / 2) / 0.016) ** 2) + (((v - c - 0.006) / 0.016) ** 2))
                        )
                        n = boards.fbm(u * 260, v * 260, 3)
                        curtain = 1 - 0.35 * smooth(
                            0.7, 0.95, np.abs(u - (a + b) / 2) / ((b - a) / 2) + 0 * v
                        )
                        return (
                            rgb(3.6, 1.75, 0.55)
                            * (power * curtain * (0.55 + 1.3 * lamp + 0.18 * n))[:, :, None]
                        )

                    self.polygon([(p, q), (s, q), (s, t), (p, t)], pane)

        window(1.142, 1.164, base - 0.040, base - 0.013, 2, 3, 1.0)
        window(1.181, 1.203, base - 0.040, base - 0.013, 2, 3, 0.8)
        window(middle - 0.0085, middle + 0.0085, base - 0.074, base - 0.058, 2, 2, 0.55)
        window(1.282, 1.302, base - 0.036, base - 0.015, 2, 2, 0.9)
        self.polygon(
            [(1.240, base - 0.040), (1.262, base - 0.040), (1.262, base + 0.003), (1.240, base + 0.003)],
            rgb(0.030, 0.020, 0.018),
        )
        self.light(1.251, base - 0.0465, 0.0018, rgb(15, 7.6, 2.6), 0.035)
        self.warm_wall(1.251, base - 0.0465)

        smoke = Noise(44)
        u, v = self.u, self.v
        x0, x1 = int(1.16 * self.h), int(1.36 * self.h)
        y0, y1 = int((ridge - 0.24) * self.h), int((ridge - 0.026) * self.h)
        uu, vv = u[:, x0:x1], v[y0:y1]
        up = (ridge - 0.027) - vv
        drift = (
            1.270
            - 0.22 * up
            - 1.1 * up**2
            + 0.018 * smoke.fbm(vv * 26, 0 * vv + 2, 3) * np.minimum(1, up * 14)
        )
        width = 0.0045 + 0.095 * up
        n = smoke.fbm(uu * 55, vv * 30 + 3, 5)
        density = np.exp(-(((uu - drift) / width) ** 2)) * np.exp(-up * 11) * (0.55 + 0.6 * n) * 0.5
        part = self.image[y0:y1, x0:x1]
        part += (rgb(0.42, 0.24, 0.25) - part) * np.clip(density, 0, 1)[:, :, None]

    def warm_wall(self, x, y):
        d2 = (self.u - x) ** 2 + ((self.v - y) * 0.9) ** 2
        y0, y1 = int((y - 0.08) * self.h), int((y + 0.055) * self.h)
        glow = 0.00022 / (d2[y0:y1] + 0.00025)
        self.image[y0:y1] *= 1 + (glow[:, :, None] * rgb(2.4, 1.3, 0.55))
