#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The properties of a picture, the pages of a file, and a file that somebody else has changed.

test-properties.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from harness import GLib, Node, Softbox, equal, main, press, test, wait

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "corpus")


def titled(name):
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name],
                          stdout=subprocess.PIPE).stdout.decode().split()


def wait_titled(program, name):
    xid = wait("a window “%s”" % name, lambda: program.alive() and titled(name))[0]
    program.wait_active(xid)
    return xid


def everything(program):
    return Node.application(program.process.pid)


def says(program, pattern):
    return wait("the words " + pattern, lambda: program.alive()
                and everything(program).find("label", re.compile(pattern)))


def size(path):
    return subprocess.run(["identify", "-format", "%wx%h", path], stdout=subprocess.PIPE,
                          check=True).stdout.decode()


@test
def what_is_known_of_a_photo():
    path = os.path.join(CORPUS, "meta", "gps_icc_xmp_orient6.jpg")
    with Softbox(path) as program:
        program.activate("properties")
        wait_titled(program, "^Properties$")
        for words in (r"^gps_icc_xmp_orient6\.jpg$", r"^JPEG$", r"\(5.?758 bytes\)", r"^96 × 64 pixels",
                      r"^8 bits a channel$", r"Display P3$", r"^TestCorp Cam 01$", r"^300 pixels per inch$",
                      r"^52\.50\d+° N, 13\.4\d+° E$"):
            says(program, words)
        press("Escape")
        program.wait_active(program.xid)


@test
def another_page():
    subprocess.run(["convert", os.path.join(CORPUS, "tiff", "rgb8.tif"),
                    os.path.join(CORPUS, "tiff", "grey16.tif"), "pages.tif"], check=True)
    with Softbox(os.path.abspath("pages.tif")) as program:
        program.export(os.path.abspath("one.png"))
        program.wait_export("one.png")
        equal(size("one.png"), "60x44", "the first page")
        says(program, "2 pages")
        program.widget("button", "Choose page…").act()
        wait_titled(program, "^Properties$")
        says(program, "^Page of 2$")
        # The only number in the dialog.
        entry = wait("the number", lambda: everything(program).find("spin button", "Page of 2"))
        entry.call("org.freedesktop.DBus.Properties", "Set", GLib.Variant(
            "(ssv)", ("org.a11y.atspi.Value", "CurrentValue", GLib.Variant("d", 2))))
        open_page = wait("the button", lambda: everything(program).find("button", re.compile("Open page")))
        open_page.act()
        wait("the dialog to go", lambda: not titled("^Properties$"))
        time.sleep(0.5)
        program.wait_idle()
        program.export(os.path.abspath("two.png"))
        program.wait_export("two.png")
        equal(size("two.png"), "64x16", "the second page")


sys.exit(main())
