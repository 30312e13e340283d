#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Subbands that the command line tool writes and measures, against PyWavelets and NumPy.

test-subbands.py SOFTBOX_CLI; speaks TAP. Pictures are made and read by cli_pictures; the transform,
the statistics and the mosaic come from the libraries, so that nothing here was made by the tool."""

import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_pictures import parse_png, read_png, write_png
from tap import main, test

try:
    import numpy
    import pywt
except ImportError as error:
    print("1..0 # SKIP %s" % error)
    sys.exit(0)

CLI = os.path.abspath(sys.argv[1])
CHANNELS = ("lightness", "luma", "red", "green", "blue", "alpha")
SEED = int(os.environ.get("SOFTBOX_TEST_SEED", random.randrange(1 << 30)))


def run(*arguments):
    return subprocess.run([CLI, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


def done(*arguments):
    result = run(*arguments)
    assert result.returncode == 0, (arguments, result)
    return result.stdout.decode()


def refused(status, *arguments, says=()):
    result = run(*arguments)
    error = result.stderr.decode()
    assert result.returncode == status, (arguments, result)
    for words in says:
        assert words in error, (words, error)


# --- What it must be ------------------------------------------------------------------------------


def picture(rng, width, height, depth, alpha=True, smooth=False):
    top = (1 << depth) - 1
    if smooth:
        def sample(x, y, c):
            return int(top * (0.5 + 0.4 * math.sin(x / 9 + c) * math.cos(y / 7))) + rng.randrange(4)
    else:
        def sample(x, y, c):
            return rng.choice((0, top, rng.randrange(top + 1), rng.randrange(top + 1)))
    pixels = [tuple(sample(x, y, c) for c in range(3)) + (rng.randrange(top + 1) if alpha else top,)
              for y in range(height) for x in range(width)]
    return width, height, depth, pixels


def samples(image, channel):
    width, height, depth, pixels = image
    p = numpy.array(pixels, dtype=numpy.int64).reshape(height, width, 4)
    r, g, b, a = (p[:, :, c] for c in range(4))
    if channel == "lightness":
        return numpy.maximum(numpy.maximum(r, g), b) + numpy.minimum(numpy.minimum(r, g), b)
    if channel == "luma":
        return (54 * r + 183 * g + 19 * b + 128) >> 8
    return {"red": r, "green": g, "blue": b, "alpha": a}[channel]


def deepest(image):
    level = 1
    while max(image[0], image[1]) > 1 << level:
        level += 1
    return level


def transform(image, channel, levels):
    """{"cA2": array, "cH2": …}, orthonormal, by PyWavelets, and its own mosaic."""
    import warnings
    with warnings.catch_warnings():
        # It calls levels of a line shorter than two too deep; they are defined all the same.
        warnings.simplefilter("ignore")
        coefficients = pywt.wavedec2(samples(image, channel).astype(numpy.float64), "haar",
                                     mode="symmetric", level=levels)
        mosaic, _ = pywt.coeffs_to_array(coefficients, padding=numpy.nan)
    bands = {"cA%d" % levels: coefficients[0]}
    for i, details in enumerate(coefficients[1:]):
        for name, band in zip("HVD", details):
            bands["c%s%d" % (name, levels - i)] = band
    return bands, mosaic


def level_of(band):
    return int(band[2:])


def random_cases(count, largest):
    rng = random.Random(SEED)
    print("# SOFTBOX_TEST_SEED=%d" % SEED)
    for i in range(count):
        kind = i % 5
        width = rng.randint(1, largest) if kind != 1 else 1
        height = rng.randint(1, largest) if kind != 2 else 1
        if kind == 3:
            width, height = rng.choice((2, 3, 5, 7, 11, 13, 31, 37)), rng.choice((2, 3, 5, 7, 17, 29))
        image = picture(rng, width, height, rng.choice((8, 16)), smooth=kind == 4)
        yield image, rng.choice(CHANNELS), rng.randint(1, deepest(image))


def close(actual, expected, scale):
    return numpy.abs(actual - expected).max() <= 1e-6 * scale


# --- Files ----------------------------------------------------------------------------------------


@test
def arrays():
    """Every band is that of PyWavelets, whose level L is 2^L times as large."""
    for image, channel, levels in random_cases(60, 70):
        write_png("in.png", image)
        shutil.rmtree("bands", ignore_errors=True)
        done("in.png", "--subbands", "bands", "--levels=%d" % levels, "--channel=%s" % channel)
        expected, _ = transform(image, channel, levels)
        assert sorted(os.listdir("bands")) == sorted("in-%s.npy" % band for band in expected)
        for band, values in expected.items():
            name = "bands/in-%s.npy" % band
            with open(name, "rb") as f:
                assert f.read(8) == b"\x93NUMPY\x01\x00", name
                length = struct.unpack("<H", f.read(2))[0]
                assert (10 + length) % 64 == 0 and f.read(length).endswith(b"\n")
            actual = numpy.load(name)
            assert actual.dtype == numpy.dtype("<f4") and actual.flags.c_contiguous
            assert actual.shape == values.shape, (band, actual.shape, values.shape)
            assert close(actual * 2.0 ** level_of(band), values, (1 << image[2]) * 2.0 ** level_of(band)), \
                (image[:3], channel, levels, band)


@test
def exact():
    """On whole numbers nothing is rounded: 4 levels of 8 bits are PyWavelets' to the last bit."""
    rng = random.Random(1)
    image = picture(rng, 64, 48, 8)
    write_png("in.png", image)
    done("in.png", "--subbands", "bands", "--levels=4", "--channel=green")
    values = samples(image, "green").astype(numpy.float64)
    for level in range(1, 5):
        p, q, r, t = values[::2, ::2], values[::2, 1::2], values[1::2, ::2], values[1::2, 1::2]
        for band, by_hand in (("cH", p + q - r - t), ("cV", p - q + r - t), ("cD", p - q - r + t)):
            assert (numpy.load("bands/in-%s%d.npy" % (band, level)) == by_hand / 4).all(), (band, level)
        values = (p + q + r + t) / 4
    assert (numpy.load("bands/in-cA4.npy") == values).all()


@test
def grey_pictures():
    rng = random.Random(2)
    for depth in (8, 16):
        image = picture(rng, 23, 17, depth)
        write_png("in.png", image)
        shutil.rmtree("bands", ignore_errors=True)
        shutil.rmtree("grey", ignore_errors=True)
        done("in.png", "--subbands", "bands", "--levels=3", "--channel=red")
        done("in.png", "--subbands", "grey", "--levels=3", "--channel=red", "--format=png16")
        for name in os.listdir("bands"):
            values = numpy.load("bands/" + name).astype(numpy.float64)
            with open("grey/" + name.replace(".npy", ".png"), "rb") as f:
                data = f.read()
            assert struct.unpack(">IIBB", data[16:26]) == (values.shape[1], values.shape[0], 16, 0)
            text = b"Softbox-Mapping\0" + (b"grey = 32768 + value * 64" if depth == 8
                                           else b"grey = 32768 + value / 4")
            assert struct.pack(">I", len(text)) + b"tEXt" + text in data, name
            width, height, bits, pixels = parse_png(data)
            scaled = values * 64 if depth == 8 else values / 4
            expected = numpy.clip(numpy.floor(32768 + scaled + 0.5), 0, 65535)
            actual = numpy.array([p[0] for p in pixels]).reshape(height, width)
            assert bits == 16 and (actual == expected).all(), (depth, name)


@test
def mosaic():
    """Places as PyWavelets lays them; zero is grey, gaps are black."""
    for image, channel, levels in random_cases(25, 40):
        write_png("in.png", image)
        done("in.png", "--mosaic=m.png", "--levels=%d" % levels, "--channel=%s" % channel, "--force")
        bands, expected = transform(image, channel, levels)
        width, height, depth, pixels = read_png("m.png")
        assert (height, width, depth) == expected.shape + (8,), (width, height, expected.shape)
        actual = numpy.array([p[0] for p in pixels]).reshape(height, width)
        unit = (257.0 if image[2] == 16 else 1.0) * (2 if channel == "lightness" else 1)
        rows, columns = bands["cA%d" % levels].shape
        grey = 127.5 * (1 + numpy.clip(expected / unit / 255, -1, 1))
        grey[:rows, :columns] = expected[:rows, :columns] / unit / 2 ** levels
        assert (numpy.abs(numpy.where(numpy.isnan(grey), 0, grey) - actual) <= 1).all()


@test
def several():
    rng = random.Random(3)
    os.makedirs("a")
    images = {name: picture(rng, 9 + i, 8, 8) for i, name in enumerate(("x.png", "a/x.png", "y.png"))}
    for name, image in images.items():
        write_png(name, image)
    done("x.png", "a/x.png", "y.png", "--subbands=bands", "--mosaic=mosaics", "--levels=1", "-o", "out")
    assert sorted(os.listdir("bands")) == sorted("%s-%s1.npy" % (stem, band) for stem in ("x", "x-2", "y")
                                                 for band in ("cA", "cH", "cV", "cD"))
    assert sorted(os.listdir("mosaics")) == sorted(os.listdir("out")) == ["x-2.png", "x.png", "y.png"]
    assert read_png("out/x-2.png") == images["a/x.png"]
    assert numpy.load("bands/x-2-cA1.npy").shape == (4, 5)


@test
def results():
    """It is the edited picture that is transformed."""
    rng = random.Random(4)
    write_png("in.png", picture(rng, 40, 30, 8, alpha=False))
    done("in.png", "-e", "blur:radius=3,linear=0", "-e", "bands:gain1=0", "-o", "out.png")
    done("in.png", "-e", "blur:radius=3,linear=0", "-e", "bands:gain1=0", "--subbands=edited", "--levels=2")
    done("out.png", "--subbands=plain", "--levels=2")
    for name in os.listdir("edited"):
        assert (numpy.load("edited/" + name) == numpy.load("plain/" + name.replace("in-", "out-"))).all()


@test
def edit_by_library():
    """Dropping bands and shrinking coefficients, by PyWavelets and back, within the rounding."""
    rng = random.Random(5)
    image = picture(rng, 37, 29, 16, alpha=False, smooth=True)
    write_png("in.png", image)
    done("in.png", "-e", "bands:levels=3,threshold=8,gainD1=0,gain2=0.5", "-o", "out.png")
    actual = numpy.array(read_png("out.png")[3]).reshape(29, 37, 4)
    for c, channel in enumerate(("red", "green", "blue")):
        coefficients = pywt.wavedec2(samples(image, channel).astype(numpy.float64), "haar",
                                     mode="symmetric", level=3)
        changed = [coefficients[0]]
        for i, (h, v, d) in enumerate(coefficients[1:]):
            level = 3 - i
            gain = 0.5 if level == 2 else 1
            h, v, d = (pywt.threshold(band, 8 * 257, "soft") * gain for band in (h, v, d))
            changed.append((h, v, d * (0 if level == 1 else 1)))
        back = pywt.waverec2(changed, "haar", mode="symmetric")[:29, :37]
        # An odd last column pairs with itself: PyWavelets' inverse has the same sample there.
        assert numpy.abs(numpy.clip(numpy.rint(back), 0, 65535) - actual[:, :, c]).max() <= 1, channel


# --- Statistics -----------------------------------------------------------------------------------


@test
def statistics():
    for image, channel, levels in random_cases(40, 60):
        write_png("in.png", image)
        report = json.loads(done("in.png", "--statistics", "--json", "--levels=%d" % levels,
                                 "--channel=%s" % channel))
        assert len(report) == 1
        report = report[0]
        assert (report["width"], report["height"], report["depth"]) == image[:3]
        assert (report["channel"], report["levels"]) == (channel, levels)
        expected, _ = transform(image, channel, levels)
        assert [b["band"] for b in report["bands"]] == list(expected)
        # Float32 loses digits of deep levels; the bands themselves are compared in arrays().
        shutil.rmtree("bands", ignore_errors=True)
        done("in.png", "--subbands", "bands", "--levels=%d" % levels, "--channel=%s" % channel)
        bands = {band: numpy.load("bands/in-%s.npy" % band).astype(numpy.float64) * 2.0 ** level_of(band)
                 for band in expected}
        total = sum((x * x).sum() for x in bands.values())
        for row in report["bands"]:
            x = bands[row["band"]]
            assert (row["rows"], row["columns"]) == x.shape and row["count"] == x.size
            assert row["level"] == level_of(row["band"]) and row["orientation"] == row["band"][1]
            counts = numpy.unique(numpy.floor(x + 0.5), return_counts=True)[1] / x.size
            for key, value in (("mean", x.mean()), ("deviation", x.std()), ("energy", (x * x).sum()),
                               ("share", (x * x).sum() / total if total else 0),
                               ("near_zero", (numpy.abs(x) < 0.5).mean()),
                               ("entropy", -(counts * numpy.log2(counts)).sum())):
                assert math.isclose(row[key], value, rel_tol=1e-9, abs_tol=1e-6), (row["band"], key, row[key], value)
            width = row["bin_width"]
            bins = numpy.clip(numpy.floor(x / width + 0.5) + 127, 0, 254).astype(int)
            assert row["histogram"] == numpy.bincount(bins.ravel(), minlength=255).tolist()
        noise = numpy.median(numpy.abs(bands["cD1"])) / 0.6745
        assert math.isclose(report["noise"], noise, rel_tol=1e-12, abs_tol=1e-12)
        unit = (257 if image[2] == 16 else 1) * (2 if channel == "lightness" else 1)
        assert math.isclose(report["noise_levels"], noise / unit, rel_tol=1e-12, abs_tol=1e-12)
        if levels <= (4 if image[2] == 16 else 8) - (channel == "lightness"):
            assert report["reconstruction_error"] == 0
        assert report["reconstruction_error"] < 0.5


@test
def noise_is_found():
    """Gaussian noise of a known strength over a smooth picture."""
    rng = random.Random(6)
    pixels = [(v, v, v, 255) for y in range(256) for x in range(256)
              for v in [max(0, min(255, round(128 + 40 * math.sin(x / 60) + rng.gauss(0, 9))))]]
    write_png("in.png", (256, 256, 8, pixels))
    report = json.loads(done("in.png", "--statistics", "--json", "--channel=luma"))[0]
    assert 8.5 < report["noise"] < 9.5, report["noise"]
    after = json.loads(done("in.png", "--statistics", "--json", "--channel=luma", "-e", "bands:threshold=27"))[0]
    assert after["noise"] < 1 and 0 < after["kept"] < 0.1 and 20 < after["psnr"] < 40, after


@test
def effect():
    """What an edit of bands does is told of its own input and output, whatever stands around it."""
    rng = random.Random(9)
    image = picture(rng, 61, 47, 8, alpha=False, smooth=True)
    write_png("in.png", image)
    bands, blur = "bands:levels=3,threshold=8,gainD1=0", "blur:radius=1.5,linear=0"

    def measured(*edits):
        options = [word for edit in edits for word in ("-e", edit)]
        return json.loads(done("in.png", "--statistics", "--json", *options))[0]

    def distance(a, b):
        a, b = (numpy.array(read_png(name)[3], float)[:, :3] for name in (a, b))
        return 10 * math.log10(255 ** 2 / ((a - b) ** 2).mean())
    alone = measured(bands)
    done("in.png", "-e", bands, "-o", "alone.png")
    assert math.isclose(alone["psnr"], distance("in.png", "alone.png"), rel_tol=1e-9), alone["psnr"]
    before = after = 0
    for channel in ("red", "green", "blue"):
        details = pywt.wavedec2(samples(image, channel) * 257.0, "haar", mode="symmetric", level=3)[1:]
        for i, level in enumerate((3, 2, 1)):
            for orientation, band in zip("HVD", details[i]):
                before += (numpy.abs(band) > 1e-3).sum()
                if (orientation, level) != ("D", 1):
                    after += (numpy.abs(band) > 8 * 257 + 1e-3).sum()  # ties are zero
    assert math.isclose(alone["kept"], after / before, rel_tol=1e-9), (alone["kept"], after / before)
    followed = measured(bands, blur)
    assert (followed["kept"], followed["psnr"]) == (alone["kept"], alone["psnr"])

    # Of several it is the last one.
    second = measured(blur, "bands:gain1=0", bands, blur)
    done("in.png", "-e", blur, "-e", "bands:gain1=0", "-o", "second.png")
    done("in.png", "-e", blur, "-e", "bands:gain1=0", "-e", bands, "-o", "third.png")
    assert math.isclose(second["psnr"], distance("second.png", "third.png"), rel_tol=1e-9)
    assert "kept" not in measured(blur) and "psnr" not in measured("bands:levels=3")


@test
def json_whatever_there_is():
    """No number that JSON has not, and any name."""
    def constant(word):
        raise AssertionError("no JSON: " + word)

    def report(*arguments):
        return json.loads(done(*arguments, "--statistics", "--json"), parse_constant=constant)
    write_png("one.png", (1, 1, 8, [(10, 20, 30, 255)]))
    write_png("black.png", (9, 5, 8, [(0, 0, 0, 255)] * 45))
    for name, side in (("one.png", 1), ("black.png", 4)):
        for channel in CHANNELS:
            row, = report(name, "--channel", channel)
            assert (row["levels"], row["noise"], row["reconstruction_error"]) == (side, 0, 0), row
            empty = name == "black.png" and channel != "alpha"
            shares = [band["share"] for band in row["bands"]]
            assert shares == [0 if empty else 1] + [0] * (len(shares) - 1), shares
            assert all(band["entropy"] == 0 for band in row["bands"]), row
    # Nothing to keep, and nothing lost: no share is more than all, and equal has no number.
    row, = report("one.png", "-e", "bands:gain1=0")
    assert (row["kept"], row["psnr"]) == (1, None), row
    names = ['"', "a\\b", "line\nbreak\ttab", "\x01\x7f", "\u00fc\u2028\U0001f4f7", "&lt;{}"]
    for name in names:
        shutil.copy("one.png", name + ".png")
    assert [row["file"] for row in report(*(name + ".png" for name in names))] == [
        name + ".png" for name in names]
    shutil.copy("one.png", b"\xff\xfe.png")
    row, = json.loads(done(b"\xff\xfe.png", "--statistics", "--json"), parse_constant=constant)
    assert row["file"].endswith(".png"), row["file"]
    # One that cannot be read is missing from what is still whole.
    result = run("missing.png", "one.png", "--statistics", "--json")
    assert result.returncode == 1, result
    assert [row["file"] for row in json.loads(result.stdout)] == ["one.png"]


@test
def table():
    rng = random.Random(7)
    write_png("in.png", picture(rng, 20, 20, 8, alpha=False))
    lines = done("in.png", "--statistics", "--levels=2", "-e", "bands:gain1=0").splitlines()
    assert lines[0].startswith("in.png: 20 × 20 pixels, 8 bits, lightness, 2 levels"), lines
    assert [line.split()[0] for line in lines[2:9]] == ["cA2", "cH2", "cV2", "cD2", "cH1", "cV1", "cD1"]
    assert lines[9] == "noise: 0.0000; in 8-bit levels 0.0000" and lines[10] == "reconstruction error: 0.000000"
    assert lines[11].startswith("coefficients kept: ") and lines[12].startswith("PSNR: "), lines


# --- Bad input ------------------------------------------------------------------------------------


@test
def refusals():
    rng = random.Random(8)
    write_png("in.png", picture(rng, 20, 9, 8))
    before = sorted(os.listdir("."))
    for arguments, words in (
            (["--subbands=b", "--levels=0"], "from 1 to 20"),
            (["--subbands=b", "--levels=21"], "from 1 to 20"),
            (["--subbands=b", "--levels=x"], "--levels=x"),
            (["--subbands=b", "--channel=hue"], "lightness, luma, red, green, blue, alpha"),
            (["--subbands=b", "--format=tiff"], "npy, png16"),
            (["--subbands="], "empty"),
            (["--mosaic=m.jpg"], ".png"),
            (["--mosaic=-"], "to a file"),
            (["--statistics", "-o", "-"], "standard output"),
            (["--mosaic=m.png", "-o", "m.png"], "one place"),
            (["--levels=3", "-o", "x.png"], "--levels"),
            (["--channel=red", "-o", "x.png"], "--channel"),
            (["--mosaic=m.png", "--format=npy"], "--format"),
            (["--subbands=b", "--json"], "--json")):
        refused(2, "in.png", *arguments, says=[words])
    assert sorted(os.listdir(".")) == before
    for arguments in (["--mosaic=m.png"], ["--statistics"]):
        refused(1, "in.png", "--levels=6", *arguments, says=["in.png", "6 levels", "1 to 5"])
    refused(1, "missing.png", "--statistics", says=["missing.png"])
    assert sorted(os.listdir(".")) == before
    refused(1, "in.png", "--subbands=in.png", says=["in.png"])
    done("in.png", "--subbands=b", "--levels=1")
    with open("b/in-cA1.npy", "rb") as f:
        content = f.read()
    refused(1, "in.png", "--subbands=b", "--levels=1", says=["b/in-c", "--force"])
    done("in.png", "--subbands=b", "--levels=1", "--channel=alpha", "--force")
    with open("b/in-cA1.npy", "rb") as f:
        assert f.read() != content


sys.exit(main("subbands"))
