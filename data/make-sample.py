#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the sample photo, a lake at dusk, from nothing but arithmetic: data/sample.jpg.

    data/make-sample.py [--scale S] [-o FILE]

Needs numpy and Pillow (python3-numpy, python3-pil). The same numbers come out every time. The
picture is composed in linear light at twice the size, so that its lamps are as much brighter than
its shadows as real ones, and is reduced, toned and given its grain at the end.

What a blur should be tried on is all in it: a sky of smooth gradients, roofs and boards with hard
edges, reeds and wood with fine texture, small lights that keep their strength only if the blur
works in linear light.
"""

import argparse
import sys

sys.dont_write_bytecode = True

from sample_photo.near import Scene
from sample_photo.printing import develop


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
    develop(scene).save(arguments.output, quality=95, subsampling=0, optimize=True)


if __name__ == "__main__":
    main()
