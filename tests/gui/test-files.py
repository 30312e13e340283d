#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files and the window: what cannot be opened or written, unsaved changes, and several windows.

test-files.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import re
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import (GLib, Node, SOFTBOX, Softbox, active, click, cli, content, equal, main, picture, press, test, wait,
                     xdotool)


def wait_error(program, *words, window=1):
    """An error that says all of these."""
    wait("an error", lambda: program.alive() and program.error(window))
    text = program.error(window)
    for word in words:
        assert word in text, (word, text)
    program.wait_idle(window)
    return text


def listing():
    """Every file here, hidden ones too, but not the program's own."""
    return sorted(name for name in os.listdir(".") if not name.startswith("config-"))


# --- What cannot be opened ------------------------------------------------------------------------


@test
def what_cannot_be_opened():
    source = picture(500, 400)
    path = source.save("in.png")
    with open("text.png", "w") as f:
        f.write("no picture")
    open("empty.png", "w").close()
    with open("cut.png", "wb") as f:
        f.write(content("in.png")[:20])
    os.mkfifo("fifo.png")
    os.mkdir("folder.png")
    with Softbox(path) as program:
        label = program.canvas.title()
        for name in ("missing.png", "text.png", "empty.png", "cut.png", "fifo.png", "folder.png"):
            program.open(os.path.abspath(name))
            wait_error(program, name)
            equal(program.top.title(), "in.png", "title after " + name)
            equal(program.canvas.title(), label, "what is shown")
            # The next one clears what the one before said.
            program.open(path)
            wait("no error", lambda: program.alive() and program.error() == "")
            program.wait_idle()
        assert stat.S_ISFIFO(os.stat("fifo.png").st_mode)
        # What was open can still be used.
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(content("out.png"), cli("in.png", "blur:radius=3", "expected.png"), "bytes")


@test
def what_cannot_be_opened_beside_changes():
    with Softbox(picture(500, 400).save("in.png")) as program:
        program.set_edit("blur:radius=3")
        program.open(os.path.abspath("missing.png"))
        wait_error(program, "missing.png")
        equal(program.edits(), "blur:radius=3", "edits")
        wait("one window", lambda: [child.role() for child in Node.application(
            program.process.pid).children()].count("window") == 1)


@test
def edits_that_are_wrong():
    with Softbox(picture(300, 200).save("in.png")) as program:
        program.set_edit("blur:radius=5")
        program.wait_edits("blur:radius=5")
        for text, words in (("blur:radius=x", ("x", "radius")), ("blur:radius=2001", ("2001", "2000")),
                            ("blur:sigma=3", ("sigma", "radius", "passes")), ("smear", ("smear", "blur")),
                            ("blur:passes=0", ("0", "1", "10")), ("blur:edge=wrap", ("wrap", "clamp")),
                            ("blur:area=rect:400:0:5:5", ("area",)), ("", ())):
            program.set_edit(text)
            wait_error(program, *words)
            equal(program.edits(), "blur:radius=5", "edits after %r" % text)
            program.set_edit("blur:radius=5")
            wait("no error", lambda: program.error() == "")
        press("ctrl+z")
        program.wait_edits("")


# --- What cannot be written -----------------------------------------------------------------------


@test
def what_cannot_be_written():
    path = picture(300, 200).save("in.png")
    original = content("in.png")
    with open("there.png", "w") as f:
        f.write("mine")
    os.symlink("nowhere.png", "link.png")
    with Softbox(path) as program:
        program.set_edit("blur:radius=3")
        before = listing()
        for name, words in (("there.png", ("there.png",)), ("in.png", ("in.png",)),
                            ("there.png/out.png", ("out.png",)), ("no/such/folder/out.png", ("out.png",)),
                            ("link.png", ("link.png",)), (".", ())):
            program.export(os.path.join(os.getcwd(), name))
            wait_error(program, *words)
            assert program.top.title().startswith("in.png •"), program.top.title()
            equal(listing(), before, "files after " + name)
            program.set_edit("blur:radius=3")
            wait("no error", lambda: program.error() == "")
        equal(content("there.png"), b"mine", "the file that was there")
        equal(content("in.png"), original, "the opened file")

        # And then it can.
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(content("out.png"), cli("in.png", "blur:radius=3", "expected.png"), "bytes")
        equal(listing(), sorted(before + ["expected.png", "out.png"]), "files")
        wait("no unsaved changes", lambda: program.top.title() == "in.png")


# --- Unsaved changes ------------------------------------------------------------------------------


def question(program):
    """The dialog that asks, or None."""
    application = Node.application(program.process.pid)
    return next((child for child in application.children() if child.role() == "dialog"), None)


def answer(program, button):
    """With the pointer."""
    dialog = wait("the question", lambda: program.alive() and question(program))
    equal(dialog.title(), "Export the changes?", "title of the dialog")
    found = wait(button, lambda: dialog.find("button", button))
    xid = wait("the dialog to be active", lambda: next(
        (x for x in [active()] if x not in ("", program.xid)), None))
    corner = program.place(dialog, xid)
    x, y, width, height = found.extents()
    click((corner[0] + x + width // 2, corner[1] + y + height // 2))
    return dialog


@test
def closing_asks_about_changes():
    with Softbox(picture(300, 200).save("in.png")) as program:
        equal(program.top.title(), "in.png", "title")
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        wait("the mark of changes", lambda: program.top.title() == "in.png •")
        for cancel in ("pointer", "key"):
            press("ctrl+w")
            if cancel == "pointer":
                answer(program, "Cancel")
            else:
                wait("the question", lambda: question(program))
                wait("the question to be active", lambda: active() not in ("", program.xid))
                press("Escape")
            wait("the question to go", lambda: program.alive() and question(program) is None)
            equal(program.edits(), "blur:radius=3", "edits")
            program.wait_active(program.xid)

        press("ctrl+w")
        answer(program, "Discard")
        program.wait_end()


@test
def after_an_export_nothing_is_asked():
    with Softbox(picture(300, 200).save("in.png")) as program:
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        wait("no mark of changes", lambda: program.top.title() == "in.png")
        press("ctrl+w")
        program.wait_end()


@test
def closing_waits_for_an_export_of_the_changes():
    picture(4000, 3000, channels=4).save("in.png")
    with Softbox(os.path.abspath("in.png")) as program:
        program.set_edit("blur:radius=300.5,passes=10")
        program.export(os.path.abspath("out.png"))
        press("ctrl+w")
        equal((program.state("busy")[1], question(program)), (True, None), "busy, and the question")
        program.wait_end()
    equal(content("out.png"), cli("in.png", "blur:radius=300.5,passes=10", "expected.png"), "bytes")

    # Changes made meanwhile are asked about, and so is closing a second time.
    with Softbox(os.path.abspath("in.png")) as program:
        program.set_edit("blur:radius=300.5,passes=10")
        program.export(os.path.abspath("again.png"))
        press("ctrl+w")
        program.set_edit("blur:radius=3")
        wait("the question", lambda: program.alive() and question(program))
        program.wait_export("again.png")
        answer(program, "Discard")
        program.wait_end()
    equal(content("again.png"), content("out.png"), "bytes")
    with Softbox(os.path.abspath("in.png")) as program:
        program.set_edit("blur:radius=300.5,passes=10")
        program.export(os.path.abspath("late.png"))
        press("ctrl+w", "ctrl+w")
        wait("the question", lambda: program.alive() and question(program))
        # It answers itself when the changes are safe.
        program.wait_end()
    equal(content("late.png"), content("out.png"), "bytes")


@test
def undo_past_an_export_asks_again():
    with Softbox(picture(300, 200).save("in.png")) as program:
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        wait("no mark of changes", lambda: program.top.title() == "in.png")
        press("ctrl+z")
        program.wait_edits("")
        wait("the mark of changes", lambda: program.top.title() == "in.png •")
        press("ctrl+shift+z")
        program.wait_edits("blur:radius=3")
        wait("no mark of changes", lambda: program.top.title() == "in.png")
        press("ctrl+z")
        program.wait_edits("")
        press("ctrl+q")
        answer(program, "Discard")
        program.wait_end()


# --- Windows --------------------------------------------------------------------------------------


@test
def two_files_are_two_windows():
    first, second = picture(300, 200).save("one.png"), picture(320, 240, seed=2).save("two.png")
    with Softbox(first, second, ready=False) as program:
        for window in (1, 2):
            wait("a picture in each", lambda: program.alive() and program.state("zoom", window)[0])
            program.wait_idle(window)
        names = {}
        for window in (1, 2):
            xid = program.wait_window(window)
            names[window] = xdotool("getwindowname", xid)
        equal(sorted(names.values()), ["one.png", "two.png"], "titles")
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        equal(program.edits(2), "", "edits of the other window")
        source = "one.png" if names[1] == "one.png" else "two.png"
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(content("out.png"), cli(source, "blur:radius=3", "expected.png"), "bytes")


@test
def a_second_instance_hands_over():
    path, other = picture(300, 200).save("in.png"), picture(320, 240, seed=2).save("other.png")
    with Softbox(path) as program:
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        second = subprocess.run([SOFTBOX, "other.png"], env=program.environment, timeout=90,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        equal((second.returncode, second.stdout, second.stderr), (0, b"", b""), "the second instance")
        wait("another window", lambda: program.alive() and program.state("zoom", 2)[0])
        program.wait_idle(2)
        equal(xdotool("getwindowname", program.wait_window(2)), "other.png", "title")
        equal(program.edits(2), "", "edits")
        equal(program.edits(1), "blur:radius=3", "edits of the first window")


@test
def open_replaces_a_picture_without_changes():
    path, other = picture(300, 200).save("in.png"), picture(320, 240, seed=2).save("other.png")
    with Softbox(path) as program:
        program.activate("zoom", GLib.Variant("d", 3.0))
        program.open(other)
        wait("the other picture", lambda: program.alive() and program.top.title() == "other.png")
        program.wait_zoom(100)
        equal(program.state("undo", 2), (False, None), "a second window")

        # Changes stay where they are.
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        program.open(path)
        wait("a second window", lambda: program.alive() and program.state("zoom", 2)[0])
        equal(program.edits(), "blur:radius=3", "edits")
        equal(program.top.title(), "other.png •", "title")


sys.exit(main())
