# SPDX-License-Identifier: MIT
"""The print: lens, tone and grain."""

import numpy as np
from PIL import Image

from .canvas import f32


def develop(scene):
    """The picture of a finished scene, sRGB at 8 bits."""
    image = scene.image.reshape(scene.h // 2, 2, scene.w // 2, 2, 3).mean((1, 3))
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
