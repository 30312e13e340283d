#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The window itself: where Tab goes and how that is seen, narrow windows, and closing while something
is under way.

test-window.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from harness import (GLib, Node, SOFTBOX, Softbox, cli, click, content, equal, main, move, park, picture,
                     press, screen, test, wait)

FAULTY = os.path.join(os.path.dirname(SOFTBOX), "..", "..", "tests", "faulty")


def focused(program):
    """What a screen reader says has the keyboard, or None."""
    try:
        return next((node for node in program.top.walk() if node.focused()), None)
    except GLib.Error:
        return None  # it is being built anew


def chain(program, key="Tab"):
    """The names of all that has the focus on one way round, each once where a row has several."""
    start = wait("a focus", lambda: focused(program)).path
    names = []
    for _ in range(80):
        node = wait("a focus", lambda: focused(program))
        title = re.sub(" *,? [0-9].*", "", node.title())
        if names[-1:] != [title]:
            names.append(title)
        before = node.path
        press(key)
        wait("the focus to move", lambda: program.alive() and (focused(program) or node).path != before)
        if focused(program).path == start:
            return names
    raise AssertionError("no end: %r" % names)


BLUR = ["Blur", "Radius", "Passes", "Linear light", "Edges", "Direction, animation"]
WAVELET = ["Presets", "Wavelet", "Level"]
BAND = ["Keep this band", "Gain of cV2", "Gain of level"]
EFFECT = ["Threshold", "Below the threshold", "Luma only", "Keep levels", "Finest level kept",
          "Coarsest level kept"]
END = ["Apply", "Reset", "Zoom", "CPU"]
HEADER = ["Open", "Recent pictures", "Undo", "Subbands", "Compare with the original", "Export", "Panel",
          "Main menu"]


@test
def tab_reaches_everything():
    with Softbox(picture(600, 400).save("in.png")) as program:
        program.set_edit("blur:radius=20")
        program.wait_idle()
        expected = ["Photo"] + BLUR + WAVELET + ["Band"] + BAND + EFFECT + END + HEADER
        equal(chain(program), expected, "forth")
        equal(chain(program, "shift+Tab"), expected[:1] + expected[:0:-1], "back")
        # What is folded away, and what the subbands bring.
        press("F9")
        wait("the subbands", lambda: program.alive() and program.state("subbands")[1])
        program.widget("image", re.compile("^Subbands of "))
        program.wait_idle()
        equal(chain(program),
              ["Photo", "Linked to the photo", "Subbands menu", "Subbands of"] + BLUR + WAVELET
              + ["Channel", "Layout", "Pyramid", "Grid", "Show", "Signed", "Magnitude", "Color", "Gain", "Logarithmic",
                 "Band", "Figures of the band"] + BAND + ["No noise"] + EFFECT + ["Effect of the edit"] + END + HEADER,
              "with the subbands")


@test
def focus_on_the_picture_is_seen():
    with Softbox(picture(600, 400).save("in.png")) as program:
        plain = program.settled()
        press("Tab")
        wait("the focus to go", lambda: focused(program).path != program.canvas.path)
        program.wait_shown(plain, "the picture alone")
        press("shift+Tab")
        wait("the focus to come", lambda: focused(program).path == program.canvas.path)
        ringed = program.settled()
        _, _, width, height = program.rectangle(program.canvas)

        def pixel(data, x, y):
            return data[3 * (y * width + x):3 * (y * width + x) + 3]
        accent = pixel(ringed, 0, height // 2)
        assert accent != pixel(plain, 0, height // 2), "no ring"
        for x, y in ((1, height // 3), (width - 1, height // 2), (width // 2, 0), (width // 2, height - 1)):
            equal(pixel(ringed, x, y), accent, "the ring at %d, %d" % (x, y))
        equal(pixel(ringed, 2, height // 2), pixel(plain, 2, height // 2), "inside the ring")
        # Keys leave it there, a click takes it away.
        press("bracketright", "ctrl+z")
        program.wait_edits("")
        equal(pixel(program.settled(), 0, height // 2), accent, "the ring after keys")
        click(program.middle(program.canvas))
        park()
        program.wait_shown(plain, "the picture alone")


@test
def fullscreen_takes_the_focus_from_what_goes():
    with Softbox(picture(600, 400).save("in.png")) as program:
        press("shift+Tab")
        wait("a button of the header", lambda: focused(program).title() == "Main menu")
        press("F11")
        wait("fullscreen", lambda: program.alive() and program.state("fullscreen")[1])
        wait("the picture to have the focus", lambda: (focused(program) or program.top).path == program.canvas.path)
        program.corner = program.place(program.top, program.xid)
        shown = program.settled()
        width = program.rectangle(program.canvas)[2]
        # No key has brought it there: no ring.
        equal(shown[:3 * width], bytes([0xEB]) * (3 * width), "the upper edge of the canvas")
        press("F11")
        wait("the end of fullscreen", lambda: program.state("fullscreen")[1] is False)


@test
def numbers_are_what_they_amount_to():
    with Softbox(picture(600, 400).save("in.png")) as program:
        slider = program.widget("slider", "Passes")
        equal(slider.property("Description"), "≈ Gaussian, sigma 14.5 px", "at first")
        program.set_edit("blur:radius=20")
        wait("the sigma", lambda: program.alive()
             and slider.property("Description") == "≈ Gaussian, sigma 20.5 px")
        program.widget("label", "≈ Gaussian, sigma 20.5 px")


@test
def a_narrow_window_comes_back_from_fullscreen():
    for width in (360, 577):
        with Softbox(picture(600, 400).save("in.png"), settings={"window-size": "(900, 640)"}) as program:
            program.resize(width, 620)
            for leave in ("F11", "Escape"):
                press("F11")
                wait("fullscreen", lambda: program.alive() and program.state("fullscreen")[1]
                     and program.top.extents()[2] > 681)
                press(leave)
                wait("the end of fullscreen", lambda: program.state("fullscreen")[1] is False)
                wait("the size from before", lambda: program.alive()
                     and program.top.extents()[2:] == (width, 620))
            # What it is again when the window has had its time.
            time.sleep(1)
            equal(program.top.extents()[2:], (width, 620), "size")
            equal(program.state("panel")[1], False, "panel")
            program.resize(900, 620)
            wait("the panel beside the picture", lambda: program.alive() and program.state("panel")[1])


@test
def toasts_are_told_to_the_end():
    env = {"SOFTBOX_MODULE_DIR": os.path.abspath(FAULTY), "SOFTBOX_FAULTY": "old"}
    heights = []
    for width in (1200, 360):
        with Softbox(picture(300, 200).save("in.png"), env=env,
                     settings={"told-device": "''", "window-size": "(%d, 640)" % width}) as program:
            x, _, wide, high = program.widget("label", re.compile("^Computing on the CPU: ")).extents()
            window = program.top.extents()[2]
            assert 0 <= x and x + wide <= window, (x, wide, window)
            heights.append(high)
    # Of two lines there, and of one more here: nothing is left out.
    assert heights[1] >= heights[0] + 12, heights


def letters(percent):
    """How large they are in programs that start from now on."""
    subprocess.run(["xprop", "-root", "-format", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER",
                    "Xft.dpi: %d\n" % round(0.96 * percent)], check=True)


@test
def large_letters_in_a_narrow_window():
    path = picture(300, 200).save("in.png")
    sizes = {}
    try:
        for percent in (100, 150):
            letters(percent)
            with Softbox(path, settings={"window-size": "(360, 640)"}) as program:
                equal(program.top.extents()[2], 360, "width at %d %%" % percent)
                press("F8")
                wait("the panel", lambda: program.alive() and program.state("panel")[1])
                program.widget("slider", "Threshold")
                for name in ("Soft", "Below the threshold", "Show"):
                    if name == "Show":
                        press("F9")  # brings it
                    x, _, wide, high = program.widget("label", name).extents()
                    assert 0 <= x and x + wide <= 360, (name, x, wide)
                    sizes.setdefault(name, []).append((wide, high))
    finally:
        letters(100)
    # What is chosen is there in whole, and a word of the title in one line.
    (small, _), (large, _) = sizes["Soft"]
    assert large >= 1.4 * small, sizes  # whole pixels, and hinted letters
    (_, small), (_, large) = sizes["Show"]
    assert large < 2.2 * small, sizes


def question(program):
    application = Node.application(program.process.pid)
    return application and application.find("label", "Export the changes?")


def answer(program, label):
    wait(label, lambda: program.alive() and Node.application(program.process.pid).find(
        "button", re.compile("%s$" % label))).act()


SLOW = " ".join(["blur:radius=700.5,passes=10"] * 5)


def slow_export():
    program = Softbox(picture(5000, 4000).save("in.png"))
    for edit in SLOW.split():
        program.set_edit(edit)
        program.activate("apply")
    program.export(os.path.abspath("out.png"))
    equal(program.state("busy")[1], True, "busy")
    return program


@test
def closing_waits_for_the_export():
    program = slow_export()
    press("ctrl+w")
    wait("a word about it", lambda: program.top.find("label", "Closes when the export is done"))
    program.wait_end()
    equal(content("out.png"), cli("in.png", SLOW, "expected.png"), "bytes")


@test
def closing_twice_during_an_export_asks():
    with slow_export() as program:
        press("ctrl+w", "ctrl+w")
        wait("the question", lambda: program.alive() and question(program))
        answer(program, "Cancel")
        wait("the question to go", lambda: program.alive() and not question(program))
        program.wait_export("out.png")
        equal(program.top.title(), "in.png", "title")  # and open
        os.unlink("out.png")

    program = slow_export()
    press("ctrl+w", "ctrl+w")
    wait("the question", lambda: program.alive() and question(program))
    answer(program, "Discard")
    program.wait_end()
    equal(sorted(name for name in os.listdir(".") if not name.startswith("config-")), ["in.png"], "files")


@test
def what_an_export_failed_for():
    path = picture(300, 200).save("in.png")
    with Softbox(path) as program:
        program.set_edit("blur:radius=3")
        for target, reason in ((path, "Could not write “in.png”: a file of that name is there already"),
                               (os.path.abspath("missing/out.png"), "Could not write “out.png”: there is no folder “%s”"
                                % os.path.abspath("missing"))):
            program.export(target)
            wait("an error", lambda: program.alive() and program.error() == reason)
            program.widget("label", reason)
            equal(program.top.title(), "in.png •", "title")
            program.set_edit("blur:radius=4")
            wait("another try", lambda: program.error() == "")
        equal(content("in.png"), content(picture(300, 200).save("same.png")), "the opened file")


@test
def undo_past_an_export_asks():
    with Softbox(picture(300, 200).save("in.png")) as program:
        def titled(title):
            wait("the title “%s”" % title, lambda: program.alive() and program.top.title() == title)
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        titled("in.png •")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        titled("in.png")
        press("ctrl+z")
        program.wait_edits("")
        titled("in.png •")  # the original is not what was exported
        press("ctrl+w")
        wait("the question", lambda: program.alive() and question(program))
        press("Escape")
        wait("the question to go", lambda: program.alive() and not question(program))
        program.wait_active(program.xid)
        press("ctrl+shift+z")
        program.wait_edits("blur:radius=3")
        titled("in.png")
        press("ctrl+w")
        program.wait_end()


sys.exit(main())
