# SPDX-License-Identifier: MIT
"""What the parts of the scene share: noise, and a canvas in linear light at twice the size.

Lengths are in picture heights unless they are in metres; v grows downwards, and the eye is EYE
metres above the water.
"""

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


class Canvas:
    def __init__(self, scale):
        self.h = round(HEIGHT * scale) * 2
        self.w = round(WIDTH * scale) * 2
        self.v = ((np.arange(self.h, dtype=f32) + 0.5) / self.h)[:, None]
        self.u = ((np.arange(self.w, dtype=f32) + 0.5) / self.h)[None, :]
        self.image = np.zeros((self.h, self.w, 3), f32)
        self.random = np.random.default_rng(2025)

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
