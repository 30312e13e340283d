#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What goes to and fro between the window and other programs: drops, the clipboard, the file manager.

test-desktop.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from harness import (GLib, Gio, Node, SOFTBOX, Softbox, active, cli, click, content, equal, main, move,
                     picture, press, read_png, screen, session, test, view, wait, xdotool)

GIVER = os.path.join(os.path.dirname(SOFTBOX), "..", "..", "tests", "giver")


class Giver:
    """Another program that gives something."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([os.path.abspath(GIVER), *arguments], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE)
        equal(self.process.stdout.readline(), b"ready\n", "the other program")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def window(self):
        return xdotool("search", "--onlyvisible", "--pid", self.process.pid, "--name", "^giver$").split()[0]


def drag(giver, target, during=None):
    """With the pointer, from the other program's window to a point; during: at the end of the way,
    before the button comes up."""
    xid = giver.window()
    xdotool("windowmove", xid, 1300, 900)
    xdotool("windowraise", xid)
    wait("the other window at its place", lambda: "X=1300" in xdotool("getwindowgeometry", "--shell", xid))
    move((1400, 975))
    xdotool("mousedown", 1)
    for step in range(1, 5):
        move((1400 - 15 * step, 975 - 10 * step))
        time.sleep(0.05)
    move((target[0] + 20, target[1] + 20))
    for step in range(4):
        move((target[0] + 10 - 2 * step, target[1]))
        time.sleep(0.1)
    if during:
        during()
    xdotool("mouseup", 1)


def windows(program):
    return [child.title() for child in Node.application(program.process.pid).children()]


@test
def drop_of_a_file():
    first, second = picture(600, 400).save("in.png"), picture(500, 300, seed=2)
    with Softbox(first, settings={"window-size": "(900, 700)"}) as program, \
            Giver("drag", second.save("other.png")) as giver:
        before = program.settled()
        drag(giver, program.middle(program.canvas), lambda: wait(
            "a word about it", lambda: program.alive() and program.shown() != before))
        wait("the other picture", lambda: program.alive() and program.top.title() == "other.png")
        program.zoom(1.0)
        _, _, width, height = program.rectangle(program.canvas)
        place = (width - 500) // 2, (height - 300) // 2
        program.wait_shown(view(second, -place[0], -place[1], width, height), "the picture and nothing else")
        equal(windows(program), ["other.png"], "windows")
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(content("out.png"), cli("other.png", "blur:radius=3", "expected.png"), "bytes")


@test
def drop_beside_changes():
    first, second = picture(600, 400).save("in.png"), picture(500, 300, seed=2).save("other.png")
    third = picture(400, 300, seed=3).save("third.png")
    with Softbox(first, settings={"window-size": "(900, 700)"}) as program:
        program.set_edit("blur:radius=3")
        program.wait_edits("blur:radius=3")
        with Giver("drag", second, third) as giver:
            drag(giver, program.middle(program.canvas))
            wait("windows of their own", lambda: program.alive()
                 and sorted(windows(program)) == ["in.png •", "other.png", "third.png"])
        equal(program.edits(), "blur:radius=3", "edits")


@test
def paste_of_a_picture():
    first, second = picture(600, 400).save("in.png"), picture(500, 300, seed=2)
    second.save("other.png")
    temporary = set(os.listdir(tempfile.gettempdir()))
    with Softbox(first) as program:
        with Giver("png", "other.png"):
            program.activate("paste")
            wait("the other picture", lambda: program.alive() and program.top.title() == "Pasted picture.png")
            program.wait_idle()
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out.png"))
        program.wait_export("out.png")
        equal(content("out.png"), cli("other.png", "blur:radius=3", "expected.png"), "bytes")
        left = {name for name in set(os.listdir(tempfile.gettempdir())) - temporary
                if name.startswith("softbox-") and not name.startswith(("softbox-gui-", "softbox-display-"))}
        equal(left, set(), "what it left behind")


@test
def paste_of_files_and_of_no_picture():
    first, second = picture(600, 400).save("in.png"), picture(500, 300, seed=2).save("other.png")
    with Softbox(first) as program:
        with Giver("text", "words"):
            program.activate("paste")
            wait("a word about it", lambda: program.alive()
                 and program.top.find("label", "There is no picture on the clipboard"))
            equal(program.top.title(), "in.png", "title")
        with Giver("files", second):
            program.activate("paste")
            wait("the other picture", lambda: program.alive() and program.top.title() == "other.png")


@test
def copy_and_paste():
    with Softbox(picture(300, 200).save("in.png")) as program:
        program.set_edit("blur:radius=4")
        program.wait_edits("blur:radius=4")
        press("ctrl+c")
        wait("a word about it", lambda: program.alive() and program.top.find("label", "Copied the result"))
        press("ctrl+v")
        # Beside the changes of the first.
        wait("a second window", lambda: program.alive() and program.state("zoom", 2)[0])
        program.wait_idle(2)
        program.export(os.path.abspath("out.png"), 2)
        program.wait_export("out.png", 2)
        cli("in.png", "blur:radius=4", "expected.png")
        equal(read_png("out.png").rows, read_png("expected.png").rows, "pixels")


def titled(name):
    """The X windows of this title."""
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name],
                          stdout=subprocess.PIPE).stdout.decode().split()


def wait_titled(program, name):
    xid = wait("a window “%s”" % name, lambda: program.alive() and titled(name))[0]
    program.wait_active(xid)
    return xid


@test
def export_with_the_dialog():
    source = picture(600, 400)
    source.save("in.png")
    picture(30, 20).save("in (blurred).png")
    with Softbox(os.path.abspath("in.png")) as program:
        program.set_edit("blur:radius=6")
        press("ctrl+e")
        wait_titled(program, "^Export as PNG$")
        press("Return")
        # Beside the picture, under a name that is free.
        program.wait_export("in (blurred 2).png")
        equal(content("in (blurred 2).png"), cli("in.png", "blur:radius=6", "expected.png"), "bytes")
        program.wait_active(program.xid)

        # Escape leaves all as it is, and the next one comes again.
        for key in ("ctrl+e", "ctrl+s"):
            press(key)
            wait_titled(program, "^Export as PNG$")
            press("Escape")
            wait("the dialog to go", lambda: not titled("^Export as PNG$"))
            program.wait_active(program.xid)


@test
def keys_of_the_program():
    path = picture(2000, 1500).save("in.png")
    with Softbox(path) as program:
        for key in ("ctrl+o", "ctrl+comma", "ctrl+question", "F1"):
            press(key)
            wait("a window for " + key, lambda: program.alive()
                 and active() not in ("", program.xid))
            press("Escape")
            program.wait_active(program.xid)
        whole = program.rectangle(program.top)
        program.settled()
        before = screen(whole)
        press("F10")
        wait("the menu", lambda: program.alive() and screen(whole) != before)
        press("Escape")
        wait("the menu to go", lambda: program.alive() and screen(whole) == before)

        program.zoom(1.0)
        place = program.settled()
        for there, back in (("ctrl+Right", "ctrl+Left"), ("ctrl+Down", "ctrl+Up"), ("Right", "Left"),
                            ("Down", "Up")):
            click(program.middle(program.canvas))
            press(there)
            wait("another part for " + there, lambda: program.alive() and program.settled() != place)
            press(back)
            program.wait_shown(place, "the same part after " + back)
        equal(program.edits(), "", "edits")

        press("ctrl+n")
        wait("a window without a picture", lambda: program.alive() and program.state("busy", 2)[1] is False)


FILE_MANAGER = """<node><interface name="org.freedesktop.FileManager1"><method name="ShowItems">
<arg type="as" direction="in"/><arg type="s" direction="in"/></method></interface></node>"""


@test
def show_in_files():
    asked = []

    def called(connection, sender, path, interface, method, parameters, invocation):
        asked.append((method, parameters.unpack()))
        invocation.return_value(None)

    info = Gio.DBusNodeInfo.new_for_xml(FILE_MANAGER).interfaces[0]
    manager = session.register_object("/org/freedesktop/FileManager1", info, called, None, None)
    name = Gio.bus_own_name_on_connection(session, "org.freedesktop.FileManager1",
                                          Gio.BusNameOwnerFlags.NONE, None, None)
    context = GLib.MainContext.default()
    with Softbox(picture(300, 200).save("in.png")) as program:
        program.set_edit("blur:radius=3")
        program.export(os.path.abspath("out file.png"))
        program.wait_export("out file.png")
        click(program.middle(program.widget("button", "Show in Files")))

        def told():
            while context.iteration(False):
                pass
            return asked
        wait("the file manager to be asked", lambda: program.alive() and told())
        equal(asked, [("ShowItems", (["file://" + os.path.abspath("out file.png").replace(" ", "%20")], ""))],
              "what was asked")
    session.unregister_object(manager)
    Gio.bus_unown_name(name)


sys.exit(main())
