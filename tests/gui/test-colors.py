#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Colours of a picture's profile on the screen, by every way that pixels get there.

test-colors.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from harness import Softbox, content, equal, main, picture, press, test, view, wait

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "corpus", "color")


def profile_of(path):
    """The chunk of a PNG that holds its profile."""
    data = content(path)
    at = 8
    while data[at + 4:at + 8] != b"iCCP":
        at += 12 + struct.unpack(">I", data[at:at + 4])[0]
    return data[at:at + 12 + struct.unpack(">I", data[at:at + 4])[0]]


def with_profile(path, chunk):
    data = content(path)
    with open(path, "wb") as f:
        f.write(data[:33] + chunk + data[33:])


def wait_near(program, expected, most, what):
    """The canvas shows this, each value within `most`."""
    far = [None]

    def same():
        program.alive()
        found = program.shown()
        far[0] = max(abs(a - b) for a, b in zip(found, expected))
        return len(found) == len(expected) and far[0] <= most
    try:
        wait(what, same, 20)
    except AssertionError:
        raise AssertionError("%s: off by %s" % (what, far[0])) from None


def mapped(shown, map_pixel):
    found = bytearray(shown)
    for i in range(0, len(found), 3):
        found[i:i + 3] = map_pixel(found[i:i + 3])
    return bytes(found)


@test
def a_profile_that_swaps_channels():
    """What stands as red in the file is green: nothing that ignores the profile looks like that."""
    source = picture(1400, 1000)
    path = source.save("in.png")
    with_profile(path, profile_of(os.path.join(CORPUS, "png_iccp_swapped_rgba.png")))
    for name, env in {"GL": {}, "copy": {"SOFTBOX_SHOW": "copy"}, "host": {"SOFTBOX_SHOW": "host"},
                      "no GL": {"GDK_DEBUG": "gl-disable"}}.items():
        with Softbox(path, env=env) as program:
            _, _, width, height = program.rectangle(program.canvas)
            program.zoom(1.0)
            expected = mapped(view(source, 0, 0, width, height), lambda p: bytes((p[2], p[0], p[1])))
            wait_near(program, expected, 1, "the colours of the profile, " + name)
            # The original beside the result, too.
            program.change("compare", True)
            wait_near(program, expected, 1, "the original, " + name)


@test
def wide_colors_are_not_dull():
    """sRGB's red, written in Display P3 as ea3323, is red again on the screen; the edge of what sRGB
    holds runs through its cell of the table, hence the tolerance."""
    source = picture(1400, 1000)
    for y in range(1000):
        source.rows[y] = bytes((0xea, 0x33, 0x23)) * 1400
    path = source.save("in.png")
    with_profile(path, profile_of(os.path.join(CORPUS, "png_iccp_p3.png")))
    with Softbox(path) as program:
        _, _, width, height = program.rectangle(program.canvas)
        program.zoom(1.0)
        program.wait_idle()
        wait_near(program, bytes((255, 0, 0)) * (width * height), 8, "red")
        equal(program.state("edits")[1], "", "edits")


sys.exit(main())
