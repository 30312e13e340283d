#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line tool from outside: what it prints, writes, refuses and leaves alone.

test-cli.py SOFTBOX_CLI SAMPLE_PHOTO; speaks TAP. Pictures are made and read by cli_pictures, and the
blur is worked out there a third time, from its definition and in whole numbers."""

import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unicodedata
import urllib.parse

sys.dont_write_bytecode = True
from cli_pictures import blur, chunk, noise, parse_png, read_png, to8, to16, write_png
from tap import Skip, main, test

CLI = os.path.abspath(sys.argv[1])
SAMPLE = os.path.abspath(sys.argv[2])
TIMEOUT = 120


# --- Running --------------------------------------------------------------------------------------


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out, self.err = process.stdout or b"", (process.stderr or b"").decode("utf-8", "replace")

    def __repr__(self):
        return "status %d, out %r, err %r" % (self.status, self.out[:300], self.err)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.update(G_DEBUG="fatal-criticals", **more)
    return env


def cli(*arguments, stdin=subprocess.DEVNULL, data=None, env=None, **more):
    if data is not None:
        more["input"] = data
    else:
        more["stdin"] = stdin
    more.setdefault("stdout", subprocess.PIPE)
    return Result(subprocess.run([CLI, *arguments], stderr=subprocess.PIPE, timeout=TIMEOUT,
                                 env=environment(**(env or {})), **more))


def done(*arguments, **more):
    result = cli(*arguments, **more)
    assert result.status == 0, result
    assert result.err == "" or more.get("env"), result
    return result


def refused(status, *arguments, says=(), **more):
    result = cli(*arguments, **more)
    assert result.status == status, (arguments, result)
    assert result.err.startswith("softbox-cli: "), result
    for words in says:
        assert words in result.err, (words, result)
    assert not result.out, result
    return result


def content(name):
    with open(name, "rb") as f:
        return f.read()


def files(folder="."):
    return sorted(os.listdir(folder))


# --- Tests ----------------------------------------------------------------------------------------


@test
def words():
    result = done("--version")
    assert result.out.startswith(b"softbox-cli ") and result.out.count(b"\n") == 1, result
    text = done("--help").out.decode()
    for option in ("-e, --edit", "-o, --output", "--radius", "--passes", "--linear", "--depth", "--force",
                   "--subbands", "--mosaic", "--statistics", "--levels", "--channel", "--format", "--device", "--threads", "--devices", "--list-edits", "--benchmark", "--size", "--verify", "--json", "--version",
                   "--memory-limit", "-h, --help"):
        assert option in text, option
    # wherever it stands, and nothing is done then
    for arguments in (["-h"], ["--help-all"], ["missing.png", "-h", "-o"], ["in.png", "-o", "out.png", "--help", "--bogus"]):
        assert done(*arguments).out.decode() == text, arguments
    assert files() == []


@test
def needs_no_window():
    libraries = subprocess.run(["ldd", CLI], stdout=subprocess.PIPE, check=True).stdout.decode()
    for name in ("libgtk", "libadwaita", "libGL", "libepoxy", "libX11", "libwayland", "libcuda"):
        assert name not in libraries, name


@test
def conversion_keeps_every_byte():
    for depth in (8, 16):
        for opaque in (False, True):
            picture = noise(23, 17, depth, depth, opaque)
            write_png("in.png", picture)
            done("in.png", "-o", "out.png", "--force")
            assert read_png("out.png") == picture
            done("in.png", "--radius", "0", "-o", "out.png", "--force")
            assert read_png("out.png") == picture
            done("in.png", "--depth=16", "-o", "out.png", "--force")
            assert read_png("out.png") == to16(picture)
            done("in.png", "--depth=8", "-o", "out.png", "--force")
            assert read_png("out.png") == (to8(picture) if depth == 16 else picture)


@test
def blur_is_its_definition():
    rect, ellipse = ("rect", 3, -2, 9, 11), ("ellipse", 2, 1, 14, 9)
    cases = [
        ("blur", {}),
        ("blur:radius=2,passes=1,linear=0", dict(radius=2, passes=1, linear=0)),
        ("blur:radius=2.5,linear=0", dict(radius=2.5, linear=0)),
        ("blur:radius=0.0625,passes=10", dict(radius=0.0625, passes=10)),
        ("blur:radius=40,edge=mirror,linear=0", dict(radius=40, edge="mirror", linear=0)),
        ("blur:radius=3.3,edge=mirror,passes=2", dict(radius=3.3125, edge="mirror", passes=2)),
        ("blur:radius=5,direction=horizontal", dict(radius=5, direction="horizontal")),
        ("blur:radius=5,direction=vertical,linear=0", dict(radius=5, direction="vertical", linear=0)),
        ("blur:radius=3,area=rect:3:-2:9:11", dict(radius=3, area=rect)),
        ("blur:radius=3,linear=0,area=ellipse:2:1:14:9,feather=2,invert=1",
         dict(radius=3, linear=0, area=ellipse, feather=2, invert=1)),
        ("blur:radius=3,area=rect:3:-2:9:11,feather=3", dict(radius=3, area=rect, feather=3)),
    ]
    for depth in (8, 16):
        for opaque in (False, True):
            picture = noise(19, 13, depth, 10 + depth + opaque, opaque)
            write_png("in.png", picture)
            for text, values in cases:
                expected = blur(to16(picture), **values)
                done("in.png", "-e", text, "--depth=16", "-o", "out.png", "--force")
                assert read_png("out.png") == expected, (text, depth, opaque)
                done("in.png", "-e", text, "--depth=8", "-o", "out.png", "--force")
                assert read_png("out.png") == to8(expected), (text, depth, opaque)


@test
def depth_follows_the_picture():
    for depth in (8, 16):
        write_png("in.png", noise(9, 9, depth, 3))
        done("in.png", "-e", "blur", "-o", "out%d.png" % depth)
        assert read_png("out%d.png" % depth)[2] == depth
    write_png("in.png", noise(9, 9, 8, 3, True))
    done("in.png", "--radius=1", "--depth=16", "-o", "deep.png")
    assert any(s % 257 for p in read_png("deep.png")[3] for s in p)


@test
def edits_follow_one_another():
    write_png("in.png", noise(31, 29, 8, 5))
    first, second = "blur:radius=2.5,passes=2", "blur:radius=4,edge=mirror,linear=0"
    done("in.png", "-e", first, "--edit", second, "--depth=16", "-o", "both.png")
    done("in.png", "-e", first, "--depth=16", "-o", "one.png")
    done("one.png", "-e", second, "--depth=16", "-o", "two.png")
    assert read_png("both.png") == read_png("two.png")
    done("in.png", "-e", second, "-e", first, "--depth=16", "-o", "other.png")
    assert read_png("both.png") != read_png("other.png")


@test
def short_options_are_one_blur():
    write_png("in.png", noise(31, 29, 8, 6))
    done("in.png", "-e", "blur:radius=2.5,passes=2,linear=0", "-o", "a.png")
    done("--radius", "2.5", "in.png", "--passes=2", "-o", "b.png", "--linear=0")
    assert content("a.png") == content("b.png")
    done("in.png", "-e", "blur:passes=1", "-o", "c.png")
    done("--passes", "1", "-o", "d.png", "in.png")
    assert content("c.png") == content("d.png")


@test
def threads_and_device_change_nothing():
    write_png("in.png", noise(211, 97, 8, 7))
    done("in.png", "-e", "blur", "-o", "a.png")
    for i, more in enumerate((["--threads=1"], ["--threads=5"], ["--threads=0", "--device=cpu"])):
        done("in.png", "-e", "blur", *more, "-o", "b%d.png" % i)
        assert content("a.png") == content("b%d.png" % i)


@test
def odd_names():
    picture = noise(5, 4, 8, 8)
    for name in (b"-dash.png", b"--help.png", b"-o", b"with space.png", b"new\nline.png", b"100%s%n.png",
                 b"caf\xe9.png", b"\xff\xfe.png", "ünïcode.png".encode(), b"amp&lt<b>.png", b"a:b.png"):
        write_png(name, picture)
        out = b"out-" + name + b".png"
        done("-o", out, "--", name)
        assert read_png(out) == picture, name
        os.unlink(name)
        os.unlink(out)
    write_png(b"in.png", picture)
    done("in.png", "--output=-out.png")
    assert read_png("-out.png") == picture
    # after two dashes nothing is an option, nor is it taken for one
    refused(1, "-o", "x.png", "--", "--version", says=["--version"])


@test
def usage_errors():
    write_png("in.png", noise(5, 4, 8, 9))
    before = files()
    for arguments, words in (
            ([], "no input"),
            (["in.png"], "-o OUTPUT is missing"),
            (["-o", "out.png"], "no input"),
            (["in.png", "-o", ""], "empty"),
            (["", "-o", "out.png"], "empty"),
            (["in.png", "-o", "out.jpg"], ".png"),
            (["in.png", "-o", "out.PNG.webp"], ".webp"),
            (["in.png", "--bogus", "-o", "out.png"], "--bogus"),
            (["in.png", "-o", "out.png", "--radius"], "--radius"),
            (["in.png", "-e", "blur", "--radius=3", "-o", "out.png"], "--radius, --passes and --linear"),
            (["in.png", "-e", "blur", "--linear=1", "-o", "out.png"], "--radius, --passes and --linear"),
            (["in.png", "--depth=12", "-o", "out.png"], "8 or 16"),
            (["in.png", "--depth=", "-o", "out.png"], "8 or 16"),
            (["in.png", "--device=gpu", "-o", "out.png"], "auto, cpu, cuda"),
            (["in.png", "--device=cuda:x", "-o", "out.png"], "cuda:x"),
            (["in.png", "--threads=-1", "-o", "out.png"], "--threads=-1"),
            (["in.png", "--threads=many", "-o", "out.png"], "--threads=many"),
            (["in.png", "--memory-limit=0", "-o", "out.png"], "--memory-limit=0"),
            (["in.png", "--memory-limit=2G", "-o", "out.png"], "--memory-limit=2G"),
            (["in.png", "--memory-limit=1048577", "-o", "out.png"], "1048576"),
            (["--benchmark", "--memory-limit=5"], "no pictures"),
            (["in.png", "in.png", "-o", "-"], "folder"),
            (["-", "-", "-o", "out"], "only once"),
            (["in.png", "--json", "-o", "out.png"], "--json"),
            (["in.png", "--seed=1", "-o", "out.png"], "--seed"),
            (["--devices", "in.png"], "no pictures"),
            (["--devices", "--list-edits"], "only one"),
            (["--list-edits", "-o", "x.png"], "no pictures"),
            (["--verify", "--json"], "--json"),
            (["--verify", "--seed=x"], "--seed=x"),
            (["--devices", "--size=3x3"], "--size"),
            (["--benchmark", "--size=3"], "--size=3"),
            (["--benchmark", "--size=0x5"], "--size=0x5")):
        refused(2, *arguments, says=[words, "--help"])
    assert files() == before


@test
def bad_edits():
    write_png("in.png", noise(5, 4, 8, 9))
    keys = "radius, passes, linear, edge, direction, area, feather, invert"
    for text, token, allowed in (
            ("blur:radius=nan", "radius=nan", "0 to 2000"),
            ("blur:radius=inf", "radius=inf", "0 to 2000"),
            ("blur:radius=1e3", "radius=1e3", "0 to 2000"),
            ("blur:radius=0x10", "radius=0x10", "0 to 2000"),
            ("blur:radius=-1", "radius=-1", "0 to 2000"),
            ("blur:radius=2001", "radius=2001", "0 to 2000"),
            ("blur:radius=", "radius=", "0 to 2000"),
            ("blur:radius=2,5", "“5”", "radius=2.5"),
            ("blur:passes=0", "passes=0", "1 to 10"),
            ("blur:passes=11", "passes=11", "1 to 10"),
            ("blur:linear=2", "linear=2", "0 or 1"),
            ("blur:edge=wrap", "edge=wrap", "clamp, mirror"),
            ("blur:direction=x", "direction=x", "both, horizontal, vertical"),
            ("blur:raduis=3", "raduis", keys),
            ("blur:radius=3,radius=4", "radius=4", "twice"),
            ("blur:area=rect:1:2:3", "area=rect:1:2:3", "rect:x:y:width:height"),
            ("blur:feather=501", "feather=501", "0 to 500"),
            ("blur:invert=yes", "invert=yes", "0 or 1")):
        refused(2, "in.png", "-e", text, "-o", "out.png", says=[token, allowed, keys])
    refused(2, "in.png", "-e", "sharpen", "-o", "out.png", says=["sharpen", "blur"])
    refused(2, "in.png", "-e", "", "-o", "out.png", says=["blur"])
    refused(2, "in.png", "-e", "blur", "-e", "blur:passes=0", "-o", "out.png", says=["passes=0"])
    refused(2, "in.png", "--radius=2,5", "-o", "out.png", says=["2.5"])
    refused(2, "in.png", "--radius=3,passes=1", "-o", "out.png", says=["--radius=3,passes=1"])
    refused(2, "in.png", "--radius", "-1", "-o", "out.png", says=["radius=-1", "0 to 2000"])
    refused(2, "in.png", "--passes=x", "-o", "out.png", says=["passes=x", "1 to 10"])
    # an area that the picture does not have is known only with the picture
    refused(1, "in.png", "-e", "blur:area=rect:5:0:9:9", "-o", "out.png", says=["in.png", "5 × 4"])
    assert files() == ["in.png"]


@test
def bytes_that_are_no_text():
    write_png("in.png", noise(5, 4, 8, 9))
    for arguments, words in (
            ((b"-e", b"blur:radius=\xff"), ["radius=\ufffd", "0 to 2000", "feather, invert"]),
            ((b"-e", b"caf\xe9"), ["caf\ufffd", "blur, bands"]),
            ((b"--radius=\xff",), ["radius=\ufffd", "0 to 2000"]),
            ((b"--depth=\xff",), ["--depth=\ufffd", "8 or 16"]),
            ((b"--threads=\xff",), ["--threads=\ufffd"]),
            ((b"--device=\xff",), ["\ufffd", "auto, cpu"])):
        refused(2, "in.png", *arguments, "-o", "out.png", says=[*words, "--help"])
    refused(2, "in.png", b"--statistics", b"--channel=\xff", says=["\ufffd", "luma"])
    refused(2, b"--benchmark", b"--size=\xff", says=["--size=\ufffd"])
    assert files() == ["in.png"]


@test
def results_never_share_a_file():
    bands = ["%s1" % kind for kind in ("cA", "cH", "cV", "cD")]
    for name in ("w.png", "w-cH1.png"):
        write_png(name, noise(8, 6, 8, len(name)))
    original = content("w-cH1.png")
    # a band that would have an input's name, once with nothing written before it is seen
    result = cli("w.png", "w-cH1.png", "--subbands=.", "--format=png16", "--levels=1", "--force")
    assert result.status == 1 and "w-cH1.png: is the input itself" in result.err, result
    assert content("w-cH1.png") == original
    assert files() == sorted(["w.png", "w-cH1.png"] + ["w-cH1-%s.png" % b for b in bands])
    for name in files():
        if name.startswith("w-cH1-"):
            os.unlink(name)
    # two results with one name, however it is spelled
    os.symlink(".", "here")
    refused(1, "w.png", "--subbands=here", "--format=png16", "--levels=1", "-o", "w-cD1.png", "--force",
            says=["another result"])
    refused(1, "w.png", "--mosaic=./out.png", "-o", "out.png", "--force", says=["another result"])
    refused(1, "w.png", "--mosaic=here/out.png", "-o", "out.png", says=["another result"])
    refused(1, "w.png", "w-cH1.png", "--mosaic=./both", "-o", "both", says=["another result"])
    assert files() == ["both", "here", "w-cH1.png", "w.png"] and files("both") == []
    # and nothing is refused that does not clash
    done("w.png", "--mosaic=both/w.png", "-o", "out.png", "--subbands=both", "--format=png16", "--levels=1")
    assert files("both") == sorted(["w.png"] + ["w-%s.png" % b for b in bands])


@test
def bad_inputs():
    os.mkdir("folder.png")
    os.mkfifo("fifo.png")
    open("empty.png", "w").close()
    with open("text.png", "w") as f:
        f.write("not a picture at all\n" * 20)
    before = files()
    for name in ("missing.png", "folder.png", "fifo.png", "empty.png", "text.png", "empty.png/x.png"):
        start = time.monotonic()
        refused(1, name, "--radius=3", "-o", "out.png", says=["softbox-cli: %s: " % name])
        assert time.monotonic() - start < 20, name
    # a header that claims a million by a million, and nothing else
    header = struct.pack(">IIBBBBB", 1000000, 1000000, 16, 6, 0, 0, 0)
    with open("huge.png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
    refused(1, "huge.png", "-o", "out.png", says=["huge.png"])
    assert files() == sorted(before + ["huge.png"])


@test
def memory_limit():
    write_png("in.png", noise(1000, 1000, 8, 2))
    # 30 bytes a pixel are 28.6 MiB.
    for arguments in (["-o", "out.png"], ["--statistics"], ["in.png", "-o", "out"]):
        result = refused(1, "in.png", "--memory-limit=28", *arguments, says=["1000 × 1000", "30.0\xa0MB", "29.4\xa0MB"])
        assert "in.png: " in result.err, result
    refused(1, "-", "-o", "out.png", "--memory-limit=28", data=content("in.png"), says=["1000 × 1000"])
    done("in.png", "--memory-limit=29", "-o", "out.png")
    assert read_png("out.png") == read_png("in.png")


@test
def cut_short():
    picture = noise(50, 40, 8, 11, True)
    write_png("whole.png", picture)
    with open("cut.png", "wb") as f:
        f.write(content("whole.png")[:-12])
    with open("cut.jpg", "wb") as f:
        f.write(content(SAMPLE)[: os.path.getsize(SAMPLE) * 2 // 3])
    for name in ("cut.png", "cut.jpg"):
        result = cli(name, "-o", name + ".png")
        assert result.status == 0, result
        assert result.err.startswith("softbox-cli: warning: %s: " % name), result
    assert read_png("cut.png.png") == picture


@test
def existing_files():
    write_png("in.png", noise(5, 4, 8, 12))
    with open("out.png", "w") as f:
        f.write("mine")
    refused(1, "in.png", "-o", "out.png", says=["out.png", "--force"])
    assert content("out.png") == b"mine"
    # nor is a link overwritten that leads nowhere yet
    os.symlink("nowhere.png", "link.png")
    refused(1, "in.png", "-o", "link.png", says=["link.png"])
    assert not os.path.exists("nowhere.png")
    done("in.png", "-o", "out.png", "--force")
    assert read_png("out.png") == read_png("in.png")
    # no extension is fine, another case of it too
    done("in.png", "-o", "plain")
    done("in.png", "-o", "LOUD.PNG")
    done("in.png", "-o", ".hidden")
    assert files() == [".hidden", "LOUD.PNG", "in.png", "link.png", "out.png", "plain"]


@test
def inputs_are_never_overwritten():
    write_png("in.png", noise(5, 4, 8, 13))
    original = content("in.png")
    os.mkdir("sub")
    os.symlink("../in.png", "sub/soft.png")
    os.link("in.png", "hard.png")
    os.symlink("sub", "way")
    for output in ("in.png", "./in.png", "sub/../in.png", "sub/soft.png", "hard.png", "way/soft.png",
                   os.path.abspath("in.png")):
        for force in ([], ["--force"]):
            refused(1, "in.png", "--radius=3", "-o", output, *force, says=["never overwritten"])
    refused(1, "sub/soft.png", "--radius=3", "-o", "in.png", "--force", says=["never overwritten"])
    assert content("in.png") == original
    assert files() == ["hard.png", "in.png", "sub", "way"] and files("sub") == ["soft.png"]


@test
def several_inputs():
    for folder in ("a", "b", "c"):
        os.mkdir(folder)
    pictures = {}
    for i, name in enumerate(("a/same.png", "b/same.png", "c/same.v2.png", "c/same-2.png", "a/dot.")):
        pictures[name] = noise(6 + i, 5, 8, 20 + i)
        write_png(name, pictures[name])
    names = list(pictures)
    result = cli(*names, "-o", "out/deep/er")
    assert result.status == 0, result
    assert "5 pictures written" in result.err and "\r" not in result.err, result
    expected = {"same.png": "a/same.png", "same-3.png": "b/same.png", "same.v2.png": "c/same.v2.png",
                "same-2.png": "c/same-2.png", "dot..png": "a/dot."}
    assert files("out/deep/er") == sorted(expected)
    for name, source in expected.items():
        assert read_png("out/deep/er/" + name) == pictures[source], name

    # again: everything exists
    before = {n: content("out/deep/er/" + n) for n in expected}
    result = cli(*names, "--radius=2", "-o", "out/deep/er")
    assert result.status == 1 and result.err.count("exists already") == 5, result
    assert "0 pictures written, 5 failed" in result.err, result
    assert {n: content("out/deep/er/" + n) for n in expected} == before
    result = cli(*names, "--radius=2", "--force", "-o", "out/deep/er")
    assert result.status == 0, result
    assert files("out/deep/er") == sorted(expected)
    assert all(content("out/deep/er/" + n) != before[n] for n in expected)


@test
def one_failure_stops_nothing():
    write_png("1.png", noise(6, 5, 8, 1))
    with open("2.png", "w") as f:
        f.write("no picture")
    write_png("3.png", noise(6, 5, 8, 3))
    result = cli("1.png", "2.png", "missing.png", "3.png", "-o", "out")
    assert result.status == 1, result
    assert "softbox-cli: 2.png: " in result.err and "softbox-cli: missing.png: " in result.err, result
    assert "2 pictures written, 2 failed" in result.err, result
    assert files("out") == ["1.png", "3.png"]


@test
def several_into_their_own_folder():
    originals = {}
    for name in ("a.png", "b.png"):
        write_png(name, noise(6, 5, 8, len(name)))
        originals[name] = content(name)
    shutil.copy("a.png", "a.jpg")  # by content a PNG still
    for force in ([], ["--force"]):
        result = cli("a.png", "b.png", "a.jpg", "--radius=1", *force, "-o", ".")
        assert result.status == 0, result
        assert files() == ["a-2.png", "a-3.png", "a.jpg", "a.png", "b-2.png", "b.png"]
        assert all(content(n) == originals[n] for n in originals)
        for name in ("a-2.png", "a-3.png", "b-2.png"):
            assert content(name) not in originals.values()
            if not force:
                os.chmod(name, 0o600)
    # links in the folder that lead back to an input, and two to one file
    os.mkdir("out")
    os.symlink("../b.png", "out/a.png")
    result = cli("a.png", "b.png", "--radius=1", "--force", "-o", "out")
    assert result.status == 0, result
    assert files("out") == ["a-2.png", "a.png", "b.png"]
    assert all(content(n) == originals[n] for n in originals)
    os.mkdir("two")
    with open("target.png", "w") as f:
        f.write("x")
    os.symlink("../target.png", "two/a.png")
    os.symlink("../target.png", "two/b.png")
    result = cli("a.png", "b.png", "--radius=1", "--force", "-o", "two")
    assert result.status == 0, result
    assert files("two") == ["a.png", "b-2.png", "b.png"]
    # the same picture twice
    result = cli("a.png", "a.png", "-o", "twice")
    assert result.status == 0 and files("twice") == ["a-2.png", "a.png"], result


@test
def bad_outputs():
    write_png("in.png", noise(6, 5, 8, 1))
    os.mkdir("folder")
    with open("file", "w") as f:
        f.write("x")
    refused(1, "in.png", "-o", "folder", says=["folder"])
    refused(1, "in.png", "-o", "folder", "--force", says=["folder"])
    refused(1, "in.png", "-o", "folder/", says=["folder"])
    refused(1, "in.png", "-o", "new/", says=["new/", "folder"])
    refused(1, "in.png", "-o", "missing/out.png", says=["missing/out.png", "there is no folder “", "/missing”"])
    refused(1, "in.png", "-o", "file/out.png", says=["file/out.png"])
    refused(1, "in.png", "in.png", "-o", "file", says=["file", "folder"])
    refused(1, "in.png", "in.png", "-o", "file/sub", says=["file/sub"])
    os.mkfifo("fifo.png")
    refused(1, "in.png", "-o", "fifo.png", "--force", says=["fifo.png"])
    assert files() == ["fifo.png", "file", "folder", "in.png"] and files("folder") == []
    assert content("file") == b"x"


@test
def a_full_disk_harms_nothing():
    write_png("in.png", noise(200, 200, 8, 2))
    with open("out.png", "w") as f:
        f.write("mine")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    refused(1, "in.png", "-o", "out.png", "--force", says=["out.png"], preexec_fn=limit)
    refused(1, "in.png", "-o", "new.png", says=["new.png"], preexec_fn=limit)
    assert content("out.png") == b"mine" and files() == ["in.png", "out.png"]


@test
def streams():
    picture = noise(40, 30, 8, 4)
    write_png("in.png", picture)
    data = content("in.png")
    result = done("-", "-o", "-", data=data)
    assert parse_png(result.out) == picture
    done("-", "-e", "blur", "-o", "out.png", data=data)
    result = done("in.png", "-e", "blur", "-o", "-")
    assert result.out == content("out.png")
    result = cli("-", "in.png", "-o", "out", data=data)
    assert result.status == 0 and files("out") == ["in.png", "stdin.png"], result
    refused(1, "-", "-o", "-", data=b"", says=["standard input"])
    refused(1, "-", "-o", "-", data=data[:20], says=["standard input"])
    # a file of that name
    write_png("-", picture)
    done("./-", "-o", "dash.png")
    assert read_png("dash.png") == picture


@test
def places_that_are_no_path():
    picture = noise(40, 30, 8, 4)
    write_png("my in.png", picture)
    uri = "file://" + urllib.parse.quote(os.path.abspath("my in.png"))
    done(uri, "-e", "blur", "-o", "by-uri.png")
    done("my in.png", "-e", "blur", "-o", "by-path.png")
    assert content("by-uri.png") == content("by-path.png")
    # named after what it is called, and protected as any input
    write_png("b.png", picture)
    result = cli(uri, "b.png", "-o", "several")
    assert result.status == 0, result
    assert files("several") == ["b.png", "my in.png"], files("several")
    before = content("my in.png")
    refused(1, uri, "-e", "blur", "--force", "-o", "my in.png", says=["the input itself"])
    assert content("my in.png") == before
    refused(1, "nowhere://host/a.png", "-o", "out.png", says=["nowhere://host/a.png"])
    # a file that is called so
    os.makedirs("nowhere:/host")
    write_png("nowhere:/host/a.png", picture)
    done("nowhere://host/a.png", "-o", "odd.png")
    assert read_png("odd.png") == picture


@test
def streams_that_end():
    write_png("in.png", noise(300, 300, 8, 4))
    with open("/dev/full", "wb") as full:
        for arguments in (["in.png", "-o", "-"], ["--list-edits"], ["--version"], ["--devices", "--json"],
                          ["--help"], ["-h"], ["--help-all"]):
            refused(1, *arguments, stdout=full, says=["standard output"])
        # told once, and nothing is computed for nobody
        for arguments in (["--verify", "--device=cpu"], ["--benchmark", "--size=16x16"]):
            result = refused(1, *arguments, stdout=full, says=["standard output"])
            assert result.err.count("\n") == 1, result
    for arguments in (["in.png", "-o", "-"], ["--list-edits"], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        refused(1, *arguments, stdout=write, says=["standard output"])
        os.close(write)


@test
def terminals():
    write_png("in.png", noise(6, 5, 8, 1))
    master, slave = pty.openpty()
    refused(1, "in.png", "-o", "-", stdout=slave, says=["terminal"])
    refused(1, "-", "-o", "out.png", stdin=slave, says=["terminal"])
    # only there is a progress line
    process = subprocess.run([CLI, "in.png", "in.png", "-o", "out"], stdin=subprocess.DEVNULL, stderr=slave,
                             timeout=TIMEOUT, env=environment())
    assert process.returncode == 0
    text = os.read(master, 65536).decode()
    assert "\r" in text and "1/2 in.png" in text and "2/2 in.png" in text, text
    assert text.rstrip().endswith("2 pictures written"), text
    os.close(master)
    os.close(slave)


def make_locale(name, language):
    """What the environment needs for it; it lies in the test's folder."""
    os.makedirs("locales", exist_ok=True)
    made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", os.path.abspath("locales/%s.UTF-8" % name)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if made.returncode not in (0, 1) or not files("locales"):
        raise Skip("the locale %s cannot be made here" % name)
    return {"LC_ALL": name + ".UTF-8", "LOCPATH": os.path.abspath("locales"), "LANGUAGE": language}


@test
def numbers_have_a_point():
    write_png("in.png", noise(20, 15, 8, 1))
    done("in.png", "--radius=2.5", "-o", "c.png")
    env = make_locale("de_DE", "de")
    check = subprocess.run(["locale", "decimal_point"], stdout=subprocess.PIPE, env=environment(**env))
    assert check.stdout == b",\n", check
    done("in.png", "--radius=2.5", "-o", "de.png", env=env)
    assert content("de.png") == content("c.png")
    refused(2, "in.png", "--radius=2,5", "-o", "no.png", env=env, says=["2.5"])
    refused(2, "in.png", "-e", "blur:radius=2,5", "-o", "no.png", env=env, says=["2.5"])
    edits = json.loads(done("--list-edits", "--json", env=env).out)
    assert edits[0]["keys"][0]["quantum"] == 0.0625
    rows = json.loads(done("--benchmark", "--size=40x30", "--threads=1", "--json", env=env).out)
    assert all(isinstance(row["ms"], float) for row in rows)


@test
def every_locale_is_spoken_to():
    write_png("b\u00e9\U0001f600.png", noise(6, 5, 8, 1))
    plain = {"LC_ALL": "C"}
    result = refused(1, "missing.png", "-o", "out.png", env=plain)
    assert result.err == 'softbox-cli: missing.png: Could not open "missing.png": No such file or directory\n', result
    text = done("--benchmark", "--size=16x12", "--threads=1", env=plain).out
    assert text.startswith(b"16 x 12 pixels"), text
    assert b"INPUT..." in done("--help", env=plain).out
    for env in (plain, {"LC_ALL": "C.UTF-8"}):
        out = done("b\u00e9\U0001f600.png", "--statistics", "--json", env=env).out
        assert json.loads(out)[0]["file"] == "b\u00e9\U0001f600.png", out[:80]
        assert out.isascii() == (env is plain)


@test
def columns_stand_below_their_heads():
    write_png("in.png", noise(20, 15, 8, 1))
    width = lambda text: sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    for env in ({}, make_locale("de_DE", "de"), make_locale("zh_CN", "zh_CN")):
        head, *rows = done("in.png", "--statistics", env=env).out.decode().splitlines()[1:6]
        assert all(width(row) == width(head) for row in rows), (head, rows)
        head, *rows = done("--benchmark", "--size=20x15", "--threads=1", env=env).out.decode().splitlines()[1:6]
        # all but the last column, which is left-aligned
        assert {width(row[:row.rindex("  ")]) for row in (head, *rows)} == {width(head[:head.rindex("  ")])}, head


@test
def tables():
    text = done("--list-edits").out.decode()
    edits = json.loads(done("--list-edits", "--json").out)
    assert [e["edit"] for e in edits] == ["blur", "bands"]
    bands = {k["key"]: k for k in edits[1]["keys"]}
    assert list(bands)[:6] == ["levels", "threshold", "rule", "luma", "gainA", "gain1"] and len(bands) == 85 + 3
    assert (bands["gainD20"]["maximum"], bands["gainD20"]["default"], bands["gainD20"]["quantum"]) == (4, 1, 1e-4)
    assert (bands["threshold"]["maximum"], bands["levels"]["minimum"], bands["levels"]["default"]) == (1000, 1, 5)
    for key in ("levels", "threshold", "rule", "luma", "gainA", "gain1..20", "gainH1..20", "gainV1..20", "gainD1..20"):
        assert "\n  %s " % key in text, key
    keys = {k["key"]: k for k in edits[0]["keys"]}
    assert list(keys) == ["radius", "passes", "linear", "edge", "direction", "area", "feather", "invert"]
    assert (keys["radius"]["minimum"], keys["radius"]["maximum"], keys["radius"]["default"]) == (0, 2000, 14)
    assert keys["edge"]["values"] == ["clamp", "mirror"] and keys["edge"]["default"] == "clamp"
    for key in keys:
        assert "\n  %s " % key in text, key
    lines = done("--devices").out.decode().splitlines()
    assert lines[0].startswith("cpu: ") and any(l.startswith("cuda: ") for l in lines[1:]), lines
    devices = json.loads(done("--devices", "--json").out)
    assert ["%s: %s" % (d["device"], d["description"]) for d in devices] == lines
    lines = done("--devices", "--threads=3").out.decode().splitlines()
    assert "3" in lines[0], lines


@test
def no_cuda():
    lines = done("--devices").out.decode().splitlines()
    if not any(l.startswith("cuda: not available") for l in lines):
        raise Skip("there is a CUDA device")
    write_png("in.png", noise(6, 5, 8, 1))
    reason = next(l for l in lines if l.startswith("cuda: ")).split(": ", 2)[2]
    result = refused(1, "in.png", "--device=cuda", "-e", "blur", "-o", "out.png", says=[reason])
    refused(1, "in.png", "in.png", "--device=cuda:1", "-e", "blur", "-o", "out")
    refused(1, "--verify", "--device=cuda", says=["CUDA"])
    assert files() == ["in.png"], result


@test
def verification():
    result = done("--verify", "--seed=7", "--device=cpu")
    lines = result.out.decode().splitlines()
    assert lines[0] == "seed 7" and lines[-1].startswith("all ") and "differ" not in result.out.decode()
    assert sum("cases equal" in l for l in lines) >= 12, lines
    assert sum(l.startswith("CPU, ") for l in lines) >= 1
    assert done("--verify", "--seed=7", "--device=cpu").out == result.out
    first = cli("--verify", "--device=cpu").out.split(b"\n")[0]
    assert first.startswith(b"seed ") and first != b"seed 7"


@test
def benchmark():
    arguments = ["--benchmark", "--size=160x120", "--threads=1"]
    rows = json.loads(done(*arguments, "--json").out)
    keys = ["operation", "device", "threads", "width", "height", "ms", "copy_ms", "ratio", "equal"]
    for row in rows:
        assert list(row) == keys, row
        assert (row["device"], row["threads"], row["width"], row["height"]) == ("cpu", 1, 160, 120), row
        assert row["equal"] in (True, None) and row["ms"] > 0 and row["copy_ms"] > 0, row
    named = {row["operation"]: row for row in rows}
    for radius, passes in ((14, 1), (14, 3), (64, 1), (64, 3)):
        assert named["blur radius=%d passes=%d linear=0" % (radius, passes)]["equal"] is True
    text = done(*arguments).out.decode()
    assert "160 × 120" in text and "blur radius=14 passes=3 linear=0" in text, text
    assert text.count("\n") == len(rows) + 2, text


@test
def stopping():
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([CLI, *[SAMPLE] * 40, "-e", "blur:radius=300,passes=10", "-o", "out"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        limit = time.monotonic() + TIMEOUT
        while not (os.path.isdir("out") and files("out")) and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(number)
        start = time.monotonic()
        err = process.communicate(timeout=TIMEOUT)[1].decode()
        assert time.monotonic() - start < 20
        assert process.returncode == 1, (process.returncode, err)
        assert "not begun" in err, err
        for name in files("out"):
            assert name.endswith(".png") and not name.startswith("."), name
            data = content("out/" + name)
            assert data[:4] == b"\x89PNG" and data[-8:-4] == b"IEND", name
        shutil.rmtree("out")


sys.exit(main("cli"))
