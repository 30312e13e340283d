#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long it takes from a hand at rest to the EXACT result and its statistics, with the subbands
beside the photo: moves a control one step after the other and prints what --stats has to say. No
test: what it prints depends on the machine.

measure.py SOFTBOX SOFTBOX_CLI PICTURE [STEPS [CONTROL [EDIT…]]]; runs under with-display.sh, as in
SOFTBOX_SCREEN=1280x800x24 tests/with-display.sh tests/gui/measure.py … photo.png 60 blur.radius"""

import os
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import harness
from harness import call, GLib, ROOT, session, Softbox, wait

picture = os.path.abspath(sys.argv[3])
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 40
control = sys.argv[5] if len(sys.argv) > 5 else "blur.radius"
edits = sys.argv[6:]
PERIOD = 10  # steps there and back


def bus_name(pid):
    """A program that measures has no name of its own on the bus."""
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
    for name in call(session, *bus, "ListNames")[0]:
        try:
            if name.startswith(":") and pid == call(session, *bus, "GetConnectionUnixProcessID",
                                                    GLib.Variant("(s)", (name,)))[0]:
                call(session, name, ROOT, "org.gtk.Actions", "List")
                return name
        except GLib.Error:
            pass  # it went away, or is another connection of the program
    return None


home = tempfile.mkdtemp(prefix="softbox-measure-")
os.chdir(home)
try:
    program = Softbox("--subbands", "--stats", picture, ready=False)
    program.wait_window()
    harness.ID = wait("the program on the bus", lambda: program.alive() and bus_name(program.process.pid))
    program.wait_picture()
    wait("the subbands", lambda: program.state("subbands")[1])
    for edit in edits:
        program.set_edit(edit)
        program.wait_idle()
    for i in range(steps):
        before = program.edits()
        delta = 1.0 if i % PERIOD < PERIOD // 2 else -1.0
        program.activate("step", GLib.Variant("(sd)", (control, delta)))
        wait("the step", lambda: program.edits() != before)
        program.wait_idle()
        time.sleep(1)  # what the history keeps is packed meanwhile
    program.discard()
    program.process.wait()
    print(program.output(), end="")
finally:
    for program in Softbox.running:
        program.kill()
    os.chdir("/")
    shutil.rmtree(home, ignore_errors=True)
