#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the sample photo, a lake at dusk, from nothing but arithmetic: data/sample.jpg.

    data/make-sample.py [--scale S] [-o FILE]

Needs numpy and Pillow (python3-numpy, python3-pil). The same numbers come out every time. The
picture is composed in linear light at twice the size, so that its lamps are as much brighter than
its shadows as real ones, and is reduced, toned and given its grain at the end.

What a blur should be tried on is all in it: a sky of smooth gradients, roofs and boards with hard
edges, reeds and wood with fine texture, small lights that keep their strength only if the blur
works in linear light. Lengths are in picture heights unless they are in metres; v grows downwards,
and the eye is EYE metres above the water.
"""

import argparse
import math

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 2448, 1632
HORIZON = 0.565  # where the water ends
CENTRE = 0.80  # the vanishing point
FOCUS = 1.15
EYE = 1.9
SUN = 0.86

f32 = np.float32


def rgb(*values):
    return np.array(values, f32)


def smooth(a, b, x):
    t = np.clip((x - a) / (b - a), 0, 1)
    return t * t * (3 - 2 * t)


def mix(a, b, t):
    return a + (b - a) * t


class Noise:
    """Value noise on a torus of random numbers, about -1 .. 1."""

    SIZE = 256

    def __init__(self, seed):
        self.table = np.random.default_rng(seed).uniform(-1, 1, (self.SIZE, self.SIZE)).astype(f32)

    def __call__(self, x, y):
        x, y = np.broadcast_arrays(np.asarray(x, f32), np.asarray(y, f32))
        xi, yi = np.floor(x), np.floor(y)
        fx, fy = x - xi, y - yi
        fx = fx * fx * fx * (fx * (fx * 6 - 15) + 10)
        fy = fy * fy * fy * (fy * (fy * 6 - 15) + 10)
        xi = xi.astype(np.int32) % self.SIZE
        yi = yi.astype(np.int32) % self.SIZE
        xj, yj = (xi + 1) % self.SIZE, (yi + 1) % self.SIZE
        t = self.table
        return mix(mix(t[yi, xi], t[yi, xj], fx), mix(t[yj, xi], t[yj, xj], fx), fy)

    def fbm(self, x, y, octaves, gain=0.5):
        total, amplitude, scale = 0, 1.0, 1.0
        for i in range(octaves):
            total = total + amplitude * self(x * scale + 17.3 * i, y * scale + 9.1 * i)
            amplitude *= gain
            scale *= 2.03
        return total * (1 - gain)

    def ridged(self, x, y, octaves):
        total, amplitude, scale, weight = 0, 0.5, 1.0, 1.0
        for i in range(octaves):
            r = 1 - np.abs(self(x * scale + 31.7 * i, y * scale + 5.9 * i))
            r = r * r * weight
            total = total + amplitude * r
            weight = np.clip(r * 1.6, 0, 1)
            amplitude *= 0.5
            scale *= 2.1
        return total


class Scene:
    def __init__(self, scale):
        self.h = round(HEIGHT * scale) * 2
        self.w = round(WIDTH * scale) * 2
        self.v = ((np.arange(self.h, dtype=f32) + 0.5) / self.h)[:, None]
        self.u = ((np.arange(self.w, dtype=f32) + 0.5) / self.h)[None, :]
        self.image = np.zeros((self.h, self.w, 3), f32)
        self.random = np.random.default_rng(2025)

    # --- Drawing ---------------------------------------------------------------------------------

    def mask(self, draw, box=None):
        """What draw(ImageDraw, to_pixels) draws in white, as 0 .. 1, and where it lies."""
        mask = Image.new("L", (self.w, self.h))
        draw(ImageDraw.Draw(mask), lambda points: [(x * self.h, y * self.h) for x, y in points])
        return np.asarray(mask, f32)[:, :, None] / 255

    def paint(self, mask, colour):
        self.image += (colour - self.image) * mask

    def polygon(self, points, colour):
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        x0, x1 = max(0, int(min(xs) * self.h)), min(self.w, int(max(xs) * self.h) + 2)
        y0, y1 = max(0, int(min(ys) * self.h)), min(self.h, int(max(ys) * self.h) + 2)
        if x0 >= x1 or y0 >= y1:
            return
        mask = Image.new("L", (x1 - x0, y1 - y0))
        ImageDraw.Draw(mask).polygon([(x * self.h - x0, y * self.h - y0) for x, y in points], fill=255)
        part = self.image[y0:y1, x0:x1]
        if callable(colour):
            colour = colour(self.u[:, x0:x1], self.v[y0:y1])
        part += (colour - part) * (np.asarray(mask, f32)[:, :, None] / 255)

    def light(self, x, y, radius, colour, halo):
        """A lamp with a hard disc and the haze around it."""
        reach = radius * 40
        x0, x1 = max(0, int((x - reach) * self.h)), min(self.w, int((x + reach) * self.h))
        y0, y1 = max(0, int((y - reach) * self.h)), min(self.h, int((y + reach) * self.h))
        if x0 >= x1 or y0 >= y1:
            return
        d = np.hypot(self.u[:, x0:x1] - x, self.v[y0:y1] - y)
        disc = np.clip((radius - d) * self.h + 0.5, 0, 1)
        glow = halo / (1 + (d / radius) ** 2) * np.clip(1 - d / reach, 0, 1) ** 2
        part = self.image[y0:y1, x0:x1]
        part *= 1 - disc[:, :, None]
        part += (disc + glow)[:, :, None] * colour

    # --- The far half ----------------------------------------------------------------------------

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

    # --- The near half ---------------------------------------------------------------------------

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
        _, v1 = self.project(x, -0.75 if x < self.RIGHT else self.DECK - 0.02, z)
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

    # --- The print -------------------------------------------------------------------------------

    def finish(self):
        image = self.image.reshape(self.h // 2, 2, self.w // 2, 2, 3).mean((1, 3))
        height, width = image.shape[:2]

        # A lens spreads a little of every bright light.
        bright = np.maximum(image - 1.6, 0)
        for reduce, share in ((4, 0.05), (16, 0.035)):
            small = Image.new("RGB", (1, 1))
            planes = []
            for c in range(3):
                plane = Image.fromarray(bright[:, :, c])
                small = plane.resize((max(1, width // reduce), max(1, height // reduce)), Image.BOX)
                for _ in range(3):
                    a = np.pad(np.asarray(small), 2, mode="edge")
                    a = sum(a[i : i + small.height, 2:-2] for i in range(5)) / 5
                    a = np.pad(a, 2, mode="edge")
                    a = sum(a[2:-2, i : i + small.width] for i in range(5)) / 5
                    small = Image.fromarray(a.astype(f32))
                planes.append(np.asarray(small.resize((width, height), Image.BICUBIC)))
            image = image + share * np.stack(planes, 2)

        v = (np.arange(height, dtype=f32)[:, None] + 0.5) / height - 0.5
        u = ((np.arange(width, dtype=f32)[None, :] + 0.5) / width - 0.5) * (width / height)
        image = image * (1 - 0.34 * np.clip(u * u + v * v, 0, 1) ** 1.1)[:, :, None]

        image = np.maximum(image, 0) * 1.32
        image = image * (2.51 * image + 0.03) / (image * (2.43 * image + 0.59) + 0.14) * 1.02
        grain = np.random.default_rng(77).normal(0, 1, (height, width, 1)).astype(f32)
        encoded = np.where(
            image <= 0.0031308, image * 12.92, 1.055 * np.clip(image, 1e-6, None) ** (1 / 2.4) - 0.055
        )
        encoded = encoded + grain * 0.0075 * (1.1 - np.clip(encoded, 0, 1))
        return Image.fromarray((np.clip(encoded, 0, 1) * 255 + 0.5).astype(np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the picture's size (1)")
    parser.add_argument("-o", "--output", default="data/sample.jpg")
    arguments = parser.parse_args()

    scene = Scene(arguments.scale)
    scene.sky()
    scene.mountains()
    scene.banks()
    scene.cabin()
    scene.water()
    scene.jetty()
    scene.posts()
    scene.reeds()
    scene.finish().save(arguments.output, quality=95, subsampling=0, optimize=True)


if __name__ == "__main__":
    main()
