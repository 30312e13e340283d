# SPDX-License-Identifier: MIT
"""PNG files and the blur for test-cli.py, in nothing but Python: what the tool writes is compared
with nothing of its own making. A picture is (width, height, depth, list of RGBA tuples)."""

import bisect
import math
import random
import struct
import zlib


# --- Files ----------------------------------------------------------------------------------------


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(name, picture):
    width, height, depth, pixels = picture
    opaque = all(p[3] == (1 << depth) - 1 for p in pixels)
    code = ">%dB" if depth == 8 else ">%dH"
    raw = b""
    for y in range(height):
        row = [s for p in pixels[y * width:(y + 1) * width] for s in (p[:3] if opaque else p)]
        raw += b"\0" + struct.pack(code % len(row), *row)
    header = struct.pack(">IIBBBBB", width, height, depth, 2 if opaque else 6, 0, 0, 0)
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw))
                + chunk(b"IEND", b""))


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def parse_png(data):
    """Grey or colour, with or without alpha, 8 or 16 bits; every checksum is looked at."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG signature"
    at, idat, kind = 8, b"", None
    while kind != b"IEND":
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            idat += body
        at += 12 + length
    assert at == len(data), "something after the end"
    assert interlace == 0 and depth in (8, 16)
    n = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    step = n * depth // 8
    stride = width * step
    raw = zlib.decompress(idat)
    assert len(raw) == (stride + 1) * height
    above, pixels, top = bytearray(stride), [], (1 << depth) - 1
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a = row[i - step] if i >= step else 0
            b, c = above[i], above[i - step] if i >= step else 0
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255
        s = struct.unpack(">%d%s" % (width * n, "B" if depth == 8 else "H"), bytes(row))
        for x in range(width):
            p = s[x * n:(x + 1) * n]
            pixels.append({1: lambda: (p[0],) * 3 + (top,), 2: lambda: (p[0],) * 3 + (p[1],),
                           3: lambda: tuple(p) + (top,), 4: lambda: tuple(p)}[n]())
        above = row
    return width, height, depth, pixels


def read_png(name):
    with open(name, "rb") as f:
        return parse_png(f.read())


def noise(width, height, depth, seed, opaque=False):
    rand, top = random.Random(seed), (1 << depth) - 1
    alphas = [top] if opaque else [0, 0, 1, top, top, None]
    return width, height, depth, [
        tuple(rand.randint(0, top) for _ in range(3))
        + ((lambda a: rand.randint(0, top) if a is None else a)(rand.choice(alphas)),)
        for _ in range(width * height)]


# --- The blur by its definition -------------------------------------------------------------------

TONE = []


def tone(u):
    x = u / 65535
    return 65535 * (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4)


def decode(u):
    return math.floor(tone(u) + 0.5)


def encode(v):
    if not TONE:
        TONE.extend(tone(u) for u in range(65536))
    i = bisect.bisect_left(TONE, v)
    if i == 0:
        return 0
    return i - 1 if i == 65536 or v - TONE[i - 1] <= TONE[i] - v else i


def edge_index(i, n, mirror):
    if not mirror:
        return min(max(i, 0), n - 1)
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def box_line(line, radius, mirror):
    whole, k = divmod(int(radius * 16), 16)
    d, n, out = 16 * (2 * whole + 1) + 2 * k, len(line), []
    for x in range(n):
        at = lambda j: line[edge_index(x + j, n, mirror)]
        total = 16 * sum(at(j) for j in range(-whole, whole + 1)) + k * (at(-whole - 1) + at(whole + 1))
        out.append((2 * total + d) // (2 * d))
    return out


def box(plane, width, height, radius, passes, mirror, direction):
    for _ in range(passes if direction != "vertical" else 0):
        plane = [v for y in range(height)
                 for v in box_line(plane[y * width:(y + 1) * width], radius, mirror)]
    for _ in range(passes if direction != "horizontal" else 0):
        columns = [box_line(plane[x::width], radius, mirror) for x in range(width)]
        plane = [columns[x][y] for y in range(height) for x in range(width)]
    return plane


def mask(width, height, area, feather, invert):
    shape, x0, y0, w, h = area
    m = []
    for j in range(height):
        for i in range(width):
            inside = x0 <= i < x0 + w and y0 <= j < y0 + h
            if shape == "ellipse":
                inside = (2 * (i - x0) + 1 - w) ** 2 * h * h + (2 * (j - y0) + 1 - h) ** 2 * w * w <= w * w * h * h
            m.append(65535 if inside != bool(invert) else 0)
    return box(m, width, height, feather, 1, False, "both") if feather else m


def blur(picture16, radius=14, passes=3, linear=1, edge="clamp", direction="both", area=None,
         feather=0, invert=0):
    width, height, _, pixels = picture16
    code, uncode = (decode, encode) if linear else (lambda v: v, lambda v: v)
    planes = []
    for c in range(3):
        planes.append([(2 * code(p[c]) * p[3] + 65535) // 131070 for p in pixels])
    planes.append([p[3] for p in pixels])
    planes = [box(p, width, height, radius, passes, edge == "mirror", direction) for p in planes]
    result = []
    for r, g, b, a in zip(*planes):
        result.append(tuple(uncode(min(65535, (2 * v * 65535 + a) // (2 * a))) if a else uncode(0)
                            for v in (r, g, b)) + (a,))
    if area is not None:
        m = mask(width, height, area, feather, invert)
        for i, (p, q) in enumerate(zip(pixels, result)):
            if m[i] == 0:
                result[i] = p
            elif m[i] < 65535:
                whole = p[3] * (65535 - m[i]) + q[3] * m[i]
                a = (2 * whole + 65535) // 131070
                result[i] = tuple(
                    (2 * (p[c] * p[3] * (65535 - m[i]) + q[c] * q[3] * m[i]) + whole) // (2 * whole)
                    if whole else p[c] for c in range(3)) + (a,)
    return width, height, 16, result


def to16(picture):
    width, height, depth, pixels = picture
    return picture if depth == 16 else (width, height, 16, [tuple(257 * s for s in p) for p in pixels])


def to8(picture):
    width, height, _, pixels = picture
    return width, height, 8, [tuple((s * 255 + 32895) >> 16 for s in p) for p in pixels]
