#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an exported PNG holds, as other programs read it: ExifTool its metadata, pngcheck its form,
ImageMagick its pixels.

test-export.py SOFTBOX-CLI CORPUS; speaks TAP."""

import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
from tap import main, test

CLI, CORPUS = map(os.path.abspath, sys.argv[1:3])
TIMEOUT = 120


def run(*command, status=0, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, **more)
    assert result.returncode == status, (command, result.returncode, result.stderr.decode(errors="replace"))
    return result


def export(source, target="out.png", *options):
    err = run(CLI, source, "-o", target, "--force", *options).stderr.decode()
    run("pngcheck", "-q", target)
    return err


def read(path):
    """All that ExifTool finds, by "Group:Tag"; the groups are ExifTool's family 1."""
    found = json.loads(run("exiftool", "-j", "-G1", "-a", "-n", path).stdout)[0]
    return {key: value for key, value in found.items()
            if key.split(":")[0] not in ("SourceFile", "ExifTool", "System", "File", "Composite")}


def pixels(path, depth=8):
    return run("convert", path, "-depth", str(depth), "rgba:-").stdout


def corpus(name):
    return os.path.join(CORPUS, name)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(path, width, height, depth, kind, rows, extra=b""):
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n"
                + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)) + extra
                + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 1)) + chunk(b"IEND", b""))


def equal(found, expected, what=""):
    assert found == expected, (what, found, expected)


# --- Metadata -------------------------------------------------------------------------------------


def has_place(found):
    words = ("GPS", "City", "Location", "Country", "State", "Province")
    return [key for key in found if any(word in key.split(":")[1] for word in words)]


def photo():
    """A JPEG with everything that a phone, a camera and an archive write."""
    source = corpus("meta/gps_icc_xmp_orient6.jpg")
    shutil.copy(source, "photo.jpg")
    run("exiftool", "-q", "-overwrite_original", "-FNumber=2.8", "-ExposureTime=1/125", "-ISO=200",
        "-DateTimeOriginal=2024:05:01 13:07:00", "-Artist=Test Person", "-IPTC:Keywords=one",
        "-IPTC:City=Bonn", "-IPTC:Headline=A headline", "-XMP-photoshop:City=Bonn",
        "-XMP-iptcExt:LocationShownCity=Bonn", "-XMP-dc:Title=A title", "-XMP-xmp:Label=red",
        "-XMP-tiff:Orientation=6", "-XMP-exif:GPSLatitude=52.5", "-Comment=A comment",
        "-ThumbnailImage<=" + corpus("jpeg/1x1.jpg"), "-n", "photo.jpg")
    before = read("photo.jpg")
    assert "IFD1:ThumbnailImage" in before and len(has_place(before)) > 5, before
    return "photo.jpg"


@test
def metadata_is_kept():
    export(photo())
    found = read("out.png")
    for key, value in {
            "IFD0:Make": "TestCorp", "IFD0:Model": "Cam 01", "IFD0:Artist": "Test Person",
            "IFD0:Orientation": 1, "ExifIFD:FNumber": 2.8, "ExifIFD:ISO": 200,
            "ExifIFD:ExposureTime": 0.008, "ExifIFD:DateTimeOriginal": "2024:05:01 13:07:00",
            "ExifIFD:ExifImageWidth": 96, "ExifIFD:ExifImageHeight": 64,
            "PNG-pHYs:PixelsPerUnitX": 11811, "PNG-pHYs:PixelsPerUnitY": 11811,
            "PNG-pHYs:PixelUnits": 1, "IPTC:Keywords": "one", "IPTC:Headline": "A headline",
            "XMP-dc:Title": "A title", "XMP-dc:Creator": "Test Person", "XMP-xmp:Label": "red",
            "PNG:Comment": "A comment", "PNG:ImageWidth": 96, "PNG:ImageHeight": 64}.items():
        equal(found.get(key), value, key)
    equal(has_place(found), [], "places")
    left = [key for key in found if "Thumbnail" in key or "IFD1" in key or key == "XMP-tiff:Orientation"]
    equal(left, [], "what shows the old picture")
    with open("out.png", "rb") as f:
        assert b"\xff\xd8\xff" not in f.read(), "a JPEG within"


@test
def the_location_is_kept_when_asked_for():
    export(photo(), "out.png", "--keep-location")
    found = read("out.png")
    assert abs(found["GPS:GPSLatitude"] - 52.5033) < 1e-3, found
    assert abs(found["GPS:GPSLongitude"] - 13.41) < 1e-3, found
    equal(found.get("IPTC:City"), "Bonn")
    equal(found.get("XMP-photoshop:City"), "Bonn")
    assert not [key for key in found if "Thumbnail" in key or "IFD1" in key], found


@test
def nothing_is_kept_when_asked_for():
    export(photo(), "out.png", "--strip-metadata")
    groups = {key.split(":")[0] for key in read("out.png")}
    assert groups <= {"PNG", "ICC-header", "ICC_Profile"}, groups
    found = read("out.png")
    assert "PNG:Comment" not in found, found
    run(CLI, "photo.jpg", "-o", "x.png", "--strip-metadata", "--keep-location", status=2)


@test
def metadata_survives_a_second_export():
    export(photo(), "first.png", "--keep-location")
    export("first.png", "second.png", "--keep-location")
    first, second = read("first.png"), read("second.png")
    equal(second, first, "metadata")
    equal(pixels("second.png"), pixels("first.png"), "pixels")


@test
def what_cannot_be_kept_is_told():
    with open(corpus("jpeg/1x1.jpg"), "rb") as f:
        jpeg = f.read()
    for body, kind in ((b"Exif\0\0II*\0\xf0\xff\xff\xff" + b"x" * 40, "(EXIF)"),
                       (b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf", "(XMP)")):
        with open("bad.jpg", "wb") as f:
            f.write(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:])
        err = export("bad.jpg")
        assert "softbox-cli: warning: out.png: " in err and kind in err and err.count("\n") == 1, err
        equal(export("bad.jpg", "out.png", "--strip-metadata"), "")


@test
def texts_of_a_png():
    export(corpus("meta/text_chunks.png"))
    before, after = read(corpus("meta/text_chunks.png")), read("out.png")
    for key, value in before.items():
        if key.split(":")[0] in ("PNG", "PNG-pHYs", "XMP-dc", "XMP-xmp") and key not in (
                "PNG:ModifyDate", "PNG:ColorType", "PNG:BitDepth", "PNG:SRGBRendering", "PNG:Compression",
                "PNG:Filter", "PNG:Interlace"):
            equal(after.get(key), value, key)
    export(corpus("meta/text_key_invalid.png"))
    for name, ratio in (("phys_nonsquare", True), ("phys_zero", False)):
        export(corpus("meta/%s.png" % name))
        equal("PNG-pHYs:PixelsPerUnitX" in read("out.png"), ratio, name)


@test
def pages_and_tags_of_a_tiff():
    run("convert", corpus("tiff/rgb8.tif"), "(", corpus("tiff/grey16.tif"), ")", "pages.tif")
    run("exiftool", "-q", "-overwrite_original", "-IFD0:Artist=Test Person", "-FNumber=2.8",
        "-GPSLatitude=50", "-GPSLatitudeRef=N", "-IPTC:Keywords=one", "-XMP-dc:Title=A title", "pages.tif")
    err = export("pages.tif")
    assert "2 pages" in err, err
    found = read("out.png")
    for key, value in {"IFD0:Artist": "Test Person", "ExifIFD:FNumber": 2.8, "IPTC:Keywords": "one",
                       "XMP-dc:Title": "A title", "PNG:ImageWidth": 60}.items():
        equal(found.get(key), value, key)
    equal(has_place(found), [], "places")
    equal(export("pages.tif", "one.png", "--page=1"), "")
    equal(pixels("one.png"), pixels("out.png"), "page 1")
    equal(export("pages.tif", "two.png", "--page=2"), "")
    equal(read("two.png")["PNG:ImageWidth"], 64, "page 2")
    equal(read("two.png")["PNG:BitDepth"], 16, "its depth")
    err = run(CLI, "pages.tif", "-o", "x.png", "--page=3", status=1).stderr.decode()
    assert "no page 3" in err and "2 pages" in err, err
    err = run(CLI, corpus("png/rgba8.png"), "-o", "x.png", "--page=2", status=1).stderr.decode()
    assert "no pages" in err, err
    for wrong in ("0", "-1", "x", "1.5"):
        run(CLI, "pages.tif", "-o", "x.png", "--page=" + wrong, status=2)


@test
def texts_that_unpack_without_end_cost_little():
    packed = zlib.compress(b"x" * (100 << 20), 9)
    bomb = b"".join(chunk(b"zTXt", b"Comment\0\0" + packed) for _ in range(100))
    png("bomb.png", 4, 4, 8, 2, [bytes(12)] * 4, bomb)
    start = time.monotonic()
    script = "ulimit -v 1500000; exec \"$@\""
    run("sh", "-c", script, "sh", CLI, "bomb.png", "-o", "out.png", "--force")
    assert time.monotonic() - start < 10
    assert os.path.getsize("out.png") < 10000, os.path.getsize("out.png")
    # Of many small ones only so much is kept.
    png("many.png", 4, 4, 8, 2, [bytes(12)] * 4,
        b"".join(chunk(b"tEXt", b"Comment\0" + b"y" * 60000) for _ in range(100)))
    export("many.png")
    assert os.path.getsize("out.png") < 2 << 20


# --- How it is packed -----------------------------------------------------------------------------


@test
def every_picture_makes_a_sound_file():
    n = 0
    for path in sorted(glob.glob(os.path.join(CORPUS, "*", "*"))):
        if os.path.getsize(path) > 50000 or "5000x5000" in path:
            continue
        result = subprocess.run([CLI, path, "-o", "%d.png" % n], stderr=subprocess.PIPE, timeout=TIMEOUT)
        assert result.returncode in (0, 1), (path, result)
        n += 1 if result.returncode == 0 else 0
    assert n > 100, n
    names = glob.glob("*.png")
    equal(len(names), n, "files")
    run("pngcheck", "-q", *names)
    found = json.loads(run("exiftool", "-j", "-Warning", "-Error", *names).stdout)
    equal([one for one in found if "Warning" in one or "Error" in one], [], "warnings")


@test
def interlaced():
    for name in ("png/rgba8.png", "png/rgb16.png", "size/1x1.png", "size/2x3.png", "size/17x31.png",
                 "size/3x4093.png", "size/1023x5.png", "png/ga16.png", "alpha/alpha_1_of_255.png"):
        export(corpus(name), "plain.png")
        export(corpus(name), "laced.png", "--interlace")
        equal(read("laced.png")["PNG:Interlace"], 1, name)
        equal(read("plain.png")["PNG:Interlace"], 0, name)
        equal(pixels("laced.png", 16), pixels("plain.png", 16), name)


@test
def levels_of_compression():
    sizes = []
    source = corpus("bad/corrupt_mid.jpg")
    for level in range(10):
        export(source, "%d.png" % level, "--compression=%d" % level)
        equal(pixels("%d.png" % level), pixels("0.png"), "pixels of level %d" % level)
        sizes.append(os.path.getsize("%d.png" % level))
    assert sizes[0] > 400 * 300 * 3 and sizes[9] < sizes[1] < sizes[0] / 2, sizes
    export(source, "default.png")
    equal(os.path.getsize("default.png"), sizes[4], "the default")
    for wrong in ("-1", "10", "x", ""):
        run(CLI, source, "-o", "x.png", "--compression=" + wrong, status=2)


@test
def dithered():
    """A ramp of every value, many rows of it: what 8 bits can hold stays, all else is one of its two
    neighbours, in the right share."""
    width, height = 1024, 256
    values = [i * 65535 // 4095 for i in range(4096)]
    for part in range(4):
        ramp = values[part * 1024:part * 1024 + 1024]
        row = b"".join(struct.pack(">HHH", v, v, 65535 - v) for v in ramp)
        png("ramp.png", width, height, 16, 2, [row] * height)
        export("ramp.png", "out.png", "--depth=8", "--dither")
        export("ramp.png", "again.png", "--depth=8", "--dither", "--threads=1")
        with open("out.png", "rb") as a, open("again.png", "rb") as b:
            equal(a.read(), b.read(), "the same every time")
        data = pixels("out.png")
        for x, v in enumerate(ramp):
            found = data[4 * x::4 * width]
            low = v // 257
            assert set(found) <= {low, low + 1} if v % 257 else set(found) == {low}, (v, set(found))
            assert abs(sum(found) / height - v / 257) < 0.05, (v, sum(found) / height, v / 257)
            equal(data[4 * x + 1::4 * width], found, "greys stay greys")
    # Without it, to the nearest; and a picture of 8 bits is left alone.
    export("ramp.png", "plain.png", "--depth=8")
    assert pixels("plain.png") != data
    export(corpus("png/rgba8.png"), "a.png")
    export(corpus("png/rgba8.png"), "b.png", "--dither")
    with open("a.png", "rb") as a, open("b.png", "rb") as b:
        equal(b.read(), a.read(), "8 bits")
    run(CLI, "ramp.png", "-o", "x.png", "--depth=16", "--dither", status=2)


@test
def sixteen_bits_stay():
    export(corpus("png/rgb16_ramp.png"))
    equal(read("out.png")["PNG:BitDepth"], 16)
    for name in ("tiff/grey16.tif", "fmt/ppm_16.ppm"):
        equal(export(corpus(name)), "", name)
        equal(read("out.png")["PNG:BitDepth"], 16, name)
        equal(pixels("out.png", 16), pixels(corpus(name), 16), name)


@test
def time_of_a_large_picture():
    """Not asserted: 24 megapixels on whatever machine this is."""
    with open("large.ppm", "wb") as f:
        f.write(b"P6 6000 4000 255\n")
        row = bytes((x * 7 + x // 3 % 29 + c * 50) & 255 for x in range(6000) for c in range(3))
        for y in range(4000):
            shift = y * 3 % 18000
            f.write(row[shift:] + row[:shift])
    start = time.monotonic()
    export("large.ppm")
    print("# opened and exported in %.1f s" % (time.monotonic() - start))


sys.exit(main("export"))
