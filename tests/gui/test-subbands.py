#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The subbands beside the photo: what is on the screen is the transform of what is exported, as
PyWavelets makes it; a band is selected by hand, its gain changed and undone.

test-subbands.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import re
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
from harness import (CLI, cli, click, content, equal, GLib, GROUND, main, move, Node, park, Picture,
                     picture, press, read_png, screen, Softbox, test, view, wait, write, xdotool)

import numpy
import pywt

MOSAIC = re.compile(r"^Subbands of \d+ levels?, c[AHVD]\d+ selected$")
GAIN = 2  # of the viewer, at first
# Kept free of what is drawn over the bands: borders all around, a name in the corner.
BORDER, NAME = 2, (60, 30)


CHANNELS = ("lightness", "luma", "red", "green", "blue", "alpha")


def samples(of, channel="lightness"):
    """As the viewer transforms them."""
    kind = numpy.uint8 if of.depth == 8 else numpy.dtype(">u2")
    rgba = numpy.frombuffer(b"".join(of.rows), kind).reshape(of.height, of.width, -1).astype(int)
    if channel == "lightness":
        found = rgba[..., :3].max(2) + rgba[..., :3].min(2)
    elif channel == "luma":
        found = (rgba[..., :3] @ (54, 183, 19) + 128) >> 8
    elif channel == "alpha" and of.channels == 3:
        found = numpy.full((of.height, of.width), 2**of.depth - 1)
    else:
        found = rgba[..., CHANNELS.index(channel) - 2]
    return found.astype(numpy.float64)


def transform(x, levels):
    """{(orientation, level): orthonormal coefficients}"""
    warnings.simplefilter("ignore")  # that there are many levels
    found = pywt.wavedec2(x, "haar", mode="symmetric", level=levels)
    bands = {("A", levels): found[0]}
    for i, details in enumerate(found[1:]):
        for orientation, band in zip("HVD", details):
            bands[orientation, levels - i] = band
    return bands


def places(bands, levels):
    """Of the bands' corners on the pyramid: (x, y), and the size of it all."""
    height, width = bands["A", levels].shape
    found = {("A", levels): (0, 0)}
    for level in range(levels, 0, -1):
        rows, columns = bands["D", level].shape
        found["H", level], found["V", level] = (0, height), (width, 0)
        found["D", level] = (width, height)
        width, height = width + columns, height + rows
    return found, (width, height)


def shades(band, orientation, level, gain, scale):
    """The greys of a band: at zero 127.5, at the mean the picture's own. scale: of one sample."""
    if orientation == "A":
        return band / 2**level * scale
    return 127.5 * (1 + numpy.clip(band * scale * gain / 255, -1, 1))


def look(program, canvas, x, levels, scale=0.5, gain=GAIN):
    """Waits until the mosaic at 100 % is on screen, grey and to a level."""
    bands = transform(x, levels)
    where, size = places(bands, levels)
    problem = [None]

    def same():
        program.alive()
        left, top, width, height = program.rectangle(canvas)
        rgb = numpy.frombuffer(screen((left, top, width, height)), numpy.uint8)
        rgb = rgb.reshape(height, width, 3).astype(int)
        assert size[0] <= width and size[1] <= height, (size, width, height)
        # A small picture is in the middle.
        x0, y0 = (width - size[0]) // 2, (height - size[1]) // 2
        compared = 0
        for (orientation, level), band in bands.items():
            expected = shades(band, orientation, level, gain, scale)
            rows, columns = expected.shape
            column, row = where[orientation, level]
            seen = rgb[y0 + row:y0 + row + rows, x0 + column:x0 + column + columns]
            compare = numpy.ones(expected.shape, bool)
            compare[:NAME[1], :NAME[0]] = False
            compare[:BORDER], compare[-BORDER:] = False, False
            compare[:, :BORDER], compare[:, -BORDER:] = False, False
            # The buttons of the view stand over its corner.
            ys, xs = numpy.mgrid[0:rows, 0:columns]
            compare &= (xs + x0 + column < width - 80) | (ys + y0 + row > 44)
            wrong = compare & (numpy.abs(seen - expected[..., None]).max(2) > 1)
            compared += int(compare.sum())
            if wrong.any():
                j, i = numpy.argwhere(wrong)[0]
                problem[0] = "c%s%d: %d wrong, first (%d, %d): %r, expected %.2f" % (
                    orientation, level, wrong.sum(), i, j, seen[j, i].tolist(), expected[j, i])
                return False
        assert compared > size[0] * size[1] // 2, compared
        return True
    try:
        wait("the mosaic of %d levels" % levels, same, 30)
    except AssertionError:
        raise AssertionError("the mosaic is another: %s" % problem[0]) from None
    return where, size


def number(value):
    """As people read it."""
    return ("%.5g" % value).replace("-", "−")


def on_screen(program, canvas, where, size, x, y):
    """A point of a mosaic at 100 % on the screen."""
    left, top, width, height = program.rectangle(canvas)
    return (left + (width - size[0]) // 2 + where[0] + x, top + (height - size[1]) // 2 + where[1] + y)


def show(program):
    equal(program.state("subbands")[1], False, "subbands")
    press("F9")
    wait("the subbands", lambda: program.state("subbands")[1])
    program.wait_idle()
    return program.widget("image", MOSAIC)


def reach(program, node):
    """Scrolls the panel to a widget."""
    below = program.rectangle(program.widget("button", "Apply"))

    def there():
        x, y, width, height = program.rectangle(node)
        if y + height > below[1] - 12:
            xdotool("mousemove", below[0] + 20, below[1] - 60, "click", 5)
        elif y < program.corner[1] + 100:
            xdotool("mousemove", below[0] + 20, below[1] - 60, "click", 4)
        else:
            return True
        return False
    wait("the panel to scroll", there)


def choose_item(program, button, position):
    """Opens the list of a button, or of the row that it is in. A key that comes before the list has
    the focus is lost."""
    def focused():
        return program.top.find("list item", re.compile(""), focused=True)
    before = focused()
    click(program.middle(button))

    def opened():
        now = focused()
        return now and (before is None or now.path != before.path)
    wait("the list", opened)
    park()
    press("Home", *["Down"] * position, "Return")


def selected(canvas, name, levels=None):
    text = "of %s levels?, %s selected$" % (levels or r"\d+", name)
    wait("%s to be selected" % name, lambda: re.search(text, canvas.title()))


@test
def the_mosaic_is_the_transform():
    source = picture(401, 301, seed=31)
    with Softbox(source.save("in.png")) as program:
        whole = program.rectangle(program.canvas)
        canvas = show(program)
        # Equal halves, with a divider between.
        photo, mosaic = program.rectangle(program.canvas), program.rectangle(canvas)
        assert abs(photo[2] - mosaic[2]) <= 2 and photo[2] + mosaic[2] + 3 >= whole[2], (photo, mosaic)
        look(program, canvas, samples(source), 5)
        program.wait_shown(view(source, -((photo[2] - 401) // 2), -((photo[3] - 301) // 2), photo[2],
                                photo[3]), "the photo beside it")

        # By the slider's keys, to both ends and between.
        slider = program.widget("slider", "Level")
        program.slider_point(slider, 0)
        click(program.slider_point(slider, 0.5))
        wait("the slider to have the focus", slider.focused)
        park()
        press("Home")
        wait("one level", lambda: canvas.title().startswith("Subbands of 1 level,"))
        look(program, canvas, samples(source), 1)
        press("Right", "Right")
        selected(canvas, r"c\w\d", 3)
        look(program, canvas, samples(source), 3)
        press("End")
        selected(canvas, r"c\w\d", 9)  # 401 needs nine halvings
        press("Home", "Right", "Right", "Right")
        selected(canvas, r"c\w\d", 4)
        look(program, canvas, samples(source), 4)
        equal(program.edits(), "", "edits")

        # It follows the blur, and the edit's levels follow nothing of it.
        program.set_edit("blur:radius=2.5,passes=2")
        cli("in.png", "blur:radius=2.5,passes=2", "blurred.png")
        look(program, canvas, samples(read_png("blurred.png")), 4)

        # Off: the photo has all the room again.
        press("F9")
        wait("the whole canvas", lambda: program.rectangle(program.canvas) == whole)
        equal(program.state("subbands")[1], False, "subbands")


@test
def every_channel():
    for channels, depth in ((4, 8), (3, 16)):
        source = picture(203, 150, channels, depth, seed=42 + depth)
        gain = 16  # one sample that is 1 of 255 off is seen
        with Softbox(source.save("in.png"), settings={"subbands-gain": "%.1f" % gain}) as program:
            canvas = show(program)
            shown = "lightness"
            for channel in CHANNELS[1:] + CHANNELS[:1]:
                label = program.widget("label", shown.capitalize())
                reach(program, label)
                choose_item(program, label, CHANNELS.index(channel))
                program.widget("label", channel.capitalize())
                shown = channel
                scale = (0.5 if channel == "lightness" else 1) / (257 if depth == 16 else 1)
                look(program, canvas, samples(source, channel), 5, scale, gain)


@test
def a_band_is_selected_and_changed():
    source = picture(390, 297, seed=32)
    with Softbox(source.save("in.png")) as program:
        canvas = show(program)
        where, size = look(program, canvas, samples(source), 5)
        click(on_screen(program, canvas, where["H", 1], size, 100, 80))
        selected(canvas, "cH1")

        # What the pointer points at, in words.
        point = on_screen(program, canvas, where["D", 1], size, 40, 50)
        move(point)
        value = transform(samples(source), 5)["D", 1][50, 40]
        text = "cD1  level 1  (40, 50)  %s, orthonormal %s  area 2 × 2 at 80, 100" % (number(value / 2), number(value))
        program.widget("label", text)
        # And on the photo: a white line with a dark one around it, wide enough to be seen.
        left, top, width, height = program.rectangle(program.canvas)
        x, y = left + (width - 390) // 2 + 80, top + (height - 297) // 2 + 100
        wait("the outline", lambda: screen((x - 4, y - 4, 10, 1)) == b"\xff" * 30
             and screen((x + 5, y - 4, 1, 10)) == b"\xff" * 30)
        # The other way round: the coefficient of a pixel, in the selected band.
        move((x + 1, y + 1))
        i, j = on_screen(program, canvas, where["H", 1], size, 40, 50)
        wait("the outline of the coefficient", lambda: screen((i - 4, j - 4, 9, 1)) == b"\xff" * 27)
        value = transform(samples(source), 5)["H", 1][50, 40]
        text = "cH1  level 1  (40, 50)  %s, orthonormal %s  area 2 × 2 at 80, 100" % (number(value / 2), number(value))
        program.widget("label", re.compile(r"^x 81  y 101  #[0-9a-f]{6}   %s$" % re.escape(text)))
        park()

        # Bare arrows go on from there, and back.
        press("Right")
        selected(canvas, "cD1")
        press("Up")
        selected(canvas, "cV1")
        press("Left")
        selected(canvas, "cV2")
        click(on_screen(program, canvas, where["H", 1], size, 100, 80))
        selected(canvas, "cH1")
        park()

        gain = program.widget("slider", "Gain of cH1")
        reach(program, gain)
        click(program.slider_point(gain, 0.25))  # where it is
        wait("the slider to have the focus", gain.focused)
        press("Home")
        program.wait_edits("bands:gainH1=0")
        cli("in.png", "bands:gainH1=0", "expected.png")
        look(program, canvas, samples(read_png("expected.png")), 5)
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        assert content("out.png") == content("expected.png")
        assert content("out.png") != cli("in.png", "", "copy.png")

        equal(program.state("undo")[0], True, "undo")
        program.activate("undo")
        program.wait_edits("")
        look(program, canvas, samples(source), 5)
        program.activate("redo")
        program.wait_edits("bands:gainH1=0")
        program.activate("undo")
        program.wait_edits("")

        # The switch takes one band away, and the one in the group's head the whole edit.
        keep = program.widget("switch", "Keep this band")
        keep.act()
        program.wait_edits("bands:gainH1=0")
        head = program.widget("switch", "Wavelet")
        head.act()
        program.wait_edits("")
        head.act()
        program.wait_edits("bands:gainH1=0")

        # Over D-Bus, and the panel follows: fewer levels, too.
        program.set_edit("bands:levels=2,gainV1=2")
        program.wait_edits("bands:levels=2,gainV1=2")
        selected(canvas, "cH1", 2)
        cli("in.png", "bands:levels=2,gainV1=2", "second.png")
        look(program, canvas, samples(read_png("second.png")), 2)
        program.activate("step", GLib.Variant("(sd)", ("bands.threshold", 3.0)))
        program.wait_edits("bands:levels=2,threshold=3,gainV1=2")
        cli("in.png", "bands:levels=2,threshold=3,gainV1=2", "third.png")
        look(program, canvas, samples(read_png("third.png")), 2)


@test
def the_canvases_go_together():
    source = picture(1600, 1200, seed=33)
    with Softbox(source.save("in.png")) as program:
        canvas = show(program)
        photo, mosaic = program.rectangle(program.canvas), program.rectangle(canvas)
        click((mosaic[0] + mosaic[2] - 20, mosaic[1] + mosaic[3] // 2 + 40))
        selected(canvas, "cD1")
        park()
        program.settled()

        # At 100 % the middle of the photo is in the middle, and of the band what stands for it.
        program.change("subbands-link", True)
        equal(program.state("subbands-link")[1], True, "linked")
        click((photo[0] + 5, photo[1] + 5))  # the photo's canvas has the focus
        park()
        program.activate("zoom", GLib.Variant("d", 1.0))
        program.wait_zoom(100)
        program.wait_shown(view(source, 800 - photo[2] // 2, 600 - photo[3] // 2, photo[2], photo[3]),
                           "the middle of the photo")
        expected = shades(transform(samples(source), 5)["D", 1], "D", 1, GAIN, 0.5)
        # cD1 begins at (800, 600) of the mosaic, whose edges stay outside.
        left = min(1200 - mosaic[2] // 2, 1600 - mosaic[2]) - 800
        top = min(900 - mosaic[3] // 2, 1200 - mosaic[3]) - 600

        def centred():
            x, y = 60, mosaic[3] - 300
            rgb = numpy.frombuffer(screen((mosaic[0] + x, mosaic[1] + y, 200, 200)), numpy.uint8)
            rgb = rgb.reshape(200, 200, 3).astype(int)
            found = expected[top + y:top + y + 200, left + x:left + x + 200]
            return numpy.abs(rgb - found[..., None]).max() <= 1
        wait("the band that stands for it", centred, 30)

        # By half a view of the photo, and one has gone twice as many coefficients' pixels.
        lower = (mosaic[0], mosaic[1] + 60, mosaic[2], mosaic[3] - 60)  # below the view's buttons
        seen = screen(lower)
        program.change("subbands-link", False)
        wait("the link to go", lambda: program.state("subbands-link")[1] is False)
        program.activate("pan", GLib.Variant("(dd)", (0.25, 0.0)))
        program.settled()
        equal(screen(lower) == seen, True, "the unlinked mosaic stays")
        # A pointer that rests points at what comes under it.
        def pointed():
            label = program.top.find("label", re.compile(r"^x \d+  y \d+  #"))
            return label and int(label.title().split()[1])
        move((photo[0] + photo[2] // 3, photo[1] + photo[3] // 2))
        x = wait("the pointer's place", pointed)
        program.activate("pan", GLib.Variant("(dd)", (-0.25, 0.0)))
        wait("another place under the pointer", lambda: abs(pointed() - (x - photo[2] / 4)) <= 1)
        program.activate("pan", GLib.Variant("(dd)", (0.25, 0.0)))
        wait("the first place again", lambda: abs(pointed() - x) <= 1)
        park()
        program.change("subbands-link", True)
        wait("the mosaic to follow", lambda: screen(lower) != seen)


@test
def threads():
    """So thin that the mosaic is a few pixels wide and the bands beside each other share one."""
    for width, height in ((3, 4000), (4000, 3)):
        with Softbox(picture(width, height, seed=40).save("in.png")) as program:
            canvas = show(program)
            program.settled()
            left, top, wide, high = program.rectangle(canvas)
            rgb = numpy.frombuffer(screen((left, top, wide, high)), numpy.uint8).reshape(high, wide, 3)
            seen = (rgb != GROUND["light"]).any(2)
            # From end to end, though the finest bands are those that are seen.
            middle = (high // 2 - 4, high // 2 + 4) if width > height else (wide // 2 - 4, wide // 2 + 4)
            thread = seen[middle[0]:middle[1]].T if width > height else seen[:, middle[0]:middle[1]]
            gaps = ~thread.any(1)  # a shade may be that of the ground
            equal((gaps[1:] & gaps[:-1]).any(), False, "gaps of two pixels")
            at = middle[0] + int(numpy.nonzero(thread[-9])[0][-1])
            point = (left + wide - 9, top + at) if width > height else (left + at, top + high - 9)
            click(point)
            selected(canvas, "cD1")
            text = program.widget("label", re.compile(r"^cD1  level 1  \(")).title()
            numbers = [int(n) for n in re.match(
                r"cD1  level 1  \((\d+), (\d+)\) .*  area (\d) × (\d) at (\d+), (\d+)$", text).groups()]
            along = 0 if width > height else 1
            assert 1900 < numbers[along] < 2000, text
            equal(numbers[4:], [2 * numbers[0], 2 * numbers[1]], "begin of the area in " + text)
            sizes = [2, 2]
            sizes[1 - along] = 1 if numbers[1 - along] else 2
            equal(numbers[2:4], sizes, "size of the area in " + text)
            park()


@test
def every_coefficient_of_small_pictures():
    for width, height in ((1, 1), (1, 21), (13, 3)):
        source = picture(width, height, seed=41)
        with Softbox(source.save("in.png")) as program:
            canvas = show(program)
            left, top, wide, high = program.rectangle(canvas)
            program.activate("zoom", GLib.Variant("d", 8.0))
            program.wait_zoom(800)
            levels = int(re.search(r"of (\d+)", canvas.title()).group(1))
            bands = transform(samples(source), levels)
            where, size = places(bands, levels)
            x0, y0 = (wide - 8 * size[0]) // 2, (high - 8 * size[1]) // 2
            assert x0 >= 0 and y0 >= 0, (wide, high, size)

            def wrong():
                program.alive()
                rgb = numpy.frombuffer(screen((left, top, wide, high)), numpy.uint8).reshape(high, wide, 3)
                for (orientation, level), band in bands.items():
                    x, y = where[orientation, level]
                    expected = shades(band, orientation, level, GAIN, 0.5)
                    rows, columns = band.shape
                    found = rgb[y0 + 8 * y + 4:, x0 + 8 * x + 4:][:8 * rows:8, :8 * columns:8].astype(int)
                    if numpy.abs(found - expected[..., None]).max() > 1:
                        return "c%s%d: %r, expected %r" % (orientation, level, found[..., 0].tolist(),
                                                           expected.tolist())
                return None
            try:
                wait("all of them", lambda: not wrong(), 30)
            except AssertionError:
                equal(wrong(), None, "%d x %d" % (width, height))
            for orientation, level in {("A", levels), ("D", levels), ("V", 1), ("D", 1)}:
                x, y = where[orientation, level]
                point = (left + x0 + 8 * x + 4, top + y0 + 8 * y + 4)
                click(point)
                selected(canvas, "c%s%d" % (orientation, level))
                area = (min(2**level, width), min(2**level, height))
                program.widget("label", re.compile(r"^c%s%d  level %d  \(0, 0\) .*  area %d × %d at 0, 0$" % (
                    orientation, level, level, *area)))
            park()


@test
def exports_are_those_of_the_command_line():
    source = picture(203, 151, seed=36)
    with Softbox(source.save("in.png")) as program:
        canvas = show(program)
        program.set_edit("blur:radius=2")
        where, size = look(program, canvas, samples(read_blurred()), 5)
        click(on_screen(program, canvas, where["V", 1], size, 80, 50))
        selected(canvas, "cV1")
        park()

        def export(what, path, file):
            program.activate("export-subbands-to", GLib.Variant("(ss)", (what, os.path.abspath(path))))
            program.wait_idle()
            equal(program.error(), "", "error")
            assert os.path.exists(file), file
        subprocess.run([CLI, "in.png", "-e", "blur:radius=2", "--subbands", "expected"], check=True)
        export("bands", "new/bands", "new/bands/in-cD1.npy")
        os.rename("new/bands", "bands")
        equal(sorted(os.listdir("bands")), sorted(os.listdir("expected")), "names")
        equal(len(os.listdir("bands")), 16, "bands")
        for name in os.listdir("bands"):
            assert content("bands/" + name) == content("expected/" + name), name
        export("band", "one.npy", "one.npy")
        assert content("one.npy") == content("expected/in-cV1.npy")
        subprocess.run([CLI, "in.png", "-e", "blur:radius=2", "--subbands", "grey", "--format", "png16"],
                       check=True)
        export("band", "one.png", "one.png")
        assert content("one.png") == content("grey/in-cV1.png")

        # The mosaic as displayed: the gain and the ground of the window.
        export("mosaic", "mosaic.png", "mosaic.png")
        mosaic = read_png("mosaic.png")
        equal((mosaic.width, mosaic.height), size, "size of the mosaic")
        rgb = numpy.frombuffer(b"".join(mosaic.rows), numpy.uint8).reshape(size[1], size[0], 3)
        for (orientation, level), band in transform(samples(read_blurred()), 5).items():
            column, row = where[orientation, level]
            found = rgb[row:row + band.shape[0], column:column + band.shape[1]].astype(int)
            expected = shades(band, orientation, level, GAIN, 0.5)
            assert numpy.abs(found - expected[..., None]).max() <= 1, (orientation, level)

        # Never over a file.
        program.activate("export-subbands-to", GLib.Variant("(ss)", ("bands", os.path.abspath("bands"))))
        wait("the refusal", lambda: "exists already" in program.error())


def read_blurred():
    if not os.path.exists("blurred.png"):
        cli("in.png", "blur:radius=2", "blurred.png")
    return read_png("blurred.png")


def titled(name):
    """The X windows of this title."""
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name],
                          stdout=subprocess.PIPE).stdout.decode().split()


def ask(program, action, title):
    """The dialog that an entry of the view's menu opens."""
    program.activate(action)
    program.wait_active(wait("a window “%s”" % title,
                             lambda: program.alive() and titled("^%s$" % title))[0])
    application = Node.application(program.process.pid)
    return wait("the dialog", lambda: next(
        (child for child in application.children() if child.title() == title), None))


def accept(dialog):
    wait("the button", lambda: dialog.find("button", re.compile("Export$"))).act()


def open_list(dialog, chosen):
    """A drop-down of a dialog, by what it has."""
    node = wait(chosen, lambda: dialog.find("label", chosen))
    while node.role() != "button":
        node = Node(*node.property("Parent"))
    node.act()


@test
def exports_by_the_dialogs():
    # Of this size the bands leave no gaps, which show the ground of the window.
    source = picture(256, 192, seed=38)
    source.save("in.png")
    blur = "blur:radius=1.5,linear=0"
    settings = {"subbands-gain": "1.0", "subbands-levels": "uint32 3", "subbands-channel": "'luma'"}
    with Softbox(os.path.abspath("in.png"), settings=settings) as program:
        canvas = show(program)
        program.set_edit(blur)
        program.wait_idle()
        selected(canvas, "cV2", 3)
        options = ["in.png", "-e", blur, "--levels", "3", "--channel", "luma"]
        subprocess.run([CLI, *options, "--subbands", "expected", "--mosaic", "expected.png"], check=True)
        subprocess.run([CLI, *options, "--subbands", "grey", "--format", "png16"], check=True)

        def arrived(path):
            wait(path, lambda: program.alive() and (os.path.exists(path) or program.error()))
            program.wait_active(program.xid)
            program.wait_idle()
            equal(program.error(), "", "error")
            return content(path)

        # Escape leaves nothing, and the next one comes.
        ask(program, "export-mosaic", "Export the mosaic")
        press("Escape")
        program.wait_active(program.xid)
        equal(os.path.exists("in-mosaic.png"), False, "a file after Escape")

        ask(program, "export-mosaic", "Export the mosaic")
        press("Return")
        assert arrived("in-mosaic.png") == content("expected.png")

        ask(program, "export-band", "Export the selected band")
        press("Return")
        assert arrived("in-cV2.npy") == content("expected/in-cV2.npy")

        # The format is chosen, and the name follows: nothing is replaced, and nothing asked.
        def as_png():
            dialog = ask(program, "export-band", "Export the selected band")
            open_list(dialog, "NumPy array")
            wait("the list", lambda: dialog.find("label", "16-bit gray PNG"))
            press("Down", "Return")
            wait("the list to go", lambda: not dialog.find("label", "NumPy array")
                 and dialog.find("label", "16-bit gray PNG"))
            accept(dialog)

        def replace(name):
            """The question about a file, whoever asks it."""
            def asked():
                program.alive()
                for window in Node.application(program.process.pid).children():
                    button = window.find("button", re.compile("Replace$"))
                    if button and window.find("label", re.compile(re.escape(name))):
                        return button
                return None
            wait("the question about " + name, asked).act()
        as_png()
        assert arrived("in-cV2.png") == content("grey/in-cV2.png")
        os.truncate("in-cV2.png", 0)
        as_png()
        replace("in-cV2.png")
        wait("the replaced file", lambda: os.path.getsize("in-cV2.png") > 0)
        assert arrived("in-cV2.png") == content("grey/in-cV2.png")

        # A name without a suffix is given one, and the file of that name is asked about.
        with open("plain.npy", "w"):
            pass
        ask(program, "export-band", "Export the selected band")
        press("ctrl+a")
        write("plain")
        press("Return")
        replace("plain.npy")
        wait("the replaced file", lambda: os.path.getsize("plain.npy") > 0)
        assert arrived("plain.npy") == content("expected/in-cV2.npy")
        assert content("in-cV2.npy") == content("expected/in-cV2.npy")
        os.remove("in-cV2.npy")

        # All of them, into the folder that the dialog is in: the picture's.
        accept(ask(program, "export-bands", "Export all bands"))
        names = sorted(os.listdir("expected"))
        equal(len(names), 10, "bands")
        for name in names:
            assert arrived(name) == content("expected/" + name), name

        # None is begun where one is there.
        os.remove("in-cA3.npy")
        accept(ask(program, "export-bands", "Export all bands"))
        wait("the refusal", lambda: "exists already" in program.error())
        equal(os.path.exists("in-cA3.npy"), False, "what is missing")


@test
def the_viewer_is_as_it_was():
    path = picture(300, 200, seed=39).save("in.png")

    def kept(program):
        """What is written down of the viewer."""
        with open(program.folder + "/glib-2.0/settings/keyfile") as f:
            return {k: v for k, v in (line.rstrip().split("=") for line in f if "=" in line)
                    if k.startswith("subbands-")}
    with Softbox(path) as program:
        whole = program.rectangle(program.canvas)
        canvas = show(program)
        mosaic = program.rectangle(canvas)
        equal(kept(program), {}, "what is written down without a change")
        # By hand: the divider, so that the photo has a quarter.
        at = (mosaic[0] - 1, mosaic[1] + mosaic[3] - 40)
        xdotool("mousemove", *at, "mousedown", 1)
        for k in (1, 2, 3, 4):
            move((at[0] - whole[2] // 16 * k, at[1]))
            wait("the photo to be less wide",
                 lambda: abs(program.rectangle(program.canvas)[2] - whole[2] * (8 - k) // 16) < 12)
        xdotool("mouseup", 1)
        park()
        wait("the divider to be written down", lambda: "subbands-divider" in kept(program))
        photo = program.rectangle(program.canvas)
        press("F9", "F9")
        wait("the same divider", lambda: program.rectangle(program.canvas) == photo)

        slider = program.widget("slider", "Level")
        reach(program, slider)
        click(program.slider_point(slider, 0.5))
        wait("the slider to have the focus", slider.focused)
        park()
        press("Home", "Right", "Right")
        selected(canvas, r"c\w\d", 3)
        for title in ("Grid", "Color"):
            program.widget("button", title).act()
        program.widget("switch", "Logarithmic").act()
        gain = program.widget("slider", "Gain")
        reach(program, gain)
        click(program.slider_point(gain, 0.5))
        wait("the slider to have the focus", gain.focused)
        press("End")
        program.change("subbands-link", False)
        program.activate("subbands-layout", GLib.Variant("s", "before"))
        expected = {"subbands-levels": "3", "subbands-layout": "'grid'", "subbands-display": "'color'",
                    "subbands-logarithmic": "true", "subbands-gain": "256.0", "subbands-linked": "false",
                    "subbands-place": "'before'"}

        def written():
            found = kept(program)
            return {k: found.get(k) for k in expected} == expected
        try:
            wait("all of it to be written down", written)
        except AssertionError:
            equal(kept(program), expected, "what is written down")
        settings = dict(kept(program), **{"subbands-channel": "'blue'"})

    with Softbox(path, settings=settings) as program:
        canvas = show(program)
        selected(canvas, r"c\w\d", 3)
        equal(program.state("subbands-layout")[1], "before", "place")
        equal(program.state("subbands-link")[1], False, "linked")

        def same():
            left, right = program.rectangle(canvas), program.rectangle(program.canvas)
            return left[0] < right[0] and abs(right[2] - photo[2]) <= 2
        wait("the same divider", same)
        program.widget("label", "Blue")
        equal(program.widget("slider", "Gain").value(), 1, "position of the gain")
        # Less wide, the canvases share it alike.
        program.resize(1000, 700)

        def shared():
            left, right = program.rectangle(canvas)[2], program.rectangle(program.canvas)[2]
            return abs(right / (left + right) - photo[2] / whole[2]) < 0.01
        wait("the same part of less room", shared)


PRESETS = ["Denoise", "Sharpen", "Edges only"] + ["Squares of %d px" % n for n in (2, 4, 8, 16, 32)]


@test
def presets_and_levels():
    # Noise all over, on a slope with an edge.
    noise = numpy.random.default_rng(37).normal(0, 5, (151, 203, 3))
    x = numpy.arange(203)[None, :, None]
    rgb = numpy.clip(60 + x / 3 + 60 * (x > 120) + noise, 0, 255).astype(numpy.uint8)
    source = Picture(203, 151, 3, 8, [row.tobytes() for row in rgb])
    with Softbox(source.save("in.png")) as program:
        show(program)

        def choose(preset):
            program.widget("button", "Presets").act()
            # Newer GTK tells screen readers of an entry only where it stands.
            def items():
                found = [n for n in program.top.walk() if n.role() == "menu item"]
                return len(found) == len(PRESETS) and found
            item = wait("the menu", items)[PRESETS.index(preset)]
            assert item.title() in ("", preset), item.title()
            item.act()
        n = [0]

        def check(text):
            program.wait_edits(text)
            n[0] += 1
            path = "%d.png" % n[0]
            program.export(os.path.abspath(path))
            program.wait_export(path)
            assert content(path) == cli("in.png", text, "expected-" + path), text
        choose("Squares of 4 px")
        check("bands:gain1=0,gain2=0")
        # Squares they are: all of one colour.
        rgb = numpy.frombuffer(b"".join(read_png("1.png").rows), numpy.uint8).reshape(151, 203, 3)
        assert (rgb[4:8, 8:12] == rgb[4, 8]).all()
        choose("Sharpen")
        check("bands:gain1=1.5,gain2=1.75,gain3=1.25")
        choose("Edges only")
        check("bands:gainA=0,gain1=4,gain2=4,gain3=4,gain4=0,gain5=0")
        program.activate("undo")
        program.wait_edits("bands:gain1=1.5,gain2=1.75,gain3=1.25")

        # The threshold that suits the noise of what the edit works on: not that of its result.
        def suggested():
            label = program.top.find("label", re.compile("^Suggested: "))
            return label and label.title()
        before = wait("a suggestion", suggested)
        choose("Denoise")
        wait("a threshold", lambda: re.fullmatch(r"bands:threshold=[\d.]+", program.edits()))
        threshold = float(program.edits().split("=")[1])
        d1 = transform(samples(source), 1)["D", 1]
        noise = numpy.median(numpy.abs(d1)) / 0.6745
        rest = d1.var() - noise**2
        most = noise * numpy.sqrt(2 * numpy.log(d1.size))
        expected = min(noise**2 / numpy.sqrt(rest), most) if rest > 0 else most
        assert abs(threshold - expected / 2) <= 1 / 16, (threshold, expected / 2)
        program.wait_idle()
        equal(wait("the suggestion", suggested), before, "suggestion while it is used")
        check(program.edits())


@test
def levels_kept_and_the_threshold_by_noise():
    noise = numpy.random.default_rng(38).normal(0, 4, (160, 210, 3))
    x = numpy.arange(210)[None, :, None]
    rgb = numpy.clip(90 + x / 4 + noise, 0, 255).astype(numpy.uint8)
    source = Picture(210, 160, 3, 8, [row.tobytes() for row in rgb])
    with Softbox(source.save("in.png")) as program:
        show(program)
        program.wait_idle()

        def choose(name, level):
            """In one of the two lists of levels."""
            node = wait(name, lambda: next((n for n in program.top.walk() if n.title() == name), None))
            reach(program, node)
            choose_item(program, node, level - 1)
        # Levels 2 to 4 of five; then the one that is moved past the other takes it along.
        choose("Finest level kept", 2)
        program.wait_edits("bands:gain1=0")
        choose("Coarsest level kept", 4)
        program.wait_edits("bands:gain1=0,gain5=0")
        choose("Coarsest level kept", 1)
        program.wait_edits("bands:gain2=0,gain3=0,gain4=0,gain5=0")

        def undone():  # of quick changes of one control a step or more
            program.activate("undo")
            return program.edits() == ""
        wait("the levels to be undone", undone)

        # What is suggested, by its button, and twice as many sigmas typed.
        d1 = transform(samples(source), 1)["D", 1]
        sigma = numpy.median(numpy.abs(d1)) / 0.6745 / 2
        program.widget("label", "Noise σ before: %.2f of 255" % sigma)
        program.widget("label", "Noise σ of the result %.2f of 255" % sigma)
        label = program.widget("label", re.compile("^Suggested: "))
        suggested = float(label.title().split()[1])
        use = program.widget("button", "Use the suggested threshold")
        reach(program, use)
        use.act()
        wait("a threshold", lambda: re.fullmatch(r"bands:threshold=[\d.]+", program.edits()))
        assert abs(float(program.edits().split("=")[1]) - suggested * sigma) <= 0.005 * sigma + 1e-4
        entry = program.widget("spin button", "Noise threshold")
        program.focus_entry(entry)
        write("%.2f" % 2)
        press("Return")
        wait("two sigmas", lambda: abs(float((program.edits() + "=0").split("=")[1]) - 2 * sigma) < 1e-3)
        program.wait_idle()
        path = os.path.abspath("out.png")
        program.export(path)
        program.wait_export(path)
        assert content(path) == cli("in.png", program.edits(), "expected.png")


@test
def the_other_places():
    source = picture(640, 480, seed=34)
    with Softbox(source.save("in.png")) as program:
        canvas = show(program)
        whole = program.rectangle(program.canvas)[2] + program.rectangle(canvas)[2]
        assert program.rectangle(canvas)[0] > program.rectangle(program.canvas)[0]

        def arrange(name):
            program.activate("subbands-layout", GLib.Variant("s", name))
            wait(name, lambda: program.alive() and program.state("subbands-layout")[1] == name)

        def both():
            """Where they are; a widget that has moved is another one on the bus."""
            found = [program.top.find("image", title) for title in (re.compile("^Photo, "), MOSAIC)]
            return [node and program.rectangle(node) for node in found]
        arrange("before")

        def left():
            photo, mosaic = both()
            return photo and mosaic and mosaic[0] < photo[0]
        wait("the subbands on the left", left)
        arrange("alone")

        def alone():
            photo, mosaic = both()
            return photo is None and mosaic and mosaic[2] >= whole
        wait("the subbands alone", alone)
        look(program, program.widget("image", MOSAIC), samples(source), 5)
        program.activate("zoom", GLib.Variant("d", 3.0))
        program.widget("button", "Zoom, 300 %")
        program.activate("fit")
        program.widget("button", "Zoom, 100 %")
        arrange("beside")

        def right():
            photo, mosaic = both()
            return photo and mosaic and mosaic[0] > photo[0]
        wait("the photo again", right)

        # What there is not is refused in words that name what there is.
        def refused(action, parameter, *words):
            program.activate(action, parameter)
            wait("the refusal of %s" % parameter, lambda: words[0] in program.error())
            for word in words:
                assert word in program.error(), (word, program.error())
        refused("subbands-layout", GLib.Variant("s", "above"), "“above”", "beside, before, alone")
        equal(program.state("subbands-layout")[1], "beside", "place")
        refused("export-subbands-to", GLib.Variant("(ss)", ("cV9", os.path.abspath("x.npy"))), "“cV9”",
                "mosaic, band, bands")
        refused("set-edit", GLib.Variant("s", "bands:levels=21"), "“levels=21”", "1 to 20")
        refused("set-edit", GLib.Variant("s", "bands:gainX1=0"), "“gainX1”", "gainH1…gainH20")
        refused("step", GLib.Variant("(sd)", ("bands.gainX", 1.0)), "“bands.gainX”")
        equal(program.edits(), "", "edits")
        equal(os.path.exists("x.npy"), False, "a file")


@test
def one_above_the_other_where_it_is_narrow():
    source = picture(300, 200, seed=35)
    settings = {"window-size": "(360, 640)", "style": "'dark'"}
    with Softbox(source.save("in.png"), settings=settings) as program:
        program.resize(360, 640)
        whole = program.rectangle(program.canvas)
        canvas = show(program)
        wait("one above the other",
             lambda: program.rectangle(canvas)[1] > program.rectangle(program.canvas)[1])
        photo, mosaic = program.rectangle(program.canvas), program.rectangle(canvas)
        equal((photo[2], mosaic[2]), (whole[2], whole[2]), "widths")
        assert photo[3] >= 96 and mosaic[3] >= 96 and photo[3] + mosaic[3] <= whole[3], (photo, mosaic)

        # What the pointer points at takes the whole line, in fewer letters.
        x, y = mosaic[0] + mosaic[2] // 2 + 41, mosaic[1] + mosaic[3] // 2 + 31
        move((x, y))
        label = program.widget("label", re.compile(r"^cD1 \("))
        column, row, average, product, i, j = re.fullmatch(
            r"cD1 \((\d+), (\d+)\)  (\S+) × 2 = (\S+)  2 × 2 at (\d+), (\d+)", label.title()).groups()
        value = transform(samples(source), 5)["D", 1][int(row), int(column)]
        equal((average, product), (number(value / 2), number(value)), "values")
        equal((int(i), int(j)), (2 * int(column), 2 * int(row)), "area")
        line = program.rectangle(label)
        assert line[2] >= 0.9 * whole[2], (line, whole)
        # Over the photo: the same of the selected band, and not the color.
        move((photo[0] + photo[2] // 2, photo[1] + photo[3] // 2))
        program.widget("label", re.compile(r"^cV2 \(\d+, \d+\)  \S+ × 4 = \S+  4 × 4 at \d+, \d+$"))
        park()
        wait("the zoom again", lambda: program.top.find("button", re.compile("^Zoom, ")))


sys.exit(main())
