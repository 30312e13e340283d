# SPDX-License-Identifier: MIT
"""What the tests of the window share: the program on a screen of its own, real keys and a real
pointer, what is on the screen, what the program says on D-Bus and to screen readers, and pictures.

Nothing waits for a time: every wait is for something that can be seen, and gives up after LIMIT
seconds, which only a broken program or a very busy machine needs. The programs of these tests get
the two paths SOFTBOX and SOFTBOX_CLI and speak TAP."""

import ctypes
import functools
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

from gi.repository import Gio, GLib

SOFTBOX = os.path.abspath(sys.argv[1])
CLI = os.path.abspath(sys.argv[2])
# What makes the accessibility bus tell true places; of the same build tree.
PLACES = os.path.join(os.path.dirname(SOFTBOX), "..", "..", "tests", "places.so")
LIMIT = int(os.environ.get("SOFTBOX_TEST_LIMIT", 90))

ID = "io.github.softbox.Softbox"
ROOT = "/io/github/softbox/Softbox"
# How the canvas looks where there is no picture, and under transparency.
GROUND = {"light": 0xEB, "dark": 0x24}
CHECKER = {"light": (0xCC, 0xF7), "dark": (0x5A, 0x6E)}
CHECKER_SIZE = 12
# By their numbers on the accessibility bus; the names there are not the same in every GTK.
ROLES = {7: "switch", 16: "dialog", 23: "window", 27: "image", 29: "label", 32: "list item", 35: "menu item",
         43: "button", 51: "slider", 52: "spin button", 62: "button"}

tests = []


def test(function):
    tests.append(function)
    return function


def wait(what, condition, limit=LIMIT):
    """The first true answer of condition."""
    end = time.monotonic() + limit
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError("waited in vain for: %s" % what)
        time.sleep(0.02)


def equal(found, expected, what=""):
    if found != expected:
        raise AssertionError("%s: found %.300r, expected %.300r" % (what, found, expected))


# --- Pointer and keys -----------------------------------------------------------------------------


def xdotool(*arguments):
    return subprocess.run(["xdotool", *[str(a) for a in arguments]], stdout=subprocess.PIPE,
                          check=True, timeout=LIMIT).stdout.decode().strip()


def press(*keys):
    xdotool("key", *keys)


def write(text):
    xdotool("type", text)


def move(point):
    xdotool("mousemove", *point)


def click(point, button=1):
    xdotool("mousemove", *point, "click", button)


def active():
    """The X window that has the keyboard, "" for none."""
    return subprocess.run(["xdotool", "getactivewindow"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode().strip()


def park():
    """The pointer where it touches nothing."""
    move((0, 0))


# --- The screen -----------------------------------------------------------------------------------


class Image(ctypes.Structure):
    """XImage, as far as it is looked at."""

    _fields_ = [(name, ctypes.c_int) for name in ("width", "height", "xoffset", "format")] + [
        ("data", ctypes.c_void_p)] + [(name, ctypes.c_int) for name in (
            "byte_order", "bitmap_unit", "bitmap_bit_order", "bitmap_pad", "depth", "bytes_per_line",
            "bits_per_pixel")]


xlib = ctypes.CDLL("libX11.so.6")
xlib.XOpenDisplay.restype = ctypes.c_void_p
xlib.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
xlib.XDefaultRootWindow.restype = ctypes.c_ulong
xlib.XGetImage.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_int, ctypes.c_uint,
                           ctypes.c_uint, ctypes.c_ulong, ctypes.c_int]
xlib.XGetImage.restype = ctypes.POINTER(Image)
xlib.XDestroyImage.argtypes = [ctypes.POINTER(Image)]
display = xlib.XOpenDisplay(None)


def screen(rectangle):
    """The bytes of the RGB pixels that are on the screen now."""
    x, y, width, height = rectangle
    image = xlib.XGetImage(display, xlib.XDefaultRootWindow(display), x, y, width, height, 2**32 - 1, 2)
    assert image, rectangle
    kind = image.contents
    equal((kind.bits_per_pixel, kind.byte_order, kind.bytes_per_line), (32, 0, 4 * width), "pixels")
    data = ctypes.string_at(kind.data, 4 * width * height)
    xlib.XDestroyImage(image)
    rgb = bytearray(3 * width * height)
    rgb[0::3], rgb[1::3], rgb[2::3] = data[2::4], data[1::4], data[0::4]
    return bytes(rgb)


def difference(found, expected, width):
    """Where two regions differ, in words."""
    if found == expected:
        return "nothing"
    if len(found) != len(expected):
        return "%d and %d bytes" % (len(found), len(expected))
    at = next(i for i in range(len(found)) if found[i] != expected[i])
    count = sum(1 for a, b in zip(found, expected) if a != b)
    return "%d samples, first at (%d, %d): found %r, expected %r" % (
        count, at // 3 % width, at // 3 // width, tuple(found[at // 3 * 3:at // 3 * 3 + 3]),
        tuple(expected[at // 3 * 3:at // 3 * 3 + 3]))


# --- D-Bus ----------------------------------------------------------------------------------------

session = Gio.bus_get_sync(Gio.BusType.SESSION, None)


def call(bus, name, path, interface, method, arguments=None):
    return bus.call_sync(name, path, interface, method, arguments, None,
                         Gio.DBusCallFlags.NO_AUTO_START, LIMIT * 1000, None).unpack()


class Node:
    """What a screen reader sees of a widget."""

    bus = None

    def __init__(self, name, path):
        self.owner, self.path = name, path

    def call(self, interface, method, arguments=None):
        return call(Node.bus, self.owner, self.path, interface, method, arguments)

    def property(self, name, interface="org.a11y.atspi.Accessible"):
        return self.call("org.freedesktop.DBus.Properties", "Get",
                         GLib.Variant("(ss)", (interface, name)))[0]

    @staticmethod
    def connect():
        address = call(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")[0]
        Node.bus = Gio.DBusConnection.new_for_address_sync(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)

    @staticmethod
    def application(pid):
        if Node.bus is None:
            session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None,
                              None, Gio.DBusCallFlags.NONE, LIMIT * 1000, None)
            Node.connect()
        try:
            root = Node("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
            for child in root.children():
                found = call(Node.bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                             "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                             GLib.Variant("(s)", (child.owner,)))[0]
                if found == pid:
                    return child
        except GLib.Error:
            pass  # the registry is on its way
        return None

    def children(self):
        return [Node(*entry) for entry in self.call("org.a11y.atspi.Accessible", "GetChildren")[0]]

    def role(self):
        return ROLES.get(self.call("org.a11y.atspi.Accessible", "GetRole")[0], "")

    def title(self):
        return self.property("Name")

    def extents(self):
        """x, y, width and height in its window, or None."""
        try:
            return self.call("org.a11y.atspi.Component", "GetExtents", GLib.Variant("(u)", (1,)))[0]
        except GLib.Error:
            return None

    def value(self):
        return self.property("CurrentValue", "org.a11y.atspi.Value")

    def focused(self):
        return bool(self.call("org.a11y.atspi.Accessible", "GetState")[0][0] >> 12 & 1)

    def act(self):
        """As a press, from a screen reader. A menu button may leave that to the button in it."""
        try:
            children = self.children()
            if len(children) == 1 and children[0].role() == self.role() == "button":
                return children[0].act()
            self.call("org.a11y.atspi.Action", "DoAction", GLib.Variant("(i)", (0,)))
        except GLib.Error:
            pass  # it went away meanwhile

    def walk(self):
        """All that has a place on screen, from the outside in."""
        yield self
        for child in self.children():
            extents = child.extents()
            if extents is None or (extents[2] > 0 and extents[3] > 0):
                yield from child.walk()

    def find(self, role, title, focused=False):
        """title: the whole name, or a compiled pattern. focused: and it has the keyboard."""
        try:
            for node in self.walk():
                if node.role() == role and (title.search(node.title()) if hasattr(title, "search")
                                            else node.title() == title):
                    if not focused or node.focused():
                        return node
        except GLib.Error:
            pass  # it went away meanwhile
        return None


# --- The program ----------------------------------------------------------------------------------

# What GTK says of widgets in its own windows: 4.18 of the heading of libadwaita 1.7's message
# dialogs, measured too narrow, and of the page numbers in its window of shortcuts.
KNOWN = re.compile(r".*(Trying to measure GtkLabel 0x[0-9a-f]+ for width of "
                   r"|GtkLabel 0x[0-9a-f]+ \(label\) reported min width -[0-9]+,).*\n")
FATAL = "fatal-warnings" if ctypes.CDLL("libadwaita-1.so.0").adw_get_minor_version() < 3 else "fatal-criticals"


@functools.lru_cache(maxsize=None)
def missing_device():
    """Why there is no GPU, "" where there is one."""
    said = subprocess.run([CLI, "--devices"], stdout=subprocess.PIPE, check=True, timeout=LIMIT,
                          env=dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE="")).stdout.decode()
    found = re.search("^cuda: not available: (.*)$", said, re.MULTILINE)
    return found.group(1) if found else ""


class Softbox:
    """A running program. env: more of the environment; settings: of its schema, as text; files and
    options as on the command line. Leaving the block asks it to end and looks at how it did."""

    running = []

    def __init__(self, *arguments, env=None, settings=None, ready=True):
        self.folder = tempfile.mkdtemp(prefix="config-", dir=os.getcwd())
        os.makedirs(self.folder + "/gtk-4.0")
        os.makedirs(self.folder + "/glib-2.0/settings")
        with open(self.folder + "/gtk-4.0/settings.ini", "w") as f:
            f.write("[Settings]\ngtk-enable-animations=0\n")
        with open(self.folder + "/glib-2.0/settings/keyfile", "w") as f:
            f.write("[io/github/softbox/Softbox]\n")
            # Told already: a toast lies over what the tests look at.
            told = {"told-device": GLib.Variant("s", missing_device()).print_(False)}
            for key, value in dict(told, **(settings or {})).items():
                f.write("%s=%s\n" % (key, value))
        self.dark = (settings or {}).get("style") == "'dark'"
        self.environment = dict(os.environ, XDG_CONFIG_HOME=self.folder, GSETTINGS_BACKEND="keyfile",
                                G_DEBUG=FATAL, LC_ALL="C.UTF-8", LANGUAGE="",
                                LD_PRELOAD=os.path.abspath(PLACES))
        self.environment.update(env or {})
        self.scale = int((env or {}).get("GDK_SCALE", 1))
        self.log = open(self.folder + "/log", "w+b")
        self.out = open(self.folder + "/out", "w+b")
        park()
        self.process = subprocess.Popen([SOFTBOX, *arguments], env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.log)
        Softbox.running.append(self)
        if ready:
            self.wait_picture()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            if self.process.poll() is None:
                self.discard()
            self.wait_end()

    def messages(self):
        self.log.flush()
        with open(self.folder + "/log", "rb") as f:
            return f.read().decode("utf-8", "replace")

    def output(self):
        with open(self.folder + "/out", "rb") as f:
            return f.read().decode("utf-8", "replace")

    def alive(self):
        assert self.process.poll() is None, "the program ended: status %r\n%s" % (
            self.process.returncode, self.messages())
        return True

    def wait_end(self):
        """It has ended by itself, well, and had nothing to complain about."""
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError("the program does not end") from None
        equal(status, 0, "exit status; it said: " + self.messages())
        for word in ("CRITICAL", "WARNING"):
            assert word not in KNOWN.sub("", self.messages()), self.messages()
        wait("the name to be free", lambda: not self.owned())

    def discard(self):
        """Ends it, whatever has changed."""
        self.app_activate("quit")

        def ended():
            if self.process.poll() is not None:
                return True
            application = Node.application(self.process.pid)
            answer = application and application.find("button", re.compile("Discard$"))
            if answer:
                answer.act()
            return False
        wait("the program to end", ended)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.out.close()

    # Actions

    def owned(self):
        return call(session, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                    "NameHasOwner", GLib.Variant("(s)", (ID,)))[0]

    def state(self, name, window=1):
        """Whether an action is enabled, and its state or None."""
        try:
            enabled, _, state = call(session, ID, "%s/window/%d" % (ROOT, window), "org.gtk.Actions",
                                     "Describe", GLib.Variant("(s)", (name,)))[0]
        except GLib.Error:
            return False, None
        return enabled, state[0] if state else None

    def activate(self, name, parameter=None, window=1):
        call(session, ID, "%s/window/%d" % (ROOT, window), "org.gtk.Actions", "Activate",
             GLib.Variant("(sava{sv})", (name, [] if parameter is None else [parameter], {})))

    def change(self, name, value, window=1):
        call(session, ID, "%s/window/%d" % (ROOT, window), "org.gtk.Actions", "SetState",
             GLib.Variant("(sva{sv})", (name, GLib.Variant("b", value), {})))

    def app_activate(self, name, parameter=None):
        call(session, ID, ROOT, "org.gtk.Actions", "Activate",
             GLib.Variant("(sava{sv})", (name, [] if parameter is None else [parameter], {})))

    def open(self, path):
        self.app_activate("open", GLib.Variant("s", path))

    def edits(self, window=1):
        return self.state("edits", window)[1]

    def error(self, window=1):
        return self.state("error", window)[1]

    def wait_idle(self, window=1):
        wait("the program to be idle",
             lambda: self.alive() and self.state("busy", window)[1] is False)

    def wait_edits(self, text, window=1):
        def same():
            self.alive()
            return self.edits(window) == text
        try:
            wait("edits", same)
        except AssertionError:
            equal(self.edits(window), text, "edits")

    def set_edit(self, text):
        self.activate("set-edit", GLib.Variant("s", text))

    def export(self, path, window=1):
        """Starts it."""
        self.activate("export-to", GLib.Variant("s", path), window)

    def wait_export(self, path, window=1):
        wait("the exported file", lambda: self.alive() and (os.path.exists(path) or self.error(window)))
        self.wait_idle(window)
        equal(self.error(window), "", "error")

    def zoom(self, zoom):
        """And to the picture's top left corner."""
        self.activate("zoom", GLib.Variant("d", zoom))
        self.activate("pan", GLib.Variant("(dd)", (-1e6, -1e6)))

    # Windows and widgets

    def wait_window(self, window=1):
        """Its X window."""
        path = "%s/window/%d" % (ROOT, window)

        def find():
            self.alive()
            found = subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "softbox"],
                                   stdout=subprocess.PIPE).stdout.decode().split()
            for xid in found:
                name = subprocess.run(["xprop", "-id", xid, "_GTK_WINDOW_OBJECT_PATH"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
                if '"%s"' % path in name:
                    return xid
            return None
        return wait("window %d on screen" % window, find)

    def wait_active(self, xid):
        wait("the window to be active", lambda: self.alive() and active() == xid)

    def place(self, frame, xid):
        """Where the contents of a window are on screen: its edge is drawn by the toolkit."""
        def whole():
            self.alive()
            lines = dict(line.split("=") for line in
                         xdotool("getwindowgeometry", "--shell", xid).splitlines())
            x, y, width, height = (int(lines[key]) for key in ("X", "Y", "WIDTH", "HEIGHT"))
            inner = frame.extents()
            edge = (width - inner[2] * self.scale) // 2
            same = edge == (height - inner[3] * self.scale) // 2 and edge >= 0
            return ((x + edge, y + edge),) if same else None
        return wait("the window's size to be settled", whole)[0]

    def frame(self):
        """The accessible window of the picture."""
        application = wait("the accessible program",
                           lambda: self.alive() and Node.application(self.process.pid))
        return wait("the accessible window", lambda: next(
            (child for child in application.children() if child.role() == "window"), None))

    def wait_picture(self):
        """A picture is open, shown, and the window has the keyboard."""
        wait("a picture", lambda: self.alive() and self.state("zoom")[0])
        self.wait_idle()
        self.xid = self.wait_window()
        self.wait_active(self.xid)
        self.top = self.frame()
        self.corner = self.place(self.top, self.xid)
        self.canvas = self.widget("image", re.compile("^Photo, "))

    def resize(self, width, height):
        """The contents of the window."""
        def done():
            self.alive()
            inner = self.top.extents()
            if inner[2:] == (width, height):
                return True
            lines = dict(line.split("=") for line in
                         xdotool("getwindowgeometry", "--shell", self.xid).splitlines())
            edge = 2 * (self.corner[0] - int(lines["X"]))
            xdotool("windowsize", self.xid, width + edge, height + edge)
            return False
        self.corner = self.place(self.top, self.xid)
        wait("the window to be %d by %d" % (width, height), done)
        self.corner = self.place(self.top, self.xid)

    def widget(self, role, title):
        return wait("%s “%s”" % (role, title), lambda: self.alive() and self.top.find(role, title))

    def rectangle(self, node):
        """On screen, in device pixels."""
        x, y, width, height = node.extents()
        return (self.corner[0] + x * self.scale, self.corner[1] + y * self.scale,
                width * self.scale, height * self.scale)

    def middle(self, node):
        x, y, width, height = self.rectangle(node)
        return x + width // 2, y + height // 2

    def shown(self):
        """The canvas as it is on screen."""
        return screen(self.rectangle(self.canvas))

    def settled(self):
        """The canvas once everything is done and drawn: idle, and the same twice."""
        self.wait_idle()
        before = [None]

        def same():
            self.wait_idle()
            time.sleep(0.1)
            now = self.shown()
            done = now == before[0]
            before[0] = now
            return done
        wait("the canvas to be still", same)
        return before[0]

    def wait_shown(self, expected, what):
        width = self.rectangle(self.canvas)[2]
        seen = [None]

        def same():
            self.alive()
            seen[0] = self.shown()
            return seen[0] == expected
        try:
            wait(what, same, LIMIT / 3)
        except AssertionError:
            raise AssertionError("%s is not on screen: %s" % (
                what, difference(seen[0], expected, width))) from None

    def slider_point(self, slider, position):
        """Of a position from 0 to 1."""
        x, y, width, height = self.rectangle(slider)
        return round(x + position * (width - 1)), y + height // 2

    def focus_entry(self, entry):
        """A click into a number, all of which is then marked."""
        x, y, _, height = self.rectangle(entry)
        click((x + 20, y + height // 2))
        wait("the number to have the focus", entry.focused)
        press("ctrl+a")

    def zoom_percent(self):
        return int(re.search(r"zoomed to (\d+) percent", self.canvas.title()).group(1))

    def wait_zoom(self, percent):
        try:
            wait("zoom", lambda: self.alive() and self.zoom_percent() == percent)
        except AssertionError:
            equal(self.zoom_percent(), percent, "zoom")

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- Pictures -------------------------------------------------------------------------------------


class Picture:
    """rows: the samples of a row each, as they are in a PNG file, of 3 or 4 channels."""

    def __init__(self, width, height, channels, depth, rows):
        self.width, self.height, self.channels, self.depth = width, height, channels, depth
        self.rows = rows

    def save(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        header = struct.pack(">IIBBBBB", self.width, self.height, self.depth,
                             2 if self.channels == 3 else 6, 0, 0, 0)
        packed = zlib.compress(b"".join(b"\0" + row for row in self.rows), 1)
        with open(path, "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed)
                    + chunk(b"IEND", b""))
        return os.path.abspath(path)

    def plane(self, channel, y):
        return self.rows[y][channel::self.channels]


def picture(width, height, channels=3, depth=8, seed=1):
    """Noise above, blocks with hard edges below; with 4 channels transparent and opaque ones too."""
    rand = random.Random(seed)
    pixel = channels * depth // 8
    rows = []
    for y in range(height):
        if y < height // 3:
            rows.append(rand.randbytes(width * pixel))
        elif y % 29 == height // 3 % 29 or y == height // 3:
            blocks = b""
            while len(blocks) < width * pixel:
                colour = rand.randbytes(3 * depth // 8)
                alpha = rand.choice((b"\0", b"\x7f", b"\xff"))[:1] * (depth // 8) if channels == 4 else b""
                blocks += (colour + alpha) * rand.randint(5, 90)
            rows.append(blocks[:width * pixel])
        else:
            rows.append(rows[-1])
    return Picture(width, height, channels, depth, rows)


def stretch(plane, zoom):
    """Each sample `zoom` times."""
    if zoom == 1:
        return plane
    wide = bytearray(len(plane) * zoom)
    for k in range(zoom):
        wide[k::zoom] = plane
    return bytes(wide)


def view(of, left, top, width, height, zoom=1, ground=GROUND["light"]):
    """An opaque 8-bit picture's pixels where its top left corner is at (-left, -top) of a canvas,
    in device pixels."""
    rgb = bytearray([ground]) * (3 * width * height)
    x0, x1 = max(0, -left), min(width, of.width * zoom - left)
    for y in range(height):
        j = (y + top) // zoom
        if y + top < 0 or j >= of.height or x1 <= x0:
            continue
        start = 3 * (y * width + x0)
        for c in range(3):
            line = stretch(of.plane(c, j), zoom)[x0 + left:x1 + left]
            rgb[start + c:3 * (y * width + x1):3] = line
    return bytes(rgb)


def read_png(path):
    """As 8 bits a channel, opaque, by another program."""
    size = subprocess.run(["identify", "-format", "%w %h", path], stdout=subprocess.PIPE, check=True,
                          timeout=LIMIT).stdout.split()
    width, height = int(size[0]), int(size[1])
    data = subprocess.run(["convert", path, "-depth", "8", "rgb:-"], stdout=subprocess.PIPE,
                          check=True, timeout=LIMIT).stdout
    equal(len(data), 3 * width * height, "size")
    return Picture(width, height, 3, 8, [data[3 * width * y:3 * width * (y + 1)] for y in range(height)])


def content(path):
    with open(path, "rb") as f:
        return f.read()


def cli(source, edits, target):
    """What the command line tool makes of it."""
    arguments = [CLI, source]
    for edit in edits.split():
        arguments += ["-e", edit]
    subprocess.run(arguments + ["-o", target], check=True, timeout=LIMIT)
    return content(target)


# --- Running --------------------------------------------------------------------------------------


def main():
    chosen = [t for t in tests if len(sys.argv) < 4 or t.__name__ in sys.argv[3:]]
    print("1..%d" % len(chosen))
    failed = 0
    for i, function in enumerate(chosen, 1):
        name = function.__name__.replace("_", " ")
        home = os.getcwd()
        folder = tempfile.mkdtemp(prefix="softbox-gui-")
        os.chdir(folder)
        start = time.monotonic()
        try:
            function()
            print("ok %d %s" % (i, name))
        except BaseException:
            failed += 1
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            for program in Softbox.running:
                for line in program.messages().splitlines()[-20:]:
                    print("# it said: " + line)
            print("not ok %d %s" % (i, name))
        finally:
            xdotool("keyup", "c", "mouseup", 1)
            for program in Softbox.running:
                program.kill()
            Softbox.running.clear()
            os.chdir(home)
            shutil.rmtree(folder, ignore_errors=True)
        print("# %.1f s" % (time.monotonic() - start))
        sys.stdout.flush()
    return 1 if failed else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
