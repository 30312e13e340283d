#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The program as a whole: what it prints, and how it ends in the middle of its work.

test-program.py SOFTBOX SOFTBOX_CLI; runs under with-display.sh and speaks TAP."""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import (LIMIT, Node, SOFTBOX, Softbox, click, content, equal, main, picture, press, test,
                     wait)


def run(*arguments, **env):
    """To its own end: status, standard output, standard error."""
    result = subprocess.run([SOFTBOX, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=LIMIT,
                            env=dict(os.environ, G_DEBUG="fatal-warnings", **env))
    return result.returncode, result.stdout.decode(), result.stderr.decode()


@test
def statistics_of_an_animation():
    path = picture(1203, 801).save("in.png")
    # A busy machine may need the time for its start.
    for seconds in (4, 12, 40):
        status, out, err = run("--animate", "--stats", "--quit-after=%d" % seconds, path)
        equal((status, err), (0, ""), "status and standard error")
        equal(out.count("\n"), 1, "lines")
        stats = json.loads(out)
        if stats["frames"] > 1:
            break
    percentiles = ["p50", "p95", "p99"]
    assert set(stats) >= {"frames", "fps", "shown_ms", "render_ms", "show_ms", "stall_ms"}, stats
    assert stats["frames"] > 0 and stats["fps"] > 0, stats
    for key, value in stats.items():
        if key.endswith("_ms"):
            equal(list(value), percentiles, key)
            numbers = [value[p] for p in percentiles]
            assert numbers == [None] * 3 or 0 <= numbers[0] <= numbers[1] <= numbers[2], (key, value)
    for key in ("shown_ms", "render_ms", "show_ms"):
        assert stats[key]["p50"] is not None, (key, stats)


@test
def statistics_of_subbands():
    path = picture(601, 400).save("in.png")
    for seconds in (4, 12, 40):
        status, out, err = run("--subbands", "--stats", "--quit-after=%d" % seconds, path)
        equal((status, err), (0, ""), "status and standard error")
        stats = json.loads(out)
        if stats["measured_ms"]["p50"] is not None:
            break
    # The picture as it was opened, shown twice and measured once.
    equal((stats["results"], stats["unmeasured"]), (1, 0), "results")
    assert stats["subbands_frames"] > 0 and stats["frames"] > 0, stats
    assert stats["measured_ms"]["p50"] == stats["measured_ms"]["p99"] >= 0, stats


@test
def options():
    status, out, err = run("--version")
    equal((status, err), (0, ""), "status and standard error")
    assert re.fullmatch(r"softbox \d+\.\d+\.\d+\n", out), out
    # What cannot be read has not been said.
    with open("/dev/full", "wb") as full:
        for arguments in (("--help",), ("-h",), ("--help-all",), ("--version",), ("--stats", "--quit-after=0.1")):
            result = subprocess.run([SOFTBOX, *arguments], stdin=subprocess.DEVNULL, stdout=full,
                                    stderr=subprocess.PIPE, timeout=LIMIT)
            equal((arguments, result.returncode, result.stderr),
                  (arguments, 1, b"softbox: standard output cannot be written to\n"), "a full disk")
    for arguments in (("--device=toaster",), ("--quit-after=-1",)):
        status, out, err = run(*arguments)
        equal((status, out), (2, ""), "status and standard output")
        assert err.startswith("softbox: "), err
    status, out, err = run("--quit-after=0.1")
    equal((status, out, err), (0, "", ""), "an empty window")
    status, out, err = run("--quit-after=0.1", DISPLAY=":987", WAYLAND_DISPLAY="none")
    equal((status, out), (1, ""), "status and standard output")
    assert err.startswith("softbox: ") and "softbox-cli" in err, err


@test
def no_file_and_a_missing_one():
    with Softbox(ready=False) as program:
        wait("the window", lambda: program.alive() and program.state("busy")[1] is False)
        equal(program.state("export")[0], False, "export")
        equal(program.state("zoom")[0], False, "zoom")
        program.wait_active(program.wait_window())
        press("equal", "a", "bracketright", "ctrl+z", "c", "0", "Escape")
        program.open(os.path.abspath("missing.png"))
        wait("an error", lambda: program.alive() and program.error())
        assert "missing.png" in program.error()
        equal(program.edits(), "", "edits")
    with Softbox("missing.png", ready=False) as program:
        wait("an error", lambda: program.alive() and program.error())
        assert "missing.png" in program.error()


def close(program):
    """As the window manager's button does it."""
    program.app_activate("quit")


@test
def closing_during_a_load():
    path = picture(5000, 4000).save("in.png")
    program = Softbox(path, ready=False)
    wait("the load", lambda: program.alive() and (program.state("busy")[1] or program.state("zoom")[0]))
    close(program)
    program.wait_end()
    assert program.state("busy")[1] is None

    # Again, with a picture open already.
    program = Softbox(picture(300, 200).save("small.png"))
    program.open(path)
    wait("the load", lambda: program.alive() and program.state("busy")[1])
    press("ctrl+w")
    program.wait_end()


@test
def closing_during_a_large_blur():
    path = picture(5000, 4000).save("in.png")
    program = Softbox(path)
    program.set_edit("blur:radius=1900.5,passes=10")
    wait("the blur", lambda: program.alive() and program.state("busy")[1])
    program.activate("undo")
    program.set_edit("blur:radius=1800.5,passes=10")
    program.activate("undo")
    close(program)
    program.wait_end()

    program = Softbox(path)
    program.set_edit("blur:radius=1900.5,passes=10")
    wait("the blur", lambda: program.alive() and program.state("busy")[1])
    program.discard()
    program.wait_end()


@test
def closing_during_an_export():
    path = picture(5000, 4000).save("in.png")
    program = Softbox(path)
    program.export(os.path.abspath("out.png"))
    equal(program.state("busy")[1], True, "busy")
    close(program)
    program.wait_end()
    # Nothing, or the whole file; nothing half done beside it.
    found = sorted(name for name in os.listdir(".") if not name.startswith("config-"))
    assert found in (["in.png"], ["in.png", "out.png"]), found
    if "out.png" in found:
        data = content("out.png")
        assert data[:4] == b"\x89PNG" and data[-8:-4] == b"IEND"


@test
def closing_during_an_animation():
    program = Softbox(picture(1203, 801).save("in.png"))
    press("a")
    wait("the animation", lambda: program.alive() and program.state("animate")[1])
    close(program)
    program.wait_end()


@test
def cancelling_an_export():
    program = Softbox(picture(5000, 4000).save("in.png"))
    program.set_edit("blur:radius=700.5,passes=10")
    program.export(os.path.abspath("out.png"))
    equal(program.state("export")[0], False, "a second export meanwhile")
    press("Escape")
    wait("the end of the export", lambda: program.alive() and program.state("export")[0])
    program.wait_idle()
    equal(program.error(), "", "error")
    equal(program.top.title(), "in.png •", "title")
    found = sorted(name for name in os.listdir(".") if not name.startswith("config-"))
    equal(found, ["in.png"], "files")
    program.discard()
    program.wait_end()


FAULTY = os.path.join(os.path.dirname(SOFTBOX), "..", "..", "tests", "faulty")


@test
def no_gpu_is_told_once():
    path = picture(300, 200).save("in.png")

    def everything(program):
        return Node.application(program.process.pid)

    def toast(program):
        return program.top.find("label", re.compile("^Computing on the CPU: "))

    for fault, reason in (("driver", "there is no NVIDIA driver"), ("device", "there is no NVIDIA GPU"),
                          ("old", "Faulty is too old: it has compute capability 6.1, 7.5 is needed")):
        env = {"SOFTBOX_MODULE_DIR": os.path.abspath(FAULTY), "SOFTBOX_FAULTY": fault}
        with Softbox(path, env=env, settings={"told-device": "''"}) as program:
            equal(wait("the toast", lambda: program.alive() and toast(program)).title(),
                  "Computing on the CPU: " + reason, "toast")
            # A click at the right end of the status line tells it too.
            click(program.middle(program.widget("button", re.compile("^CPU, "))))
            wait("the reason", lambda: program.alive() and everything(program).find("label", reason))
            press("Escape")
            # Once: no window that comes says it again.
            program.app_activate("new-window")
            second = program.wait_window(2)
            program.wait_active(second)
            empty = wait("the other window", lambda: next(
                (n for n in everything(program).children() if n.title() == "Softbox"), None))
            program.wait_idle(2)
            equal(empty.find("label", re.compile("^Computing on the CPU: ")), None, "told twice")
    with Softbox(path, env=env, settings={"told-device": "'%s'" % reason}) as program:
        program.settled()
        equal(toast(program), None, "told in a run before")


sys.exit(main())
