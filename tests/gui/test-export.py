#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The export dialog over a file that is there: replaced once agreed to, and asked about again if it is
what was opened, by any name, and has changed since; and what an export could not keep.

test-export.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import shutil
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True
from harness import GLib, Node, Softbox, active, cli, content, equal, main, picture, press, test, wait, write

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "corpus")
EDIT = "blur:radius=6"


def windows(program):
    """All but the main one, the newest first."""
    return Node.application(program.process.pid).children()[1:][::-1]


def find_button(program, label):
    """The button of the newest window that has one; GTK puts icons' names before some labels."""
    try:
        for window in windows(program):
            for node in window.walk():
                if node.role() == "button" and node.title().split()[-1:] == [label]:
                    return node
    except GLib.Error:
        pass  # a window that is just going
    return None


def heading(program):
    """What the question that is open says first, or None."""
    try:
        return next((window.title() for window in windows(program) if window.role() == "dialog"), None)
    except GLib.Error:
        return None


def choose(program, name):
    """Types a name into the export dialog and says yes to what the chooser itself asks."""
    program.wait_active(program.xid)
    press("ctrl+e")
    wait("the export dialog", lambda: program.alive() and len(windows(program)) == 1)
    wait("it to be active", lambda: active() not in ("", program.xid))
    chooser = active()
    entry = wait("the name", lambda: next((n for n in windows(program)[0].walk() if n.focused()), None))
    press("ctrl+a")
    write(name)
    wait("the typed name", lambda: entry.focused())
    press("Return")
    wait("the chooser's question", lambda: program.alive() and active() not in ("", program.xid, chooser))
    wait("Replace", lambda: find_button(program, "Replace")).act()
    wait("the chooser to go", lambda: program.alive() and active() != chooser and find_button(program, "Export") is None)


def change(name):
    """Another program writes into it."""
    time.sleep(0.02)  # file systems count in steps
    other = picture(31, 21, seed=9)
    with open(name, "r+b") as f:
        f.truncate()
        f.write(content(other.save("other.png")))
    return content(name)


def asked(program, name):
    wait("the question about the change",
         lambda: program.alive() and (heading(program) or "") == "“%s” has changed" % name)


def expected(edits):
    """What an export of in.png, as it was opened, holds."""
    if os.path.exists("expected.png"):
        os.unlink("expected.png")
    return cli("before.png", edits, "expected.png")


def start():
    picture(300, 200).save("in.png")
    shutil.copy("in.png", "before.png")
    return os.path.abspath("in.png")


@test
def what_was_opened_is_replaced():
    path = start()
    right = expected(EDIT)
    with Softbox(path) as program:
        program.set_edit(EDIT)
        choose(program, "in.png")
        wait("the export", lambda: program.alive() and content("in.png") == right)
        program.wait_idle()
        equal((program.error(), heading(program)), ("", None), "error, and a question")
        # And once more: the file is as this program left it.
        program.set_edit("blur:radius=2")
        choose(program, "in.png")
        right = expected("blur:radius=2")
        wait("the second export", lambda: program.alive() and content("in.png") == right)


@test
def a_file_that_has_changed_is_asked_about():
    path = start()
    right = expected(EDIT)
    with Softbox(path) as program:
        program.set_edit(EDIT)
        theirs = change("in.png")
        choose(program, "in.png")
        asked(program, "in.png")
        find_button(program, "Cancel").act()
        wait("the question to go", lambda: program.alive() and not windows(program))
        program.wait_idle()
        equal(content("in.png"), theirs, "the other program's file")
        equal(program.error(), "", "error")

        choose(program, "in.png")
        asked(program, "in.png")
        find_button(program, "Replace").act()
        wait("the export", lambda: program.alive() and content("in.png") == right)


@test
def links_to_what_was_opened():
    for link in (os.symlink, os.link):
        name = link.__name__ + ".png"
        path = start()
        right = expected(EDIT)
        link("in.png", name)
        with Softbox(path) as program:
            program.set_edit(EDIT)
            theirs = change("in.png")
            choose(program, name)
            asked(program, name)
            find_button(program, "Cancel").act()
            wait("the question to go", lambda: program.alive() and not windows(program))
            equal(content("in.png"), theirs, "the other program's file")

            choose(program, name)
            asked(program, name)
            find_button(program, "Replace").act()
            wait("the export", lambda: program.alive() and content(name) == right)
            program.wait_idle()
            # A symbolic link stays one; a hard link parts from the file that was opened.
            equal((os.path.islink(name), content("in.png")),
                  (True, right) if link is os.symlink else (False, theirs), "link, and what it leads to")
            if link is os.symlink:  # this program's own change is none to ask about
                program.set_edit("blur:radius=2")
                right = expected("blur:radius=2")
                choose(program, "in.png")
                wait("the second export", lambda: program.alive() and content("in.png") == right)
        os.unlink(name)


@test
def another_file_is_not_asked_about():
    path = start()
    right = expected(EDIT)
    picture(31, 21, seed=9).save("there.png")
    with Softbox(path) as program:
        program.set_edit(EDIT)
        change("in.png")
        change("there.png")
        choose(program, "there.png")
        wait("the export", lambda: program.alive() and content("there.png") == right)
        equal(heading(program), None, "a question")


@test
def failures_while_frames_are_late():
    """What tells of one slides in while what told of the last slides out, and both end in one frame.
    Settings of its own: the harness has animations off."""
    path = start()
    with Softbox(path, env={"XDG_CONFIG_HOME": os.path.abspath("moving")}) as program:
        program.set_edit(EDIT)
        program.wait_idle()
        for n in range(24):
            program.export(os.path.abspath("new-%d.png" % n if n % 6 in (0, 5) else "in.png"))
            program.wait_idle()
            if n % 6 == 4:
                os.kill(program.process.pid, signal.SIGSTOP)
                time.sleep(0.4)
                os.kill(program.process.pid, signal.SIGCONT)
        program.export(os.path.abspath("in.png"))
        program.wait_idle()
        assert "in.png" in program.error(), program.error()


@test
def what_an_export_could_not_keep():
    jpeg = content(os.path.join(CORPUS, "jpeg", "q100.jpg"))
    body = b"Exif\0\0II*\0\xf0\xff\xff\xff" + b"x" * 40
    with open("in.jpg", "wb") as f:
        f.write(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:])
    said = "The file's camera data (EXIF) cannot be read and was left out of the exported picture."
    with Softbox(os.path.abspath("in.jpg")) as program:
        labels = lambda: [n.title() for n in program.top.walk() if n.role() == "label"]
        assert said not in labels(), "said before it happened"
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        wait("the banner", lambda: program.alive() and said in labels())


sys.exit(main())
