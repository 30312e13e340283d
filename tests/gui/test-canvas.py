#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The canvas, pixel by pixel: sharp at 100 % and above, the checkerboard, every way that pixels get
to the screen, twice as dense screens, dark style, and the narrow window.

test-canvas.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import re
import struct
import sys

sys.dont_write_bytecode = True
from harness import (CHECKER, CHECKER_SIZE, GLib, GROUND, Picture, Softbox, difference, equal, main,
                     picture, press, screen, test, view, wait)

# Each way to the screen, by the environment that asks for it.
RUNGS = {
    "copy": {"SOFTBOX_SHOW": "copy"},
    "host": {"SOFTBOX_SHOW": "host"},
    "no GL": {"GDK_DEBUG": "gl-disable"},
    "GL ES": {"GDK_DEBUG": "gl-gles"},
    "cairo": {"GSK_RENDERER": "cairo"},
}


def corners(program, source, zoom):
    """Looks at the top left and the bottom right of a picture that is larger than the canvas."""
    _, _, width, height = program.rectangle(program.canvas)
    assert source.width * zoom > width and source.height * zoom > height
    program.zoom(float(zoom))
    program.wait_shown(view(source, 0, 0, width, height, zoom), "the top left corner")
    program.activate("pan", GLib.Variant("(dd)", (1e6, 1e6)))
    left, top = source.width * zoom - width, source.height * zoom - height
    program.wait_shown(view(source, left, top, width, height, zoom), "the bottom right corner")


@test
def pixels_are_the_pictures():
    source = picture(1203, 801)
    with Softbox(source.save("in.png")) as program:
        for zoom in (1, 4, 20):
            corners(program, source, zoom)


@test
def pixels_of_16_bits_are_rounded():
    source = picture(1000, 750, depth=16, seed=7)
    with Softbox(source.save("in.png")) as program:
        # round(v / 257)
        rows = [bytes((v * 255 + 32895) >> 16 for v in struct.unpack(">%dH" % (len(row) // 2), row))
                for row in source.rows]
        corners(program, Picture(1000, 750, 3, 8, rows), 1)


@test
def a_small_picture_is_in_the_middle():
    source = picture(301, 200)
    with Softbox(source.save("in.png")) as program:
        _, _, width, height = program.rectangle(program.canvas)
        equal(program.zoom_percent(), 100, "zoom")
        left, top = (width - 301) // 2, (height - 200) // 2
        program.wait_shown(view(source, -left, -top, width, height), "the picture amid its ground")


def checkered(source, width, height, style, size=CHECKER_SIZE):
    """What is under a picture at its top left corner, at 100 %, and through it."""
    found = bytearray(view(source, 0, 0, width, height, 1, GROUND[style]))
    squares = CHECKER[style]
    loose = {}  # where rounding is left to the program
    for y in range(min(height, source.height)):
        alpha = source.plane(3, y)
        for x in range(min(width, source.width)):
            a = alpha[x]
            if a == 255:
                continue
            under = squares[(x // size + y // size) % 2]
            at = 3 * (y * width + x)
            for c in range(3):
                value = (found[at + c] * a + under * (255 - a)) / 255
                found[at + c] = round(value)
                if a:
                    loose[at + c] = value
    return bytes(found), loose


def look_at_checkerboard(style):
    source = picture(1000, 760, channels=4, seed=5)
    with Softbox(source.save("in.png"), settings={"style": "'%s'" % style}) as program:
        _, _, width, height = program.rectangle(program.canvas)
        expected, loose = checkered(source, width, height, style)
        program.zoom(1.0)
        seen = bytearray(program.settled())
        for at, value in loose.items():
            assert abs(seen[at] - value) <= 1, (at // 3 % width, at // 3 // width, seen[at], value)
            seen[at] = expected[at]
        assert seen == expected, difference(bytes(seen), expected, width)


@test
def checkerboard_of_the_light_style():
    look_at_checkerboard("light")


@test
def checkerboard_of_the_dark_style():
    look_at_checkerboard("dark")


@test
def every_way_to_the_screen_shows_the_same():
    source = picture(1203, 801, channels=4, seed=6)
    path = source.save("in.png")

    def look(env, expected):
        views = []
        with Softbox(path, env=env) as program:
            program.set_edit("blur:radius=6")
            for action, parameter in (("fit", None), ("zoom", 1.0), ("zoom", 3.0)):
                program.activate(action, None if parameter is None else GLib.Variant("d", parameter))
                if expected is None:
                    views.append(program.settled())
                else:
                    program.wait_shown(expected[len(views)], "the same as with pixel buffers")
                    views.append(expected[len(views)])
            program.change("compare", True)
            if expected is None:
                views.append(program.settled())
            else:
                program.wait_shown(expected[-1], "the same original")
        return views

    expected = look({"SOFTBOX_SHOW": "pbo"}, None)
    equal(len(set(expected)), 4, "different views")
    for name, env in RUNGS.items():
        try:
            look(env, expected)
        except AssertionError as error:
            raise AssertionError("%s: %s" % (name, error)) from error


@test
def dense_screens_show_every_pixel():
    source = picture(1500, 1100, seed=8)
    for env in ({}, {"SOFTBOX_SHOW": "host"}):
        with Softbox(source.save("in.png"), env=dict(env, GDK_SCALE="2"),
                     settings={"window-size": "(700, 500)", "panel-shown": "false"}) as program:
            _, _, width, height = program.rectangle(program.canvas)
            assert width > 1300 and height > 800, (width, height)
            corners(program, source, 1)
            equal(program.zoom_percent(), 100, "zoom")


@test
def the_panel_does_not_stretch_the_picture():
    source = picture(2000, 1500, seed=9)
    with Softbox(source.save("in.png")) as program:
        program.zoom(1.0)
        narrow = program.rectangle(program.canvas)
        press("F8")
        wait("a wider canvas", lambda: program.rectangle(program.canvas)[2] > narrow[2])
        program.activate("pan", GLib.Variant("(dd)", (-1e6, -1e6)))
        _, _, width, height = program.rectangle(program.canvas)
        program.wait_shown(view(source, 0, 0, width, height), "the picture at its new place")


def inside(inner, outer):
    return (inner[0] >= outer[0] and inner[1] >= outer[1] and inner[0] + inner[2] <= outer[0] + outer[2]
            and inner[1] + inner[3] <= outer[1] + outer[3])


def apart(a, b):
    return (a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1])


def look_at_layout(width, height, narrow):
    settings = {"style": "'dark'", "window-size": "(%d, %d)" % (width, height)}
    with Softbox(picture(640, 480).save("in.png"), settings=settings) as program:
        # As it was saved, as far as the window's edge allows.
        inner = program.top.extents()
        assert width - 12 <= inner[2] <= width and height - 12 <= inner[3] <= height, inner
        program.resize(width, height)
        whole = program.rectangle(program.top)

        zoom = re.compile(r"^Zoom, \d+ %$")
        named = [("button", "Undo"), ("button", "Redo"), ("button", "Compare with the original"),
                 ("button", re.compile("Export$")), ("button", "Main menu"), ("button", "Panel"),
                 ("button", zoom)]
        places = {str(title): program.rectangle(program.widget(role, title)) for role, title in named}
        canvas = places["canvas"] = program.rectangle(program.canvas)
        assert canvas[2] >= 320 and canvas[3] >= 300, canvas
        for name, place in places.items():
            assert inside(place, whole), (name, place, whole)
        for name, place in places.items():
            for other, there in places.items():
                assert name == other or apart(place, there), (name, place, other, there)

        # The dark ground is there, and nothing of the start page.
        x, y, _, _ = canvas
        wait("the dark ground",
             lambda: screen((x, y, 8, 8)) == bytes([GROUND["dark"]]) * (3 * 64))

        # The panel: beside the canvas, or over it when asked for.
        equal(program.state("panel")[1], not narrow, "panel")
        if narrow:
            press("F8")
            wait("the panel", lambda: program.state("panel")[1])
        controls = {}
        for role, title in (("slider", "Radius"), ("spin button", "Radius"), ("slider", "Passes"),
                            ("spin button", "Passes"), ("switch", "Linear light"),
                            ("button", "Apply"), ("button", "Reset")):
            wait("%s in the window" % title,
                 lambda: inside(program.rectangle(program.widget(role, title)), whole))
            controls[role, title] = program.rectangle(program.widget(role, title))
        for name, place in controls.items():
            assert narrow or apart(place, canvas), (name, place, canvas)
            assert apart(place, places[str(zoom)]), (name, place)
            for other, there in controls.items():
                assert name == other or apart(place, there), (name, place, other, there)


@test
def layout_of_the_narrow_window():
    look_at_layout(360, 600, True)


@test
def layout_of_the_usual_window():
    look_at_layout(1280, 800, False)


sys.exit(main())
