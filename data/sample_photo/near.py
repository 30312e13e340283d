# SPDX-License-Identifier: MIT
"""The near half: water that mirrors the far one, the jetty with its lamps, reeds."""

import math

import numpy as np

from .canvas import CENTRE, EYE, FOCUS, HORIZON, Noise, f32, mix, rgb, smooth
from .far import Far


class Scene(Far):
    def water(self):
        low = int(HORIZON * self.h)
        v, u = self.v[low:], self.u
        shore = self.shore(u)
        z = FOCUS * EYE / np.maximum(v - HORIZON, 0.0004)
        x = (u - CENTRE) * z / FOCUS
        wind = Noise(50)
        fade = 1 / (1 + (z / 60) ** 2)
        slope = 0.55 * wind.fbm(x * 0.16, z * 0.34, 3)
        slope = slope + 0.50 * wind.fbm(x * 0.75 + 9, z * 1.5, 3) / (1 + z / 90)
        slope = slope + 0.26 * wind.fbm(x * 3.1, z * 5.6 + 4, 3) * fade
        breeze = 0.45 + 0.9 * smooth(-0.25, 0.5, wind.fbm(x * 0.012 + 5, z * 0.028, 3))
        slope = slope * breeze
        side = 0.4 * wind.fbm(x * 1.1 + 40, z * 1.3, 3) * breeze / (1 + z / 120)

        depth = v - shore
        # A leaning wave shows higher sky, and never what is below the shore.
        row = shore - depth * (1 + 0.55 * slope) - 0.020 * np.maximum(slope, 0) - 0.0012
        row = np.minimum(row, shore - 0.0006)
        column = u + 0.035 * side * np.minimum(1, depth * 6)
        ri = np.clip(row * self.h - 0.5, 0, low - 1)
        ci = np.clip(column * self.h - 0.5, 0, self.w - 1)
        r0, c0 = ri.astype(np.int32), ci.astype(np.int32)
        r1, c1 = np.minimum(r0 + 1, low - 1), np.minimum(c0 + 1, self.w - 1)
        fr, fc = (ri - r0)[:, :, None], (ci - c0)[:, :, None]
        sky = self.image
        mirrored = mix(mix(sky[r0, c0], sky[r0, c1], fc), mix(sky[r1, c0], sky[r1, c1], fc), fr)

        # Near the feet one looks into the water, far out over it.
        cosine = np.clip((v - HORIZON) / FOCUS * 1.25 + 0.10 * slope, 0, 1)
        fresnel = (0.03 + 0.97 * (1 - cosine) ** 4.2)[:, :, None]
        body = rgb(0.008, 0.020, 0.030) * (1 + 0.3 * slope[:, :, None])
        colour = mirrored * fresnel * rgb(0.93, 0.95, 0.98) + body * (1 - fresnel)
        under = smooth(-0.5, 0.5, (depth * self.h))[:, :, None]
        part = self.image[low:]
        part += (colour - part) * under

    def plane(self, level):
        """Where the eye's rays meet the level plane: metres right and out."""
        z = FOCUS * (EYE - level) / np.maximum(self.v - HORIZON, 1e-4)
        return (self.u - CENTRE) * z / FOCUS, z

    def project(self, x, y, z):
        return CENTRE + FOCUS * x / z, HORIZON + FOCUS * (EYE - y) / z

    LEFT, RIGHT, FAR, DECK = 0.42, 2.02, 17.0, 0.55

    def lamps(self):
        for z in (4.6, 8.7, 12.8, 16.7):
            yield self.LEFT + 0.02, self.DECK + 1.165, z
        yield self.RIGHT - 0.10, self.DECK + 1.165, 16.7

    def jetty(self):
        low = int(HORIZON * self.h)
        grain = Noise(60)
        x, z = self.plane(self.DECK)
        x, z = x[low:], z[low:]
        inside = (x > self.LEFT) & (x < self.RIGHT) & (z < self.FAR) & (z > 0)
        rows = np.nonzero(inside.any(1))[0]
        columns = np.nonzero(inside.any(0))[0]
        y0, y1, x0, x1 = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        x, z, inside = (
            x[y0:y1, x0:x1],
            np.broadcast_to(z, (z.shape[0], self.w))[y0:y1, x0:x1],
            inside[y0:y1, x0:x1],
        )

        wide = 0.135
        board = np.floor(z / wide)
        across = z / wide - board
        own = grain(board * 1.37 + 0.31, 0 * board + 3.7)
        shift = 40 * grain(board * 2.11 + 0.7, 0 * board + 11.2)
        fine = 1 / (1 + (z / 5) ** 2)
        knots = grain.fbm(x * 2.2 + shift, across * 1.4 + shift, 3)
        lines = grain.fbm((x + shift) * 2.6, across * 10 + 3.1 * knots + shift, 5, 0.6)
        fibre = grain.fbm((x + shift) * 10, across * 46 + shift * 3, 3, 0.6) * fine
        tone = 0.165 * (1 + 0.36 * own + 0.42 * lines + 0.26 * fibre)
        ends = 0.02 * grain(board * 3.3, 0 * board + 7)
        gap = smooth(0.05, 0.105, np.minimum(across, 1 - across) + 0.012 * lines)
        wear = smooth(0.35, 0.05, np.abs((x - self.LEFT) / (self.RIGHT - self.LEFT) - 0.5)) * 0.25
        colour = tone[:, :, None] * mix(
            rgb(0.60, 0.50, 0.46), rgb(0.86, 0.66, 0.52), np.clip(own + 0.5 + wear, 0, 1)[:, :, None]
        )
        for rail in (self.LEFT + 0.16, self.RIGHT - 0.16):  # nail heads
            for offset in (0.30, 0.70):
                nail = np.hypot(x - rail, (across - offset) * wide) < 0.0062
                colour = np.where(nail[:, :, None] & (z < 7)[:, :, None], rgb(0.028, 0.026, 0.03), colour)

        rim = np.clip(0.55 - np.abs(across - 0.10) * 7, 0, 1)  # the far edge of a board catches the sky
        bump = lines * 0.35 + fibre * 0.5
        light = rgb(0.115, 0.105, 0.205) * (1 + 0.5 * bump[:, :, None])
        light = (
            light
            + rgb(0.80, 0.34, 0.17)
            * ((0.16 + 0.35 * rim + 0.20 * bump) * smooth(0, 9, z) ** 0.5)[:, :, None]
        )
        for lx, ly, lz in self.lamps():
            drop = ly - self.DECK
            d2 = (x - lx) ** 2 + (z - lz) ** 2 + drop**2
            facing = drop / np.sqrt(d2) * (1 + 0.9 * bump * smooth(0, 2.5, np.abs(z - lz) + np.abs(x - lx)))
            light = light + rgb(5.4, 2.75, 0.95) * (facing / d2)[:, :, None] * 0.66
        wet = smooth(0.42, 0.8, grain.fbm(x * 1.1 + 20, z * 0.7, 4) + 0.22)
        colour = colour * light * (1 - 0.4 * wet[:, :, None])
        sheen = self.sky_colour(np.full((1, 1), 0.86, f32), np.full((1, 1), 0.30, f32))
        colour = colour + sheen * (wet * 0.10 * smooth(0.5, 6, z) + 0.006)[:, :, None]
        colour = colour * mix(0.06, 1.0, gap)[:, :, None]
        rough = (x > self.LEFT + ends) & (x < self.RIGHT - ends)

        # Its left side, in its own shade.
        bearer_u, bearer_v = self.u, self.v[low:]
        bz = FOCUS * self.LEFT / np.maximum(bearer_u - CENTRE, 1e-4)
        by = EYE - (bearer_v - HORIZON) * bz / FOCUS
        side = (by < self.DECK) & (by > self.DECK - 0.17) & (bz < self.FAR) & (bz > 0.3)
        n = grain.fbm(bz * 1.7, by * 30, 4)
        shade = (
            rgb(0.030, 0.024, 0.030)
            * (1 + 0.5 * n)[:, :, None]
            * (0.6 + 1.2 * smooth(self.DECK - 0.17, self.DECK, by))[:, :, None]
        )
        part = self.image[low:]
        beneath = (by <= self.DECK - 0.17) & (by > -0.0) & (bz < self.FAR) & (bz > 0.3)
        part *= 1 - 0.72 * beneath.astype(f32)[:, :, None]
        part += (shade - part) * side.astype(f32)[:, :, None]
        part = part[y0:y1, x0:x1]
        part += (colour - part) * (inside & rough).astype(f32)[:, :, None]

    def post(self, x, z, top, radius=0.075):
        grain = Noise(70)
        u0, _ = self.project(x - radius, 0, z)
        u1, _ = self.project(x + radius, 0, z)
        _, v0 = self.project(x, top, z)
        _, v1 = self.project(x, -0.75 if x < self.LEFT else self.DECK - 0.02, z)
        _, wet = self.project(x, 0.0, z)

        def wood(u, v):
            t = np.clip((u - u0) / (u1 - u0), 0, 1)
            turn = 2 * t - 1
            n = grain.fbm(np.arcsin(turn) * 9 + z, (v - v0) * z * 1.4 + z, 4, 0.6)
            round_ = np.sqrt(np.clip(1 - turn * turn, 0, 1))
            glow = np.exp(-np.maximum(v - v0, 0) * z * 1.6)
            light = (
                rgb(0.085, 0.080, 0.15) * (0.35 + 0.65 * round_)[:, :, None]
                + rgb(0.9, 0.36, 0.16) * smooth(0.55, 1.0, t)[:, :, None] * 0.55
                + rgb(1.9, 0.9, 0.3) * (glow * round_)[:, :, None]
            )
            light = light * mix(1, 0.35, smooth(wet - 0.002, wet + 0.002, v))[:, :, None]
            return rgb(0.20, 0.15, 0.125) * (1 + 0.6 * n)[:, :, None] * light

        cap = (u1 - u0) * 0.16
        self.polygon(
            [
                (u0, v0 + cap),
                (u0 + (u1 - u0) * 0.2, v0),
                (u1 - (u1 - u0) * 0.2, v0),
                (u1, v0 + cap),
                (u1, v1),
                (u0, v1),
            ],
            wood,
        )

    def posts(self):
        spots = [(x, z) for z in (16.7, 12.8, 8.7, 4.6) for x in (self.LEFT - 0.02, self.RIGHT - 0.10)]
        for x, z in spots:
            self.post(x, z, self.DECK + 1.02)
        # Lanterns on the left posts and the last right one, a string of bulbs along the right ones.
        for x, y, z in list(self.lamps())[::-1]:
            u, v = self.project(x, y, z)
            s = 0.085 * FOCUS / z
            self.polygon(
                [
                    (u - s * 0.8, v + s * 1.25),
                    (u + s * 0.8, v + s * 1.25),
                    (u + s * 0.8, v + s * 1.7),
                    (u - s * 0.8, v + s * 1.7),
                ],
                rgb(0.02, 0.018, 0.02),
            )
            self.polygon([(u - s, v - s), (u, v - s * 1.9), (u + s, v - s)], rgb(0.03, 0.024, 0.028))
            self.polygon(
                [
                    (u - s * 0.72, v - s),
                    (u + s * 0.72, v - s),
                    (u + s * 0.72, v + s * 1.3),
                    (u - s * 0.72, v + s * 1.3),
                ],
                lambda a, b: rgb(7.0, 3.3, 1.05)
                * (
                    0.30
                    + 1.5 * np.exp(-(((a - u) / (s * 0.5)) ** 2 + ((b - v - s * 0.2) / (s * 0.8)) ** 2))
                )[:, :, None],
            )
            for t in (-0.72, 0.0, 0.72):
                w = s * 0.055
                self.polygon(
                    [
                        (u + t * s - w, v - s),
                        (u + t * s + w, v - s),
                        (u + t * s + w, v + s * 1.3),
                        (u + t * s - w, v + s * 1.3),
                    ],
                    rgb(0.02, 0.016, 0.016),
                )
            self.light(u, v + s * 0.15, s * 0.30, rgb(13, 7.4, 2.9), 0.035)

        ends = [(self.RIGHT - 0.10, self.DECK + 1.0, z) for z in (16.7, 12.8, 8.7, 4.6)]
        ends.append((self.RIGHT + 0.25, self.DECK + 1.35, 2.0))
        hues = [rgb(11, 5.2, 1.6), rgb(11, 6.4, 2.6), rgb(10, 4.2, 1.2)]
        for number, (a, b) in enumerate(zip(ends, ends[1:])):
            points = []
            for i in range(41):
                t = i / 40
                sag = 0.30 * 4 * t * (1 - t)
                points.append(
                    (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t - sag, a[2] + (b[2] - a[2]) * t)
                )
            seen = [self.project(*p) for p in points]
            for (p, q), (s, t), m in zip(seen, seen[1:], points):
                w = max(0.004 * FOCUS / m[2], 0.00035)
                self.polygon([(p, q - w), (s, t - w), (s, t + w), (p, q + w)], rgb(0.012, 0.011, 0.014))
            for i in range(2, 40, 4):
                u, v = seen[i]
                size = 0.026 * FOCUS / points[i][2]
                self.light(u, v + size * 1.3, size, hues[(i + number) % 3] * 0.8, 0.05)

    def reeds(self):
        r = self.random
        for layer in range(3):
            for _ in range(330):
                x = abs(r.normal(0, 0.16)) + r.uniform(-0.04, 0.06)
                if x > 0.52:
                    continue
                tall = r.uniform(0.20, 0.52) * (1.06 - 1.35 * x) * (0.62 + 0.22 * layer)
                bend = r.normal(0.035, 0.075)
                width = r.uniform(0.0008, 0.0027) * (0.7 + 0.3 * layer)
                base = 1.03
                steps = 16
                left, right = [], []
                fold = r.random() < 0.16
                for i in range(steps + 1):
                    t = i / steps
                    cx = (
                        x
                        + bend * t * t
                        + (0.05 * max(0, t - 0.72) * (3 if fold else 0)) * math.copysign(1, bend)
                    )
                    cy = base - tall * (t - (0.45 * max(0, t - 0.72) ** 1.2 if fold else 0))
                    w = width * (1 - t**2.2)
                    left.append((cx - w, cy))
                    right.append((cx + w, cy))
                dark = mix(
                    rgb(0.006, 0.009, 0.008), rgb(0.030, 0.036, 0.018), r.random() * (0.4 + 0.3 * layer)
                )

                def blade(u, v, dark=dark, x=x, bend=bend, tall=tall, width=width):
                    t = np.clip((base - v) / tall, 0, 1)
                    edge = smooth(-0.1, 1.0, (u - x - bend * t * t) / width)
                    return (
                        dark * (0.55 + 0.8 * t)[:, :, None]
                        + rgb(0.34, 0.15, 0.065) * (edge * t**1.5)[:, :, None] * 0.55
                    )

                self.polygon(left + right[::-1], blade)
                if r.random() < 0.022 and layer > 0:  # a cattail
                    tip = (left[-1][0] + right[-1][0]) / 2
                    top = left[-1][1]
                    w, h = 0.0042, 0.034
                    foot = left[0][0] + width
                    stem = [
                        (foot + (tip - foot) * t**1.6, base - (base - top) * t)
                        for t in np.linspace(0, 1, 14)
                    ]
                    self.polygon(
                        [(a - 0.0013, b) for a, b in stem] + [(a + 0.0013, b) for a, b in stem[::-1]],
                        rgb(0.020, 0.022, 0.012),
                    )
                    shape = []
                    for i in range(25):
                        a = math.pi * 2 * i / 24
                        shape.append(
                            (
                                tip + w * math.copysign(abs(math.cos(a)) ** 0.7, math.cos(a)),
                                top + h * (0.5 + 0.5 * math.copysign(abs(math.sin(a)) ** 0.6, math.sin(a))),
                            )
                        )
                    self.polygon(
                        shape,
                        lambda u, v: rgb(0.016, 0.009, 0.006)
                        + rgb(0.16, 0.065, 0.028) * smooth(tip, tip + w, u + 0 * v)[:, :, None],
                    )
