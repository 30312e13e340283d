#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Editing by hand: sliders, numbers and keys change the edits, the canvas follows, and what is
exported is what the command line tool makes of the same edits.

test-edit.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import re
import sys
import time

sys.dont_write_bytecode = True
import harness
from harness import (GLib, Softbox, cli, click, content, equal, main, move, park, picture, press,
                     read_png, test, view, wait, write, xdotool)


def drag(program, slider, positions, first=None):
    """Takes the slider through positions, 0 to 1; the button stays down. The edits after each."""
    texts = [program.edits()]
    move(program.slider_point(slider, slider.value() if first is None else first))
    xdotool("mousedown", 1)
    for position in positions:
        move(program.slider_point(slider, position))
        wait("the edits to follow", lambda: program.alive() and program.edits() != texts[-1])
        texts.append(program.edits())
    return texts[1:]


def drag_and_back(source):
    original_path = source.save("in.png")
    with Softbox(original_path) as program:
        equal(program.edits(), "", "edits")
        equal(program.state("undo")[0], False, "undo")
        original = program.settled()
        slider = program.widget("slider", "Radius")

        texts = drag(program, slider, (0.3, 0.4, 0.35, 0.45, 0.5))
        for text in texts:
            assert re.fullmatch(r"blur:radius=\d+(\.\d+)?", text), text
        # Longer than what joins changes that are no drag.
        time.sleep(1.2)
        seen = []
        for position in (0.3, 0.2):
            move(program.slider_point(slider, position))
            wait("the canvas to follow while the button is down", lambda: program.alive()
                 and program.shown() not in [original] + seen)
            seen.append(program.shown())
        xdotool("mouseup", 1)
        park()
        blurred = program.settled()
        assert blurred != original
        text = program.edits()

        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(program.edits(), text, "edits")
        assert content("out.png") == cli("in.png", text, "expected.png"), text
        assert content("out.png") != cli("in.png", "", "copy.png")

        press("ctrl+z")
        program.wait_edits("")
        equal(program.state("undo")[0], False, "undo after one step back")
        program.wait_shown(original, "the original")
        press("ctrl+shift+z")
        program.wait_edits(text)
        equal(program.state("redo")[0], False, "redo")
        program.wait_shown(blurred, "the result")

        # Pixel by pixel what the file has, where the file has no more bits than the screen.
        if source.channels == 3 and source.depth == 8:
            program.zoom(1.0)
            _, _, width, height = program.rectangle(program.canvas)
            exported = read_png("out.png")
            assert exported.width > width and exported.height > height
            program.wait_shown(view(exported, 0, 0, width, height), "the exported picture")


@test
def drag_of_8_bits():
    drag_and_back(picture(1203, 801))


@test
def drag_of_transparency():
    drag_and_back(picture(641, 403, channels=4, seed=2))


@test
def drag_of_16_bits():
    drag_and_back(picture(701, 499, depth=16, seed=3))


@test
def export_in_the_middle_of_a_drag():
    picture(1203, 801, seed=4).save("in.png")
    with Softbox(os.path.abspath("in.png")) as program:
        slider = program.widget("slider", "Radius")
        text = drag(program, slider, (0.5, 0.6, 0.4))[-1]
        program.export(os.path.abspath("out.png"))
        # The hand goes on; what counts is what was there when it was asked for.
        move(program.slider_point(slider, 0.2))
        wait("the edits to follow", lambda: program.edits() != text)
        program.wait_export("out.png")
        assert content("out.png") == cli("in.png", text, "expected.png"), text

        # And once more with the hand still.
        text = program.edits()
        program.export(os.path.abspath("still.png"))
        program.wait_export("still.png")
        equal(program.edits(), text, "edits")
        assert content("still.png") == cli("in.png", text, "expected-still.png"), text
        xdotool("mouseup", 1)


@test
def typing_a_radius():
    with Softbox(picture(300, 200).save("in.png")) as program:
        entry = program.widget("spin button", "Radius")
        slider = program.widget("slider", "Radius")
        program.focus_entry(entry)
        write("12.5")
        press("Return")
        program.wait_edits("blur:radius=12.5")
        equal(entry.value(), 12.5, "value")

        # Then the slider has the focus, and minus is the radius'.
        wait("the slider to have the focus", slider.focused)
        press("minus")
        program.wait_edits("blur:radius=11.5")
        press("equal")
        program.wait_edits("blur:radius=12.5")
        press("plus")
        program.wait_edits("blur:radius=13.5")
        press("Left", "shift+Right")
        program.wait_edits("blur:radius=22.5")

        # A comma too, and nothing that is no number.
        program.focus_entry(entry)
        write("7,25")
        press("Return")
        program.wait_edits("blur:radius=7.25")
        program.focus_entry(entry)
        write("x")
        press("Return")
        program.focus_entry(entry)
        write("2001")
        press("Return")
        program.wait_edits("blur:radius=2000")


@test
def keys_are_inert_while_a_number_is_typed():
    with Softbox(picture(900, 700).save("in.png")) as program:
        entry = program.widget("spin button", "Radius")
        program.set_edit("blur:radius=5")
        program.activate("zoom", GLib.Variant("d", 2.0))
        program.wait_zoom(200)
        program.focus_entry(entry)
        write("a0=-c[]1")
        press("ctrl+a")
        write("8")
        press("Return")
        program.wait_edits("blur:radius=8")
        equal(program.zoom_percent(), 200, "zoom")
        equal(program.state("animate")[1], False, "animate")
        equal(program.state("compare")[1], False, "compare")
        # It was one step: none of these keys made another.
        press("ctrl+z")
        program.wait_edits("blur:radius=5")
        # The same keys where nothing is typed.
        click(program.middle(program.canvas))
        press("equal", "0")
        program.wait_edits("blur:radius=6")
        wait("the picture to fit", lambda: program.zoom_percent() < 200)


@test
def compare_shows_the_original_while_held():
    # A slow render, to tell it from a look.
    path = picture(4000, 3000, channels=4).save("in.png")
    with Softbox(path, env={"SOFTBOX_ISA": "base"}) as program:
        original = program.settled()
        before = program.cpu_seconds()
        program.set_edit("blur:radius=100,passes=10")
        program.wait_edits("blur:radius=100,passes=10")
        result = program.settled()
        rendered = program.cpu_seconds() - before
        assert result != original

        before = program.cpu_seconds()
        click(program.middle(program.canvas))
        park()
        xdotool("keydown", "c")
        program.wait_shown(original, "the original while c is held")
        equal(program.state("compare")[1], True, "compare")
        xdotool("keyup", "c")
        program.wait_shown(result, "the result after c")
        equal(program.state("compare")[1], False, "compare")
        spent = program.cpu_seconds() - before
        # Told, not asserted: a busy machine may turn it round.
        print("# %.2f s of the processor for a look, %.2f s for a render" % (spent, rendered))

        move(program.middle(program.widget("button", "Compare with the original")))
        xdotool("mousedown", 1)
        program.wait_shown(original, "the original while the button is held")
        xdotool("mouseup", 1)
        program.wait_shown(result, "the result after the button")

        program.change("compare", True)
        program.wait_shown(original, "the original by D-Bus")
        program.change("compare", False)
        program.wait_shown(result, "the result by D-Bus")
        equal(program.edits(), "blur:radius=100,passes=10", "edits")
        press("ctrl+z")
        program.wait_edits("")
        equal(program.state("undo")[0], False, "undo")


@test
def animation_leaves_no_trace():
    with Softbox(picture(800, 600).save("in.png")) as program:
        entry = program.widget("spin button", "Radius")
        program.set_edit("blur:radius=9,passes=2")
        result = program.settled()
        click(program.middle(program.canvas))
        park()
        press("a")
        wait("the animation", lambda: program.alive() and program.state("animate")[1])
        seen = {result}
        wait("frames", lambda: program.alive() and (seen.add(program.shown()) or len(seen) >= 6))
        radii = set()
        wait("the radius to sweep", lambda: program.alive()
             and (radii.add(entry.value()) or len(radii) >= 4))
        press("a")
        wait("the end of the animation", lambda: program.state("animate")[1] is False)
        equal(program.edits(), "blur:radius=9,passes=2", "edits")
        equal(entry.value(), 9, "radius")
        program.wait_shown(result, "the result from before the animation")

        press("a")
        wait("the animation", lambda: program.state("animate")[1])
        press("Escape")
        wait("the end of the animation", lambda: program.state("animate")[1] is False)
        program.wait_shown(result, "the result from before the animation")
        equal(program.state("redo")[0], False, "redo")
        press("ctrl+z")
        program.wait_edits("")
        equal(program.state("undo")[0], False, "undo")


@test
def states_that_others_cannot_set():
    with Softbox(picture(40, 30).save("in.png")) as program:
        program.set_edit("blur:radius=3")
        program.wait_idle()
        for name, value in (("busy", GLib.Variant("b", True)), ("edits", GLib.Variant("s", "blur")),
                            ("error", GLib.Variant("s", "none"))):
            before = program.state(name)
            harness.call(harness.session, harness.ID, harness.ROOT + "/window/1", "org.gtk.Actions", "SetState",
                         GLib.Variant("(sva{sv})", (name, value, {})))
            equal(program.state(name), before, name)


@test
def keys_of_the_edit():
    with Softbox(picture(400, 300).save("in.png")) as program:
        press("bracketright")
        program.wait_edits("blur:passes=4")
        press("bracketleft", "bracketleft")
        program.wait_edits("blur:passes=2")
        press("equal", "equal", "minus")
        program.wait_edits("blur:radius=15,passes=2")
        equal(program.state("apply")[0], True, "apply")

        press("ctrl+Return")
        wait("apply", lambda: program.state("apply")[0] is False)
        equal(program.edits(), "blur:radius=15,passes=2", "edits")
        # The next one starts from the defaults.
        entry = program.widget("spin button", "Radius")
        equal(entry.value(), 14, "radius after apply")
        slider = program.widget("slider", "Radius")
        text = drag(program, slider, (0.1, 0.05))[-1]
        xdotool("mouseup", 1)
        first, second = text.split(" ")
        equal(first, "blur:radius=15,passes=2", "the applied edit")
        assert re.fullmatch(r"blur:radius=\d(\.\d+)?", second), second
        program.wait_idle()
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        assert content("out.png") == cli("in.png", text, "expected.png"), text

        press("ctrl+z")
        program.wait_edits("blur:radius=15,passes=2")
        press("ctrl+y")
        program.wait_edits(text)


@test
def wheel_and_double_click_on_a_slider():
    with Softbox(picture(400, 300).save("in.png")) as program:
        slider = program.widget("slider", "Radius")
        place = program.rectangle(slider)
        program.set_edit("blur:radius=30")
        program.wait_edits("blur:radius=30")
        for widget in (slider, program.widget("spin button", "Radius")):
            point = program.middle(widget)
            click(point, 4)
            click(point, 5)
            click(point, 5)
        # What comes after the wheel is the proof that the wheel has come.
        press("bracketright")
        program.wait_edits("blur:radius=30,passes=4")
        # It moves the panel instead; back to where it was, which newer GTK takes its time for.
        for _ in range(10):
            click((place[0] + place[2] // 2, place[1] + place[3] // 2), 4)
        wait("the slider at its place", lambda: program.alive() and program.rectangle(slider) == place)

        point = program.slider_point(slider, slider.value())
        xdotool("mousemove", *point, "click", "--repeat", 2, "--delay", 30, 1)
        program.wait_edits("blur:passes=4")
        equal(program.widget("spin button", "Radius").value(), 14, "radius")
        program.wait_idle()
        equal(program.edits(), "blur:passes=4", "edits")


@test
def keys_of_the_view():
    with Softbox(picture(2000, 1500).save("in.png")) as program:
        fit = program.zoom_percent()
        assert fit < 100
        _, _, width, height = program.rectangle(program.canvas)
        fit_zoom = min(width / 2000, height / 1500)
        equal(fit, round(100 * fit_zoom), "fit")
        for key, percent in (("1", 100), ("2", 200), ("3", 300), ("0", fit), ("ctrl+1", 100),
                             ("ctrl+0", fit), ("ctrl+minus", round(fit_zoom / 1.5 * 100)), ("KP_Add", fit)):
            press(key)
            program.wait_zoom(percent)
        equal(program.edits(), "", "edits")

        width = program.canvas.extents()[2]
        press("F8")
        wait("the panel to go", lambda: program.state("panel")[1] is False
             and program.canvas.extents()[2] > width)
        press("F8")
        wait("the panel to come", lambda: program.state("panel")[1] is True
             and program.canvas.extents()[2] == width)

        press("F11")
        wait("fullscreen", lambda: program.state("fullscreen")[1])
        press("Escape")
        wait("the end of fullscreen", lambda: program.state("fullscreen")[1] is False)


sys.exit(main())
