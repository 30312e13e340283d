#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gpu.sh [BUILD [PART…]]: all that needs a GPU, on a machine that has one and a built tree. Parts, all
# of them unless some are named:
#
#   suite      the engine's suite on the CUDA device, every kernel on every path, memory, buffers of
#              OpenGL, faults
#   verify     softbox-cli --verify
#   sanitize   NVIDIA's compute-sanitizer, four tools, over /device/short: each kernel and variant
#   benchmark  softbox-cli --benchmark
#   window     the program on each way to the screen with pictures of 24 and 100 megapixels,
#              animating, and its --stats, also with the subbands beside; pictures at rest, which
#              must agree to a level of 255. Needs DISPLAY with NVIDIA's GLX, and xwd and python3 for the comparison.
#
# Says what it did not do. Fails where anything did.

set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$here/build}" && pwd) || exit 2
[ $# -gt 0 ] && shift
parts=${*:-suite verify sanitize benchmark window}
faults=${SOFTBOX_FAULTS_DIR:-$build/cuda/faults}
export SOFTBOX_MODULE_DIR="${SOFTBOX_MODULE_DIR:-$build/cuda}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# run NAME COMMAND…
run () {
  name=$1
  shift
  start=$(date +%s)
  if "$@" >"$folder/log" 2>&1; then
    echo "ok - $name ($(($(date +%s) - start)) s)"
  else
    echo "not ok - $name (exit $?)"
    failed=1
  fi
  grep -v 'GLib-GIO\|^# random seed\|^# Start of\|^# End of' "$folder/log" | sed 's/^/    /' |
    tail -n "${LINES_SHOWN:-30}"
}

skip () {
  echo "skipped - $1: $2"
}

wants () {
  case " $parts " in
  *" $1 "*) return 0 ;;
  esac
  return 1
}

if ! "$build/src/cli/softbox-cli" --devices | grep '^cuda: '; then
  echo "gpu.sh: the program lists no CUDA device" >&2
  exit 1
fi

if wants suite; then
  run "suite" "$build/tests/test-cuda"
  run "device" env SOFTBOX_MODULE_DIR="$faults" "$build/tests/test-device" --verbose
  run "faults" env SOFTBOX_MODULE_DIR="$faults" "$build/tests/test-faults"
fi

if wants verify; then
  LINES_SHOWN=4 run "verify" "$build/src/cli/softbox-cli" --verify --device=cuda
fi

# sanitize TOOL: over each of the tests, all at once: most of the time is the processor's
sanitize () {
  pids='' status=0
  for test in ${SANITIZED:-$short}; do
    SOFTBOX_MODULE_DIR=$faults "$sanitizer" --tool "$1" --error-exitcode 9 \
      "$build/tests/test-device" -p "$test" >"$folder/$1-$(basename "$test")" 2>&1 &
    pids="$pids $!"
  done
  for pid in $pids; do
    wait "$pid" || status=$?
  done
  grep -c '^ok' "$folder/$1"-*
  grep -h 'SUMMARY\|Uninit\|Invalid\|Race\| at .*+0x' "$folder/$1"-* | sort | uniq -c
  return $status
}

if wants sanitize; then
  short=''
  for path in plain-march-auto plain-march-never plain-march-always bulk-march-auto \
    bulk-march-never bulk-march-always show subbands; do
    short="$short /device/short/$path"
  done
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  if [ -x "$sanitizer" ]; then
    for tool in memcheck racecheck initcheck synccheck; do
      run "$tool" sanitize "$tool"
    done
  else
    skip "sanitizers" "no compute-sanitizer"
  fi
fi

if wants benchmark; then
  run "benchmark" "$build/src/cli/softbox-cli" --benchmark --device=cuda --size=6016x4032
fi

# make WIDTH HEIGHT PATH: a picture of gradients and noise
make () {
  LD_LIBRARY_PATH='' python3 - "$@" <<'END'
import os, struct, sys, zlib
width, height = int(sys.argv[1]), int(sys.argv[2])
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
noise = bytes((x // 24 + byte % 32) % 256 for x, byte in enumerate(os.urandom(6 * width)))
packer = zlib.compressobj(1)
parts = [packer.compress(b"\0" + noise[3 * (y % width):3 * (y % width) + 3 * width]) for y in range(height)]
open(sys.argv[3], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
                              + chunk(b"IDAT", b"".join(parts) + packer.flush()) + chunk(b"IEND", b""))
END
}

# compare DUMP DUMP: the middle of two dumps of the screen
compare () {
  LD_LIBRARY_PATH='' python3 - "$@" <<'END'
import struct, sys
def load(path):
    data = open(path, "rb").read()
    head = struct.unpack(">25I", data[:100])
    size, width, height, row, colours = head[0], head[4], head[5], head[12], head[19]
    start = size + 12 * colours
    return width, height, row, data[start:start + row * height]
a, b = load(sys.argv[1]), load(sys.argv[2])
assert a[:3] == b[:3], (a[:3], b[:3])
row, most, levels = a[2], 0, set()
for y in range(200, 600):
    for at in range(y * row + 4 * 100, y * row + 4 * 800):
        if at % 4 < 3:
            most = max(most, abs(a[3][at] - b[3][at]))
            levels.add(a[3][at])
print("at most %d of 255 apart, %d levels seen" % (most, len(levels)))
sys.exit(most > 1 or len(levels) < 8)
END
}

# picture_at_rest RUNG PATH: a dump of the screen
picture_at_rest () {
  SOFTBOX_SHOW=$1 "$program" --device=cuda --quit-after=8 "$folder/24.png" >/dev/null 2>&1 &
  pid=$!
  sleep 5
  xwd -root -silent -out "$2"
  wait $pid
}

if wants window; then
  program=$build/src/app/softbox
  if [ ! -x "$program" ]; then
    skip "window" "no $program"
  elif [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    skip "window" "no display"
  else
    make 6016 4032 "$folder/24.png"
    make 12032 8064 "$folder/100.png"
    for size in 24 100; do
      for rung in pbo copy host; do
        run "window, $size megapixels, $rung" env SOFTBOX_SHOW=$rung "$program" --device=cuda \
          --animate --stats --quit-after="${SECONDS_SHOWN:-10}" "$folder/$size.png"
      done
    done
    # Every frame is EXACT there: `unmeasured` says how many of `results` had no statistics before
    # the next one came, subbands_fps is to be fps.
    run "window with subbands, 24 megapixels" "$program" --device=cuda --subbands --animate --stats \
      --quit-after="${SECONDS_SHOWN:-10}" "$folder/24.png"
    if command -v xwd >/dev/null; then
      for rung in pbo copy host; do
        picture_at_rest $rung "$folder/$rung.xwd"
      done
      run "pbo and copy at rest" compare "$folder/pbo.xwd" "$folder/copy.xwd"
      run "pbo and host at rest" compare "$folder/pbo.xwd" "$folder/host.xwd"
    else
      skip "pictures at rest" "no xwd"
    fi
    [ -z "${SCREENSHOTS:-}" ] || cp "$folder"/*.xwd "$SCREENSHOTS"
  fi
fi

exit $failed
