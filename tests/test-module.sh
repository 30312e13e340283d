#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-module.sh CLI FAULTY-DIR MODULE-DIR: what the program says of CUDA where the module is missing,
# damaged, of another version, or has no driver, device or memory: the CPU computes, --devices gives
# the reason, --device=cuda is an error, and nothing waits. MODULE-DIR: the real module, "" where it
# is not built.
set -u
cli=$(realpath "$1")
faulty=$(realpath "$2")
real=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0

point () { # description, status
  n=$((n + 1))
  if [ "$2" -eq 0 ]; then
    echo "ok $n - $1"
  else
    echo "not ok $n - $1"
    sed 's/^/# /' "$folder/out" "$folder/err"
  fi
}

# without_cuda NAME REASON: SOFTBOX_MODULE_DIR and SOFTBOX_FAULTY are set
without_cuda () {
  start=$(date +%s)
  "$cli" --devices >"$folder/out" 2>"$folder/err"
  status=$?
  grep -q '^cpu: ' "$folder/out" && grep -q "^cuda: .*$2" "$folder/out"
  point "$1: --devices says why" $((status + $?))

  rm -f "$folder/auto.png" "$folder/cuda.png"
  "$cli" "$folder/in.png" -e blur -o "$folder/auto.png" >"$folder/out" 2>"$folder/err"
  status=$?
  cmp -s "$folder/auto.png" "$folder/cpu.png"
  point "$1: the CPU computes instead" $((status + $?))

  "$cli" "$folder/in.png" -e blur --device=cuda -o "$folder/cuda.png" >"$folder/out" 2>"$folder/err"
  [ $? -eq 1 ] && grep -q "$2" "$folder/err" && [ ! -e "$folder/cuda.png" ]
  point "$1: --device=cuda is an error" $?
  [ $(($(date +%s) - start)) -le 10 ]
  point "$1: at once" $?
}

# fails PLAN OPTION...: what is made of the transform, by a device that fails on the way
fails () {
  SOFTBOX_FAULTY=$1
  shift
  for device in cpu auto cuda; do
    rm -rf "$folder/$device" && mkdir "$folder/$device"
    (cd "$folder/$device" && "$cli" ../in.png -e blur -e bands:threshold=5 --device=$device "$@") \
      >"$folder/$device/table" 2>"$folder/$device.err"
    echo $? >"$folder/$device.status"
  done
  cat "$folder/auto.err" "$folder/cuda.err" >"$folder/err"
  [ "$(cat "$folder/cpu.status" "$folder/auto.status" "$folder/cuda.status" | tr -d '\n')" = 001 ] \
    && grep -q 'Faulty.*; continuing on the CPU$' "$folder/auto.err" \
    && [ "$(wc -l <"$folder/auto.err")" -eq 1 ] && diff -r "$folder/cpu" "$folder/auto" >"$folder/out"
  point "$SOFTBOX_FAULTY $*: the CPU goes on" $?
  grep -q Faulty "$folder/cuda.err" && ! grep -q CPU "$folder/cuda.err" && [ ! -s "$folder/cuda/table" ]
  point "$SOFTBOX_FAULTY $*: --device=cuda is an error" $?
}

echo "1..$((9 * 4 + 3 + 8 * 2))"
python3 - "$folder/in.png" <<'END'
import struct, sys, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
rows = b"".join(b"\0" + bytes((x * 7 + y * 13) % 256 for x in range(3 * 40)) for y in range(30))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", 40, 30, 8, 2, 0, 0, 0))
                              + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
"$cli" "$folder/in.png" -e blur --device=cpu -o "$folder/cpu.png" >"$folder/out" 2>"$folder/err"
point "a picture by the CPU" $?

mkdir "$folder/none" "$folder/damaged" "$folder/strange"
export SOFTBOX_MODULE_DIR="$folder/none"
without_cuda "no module" "no CUDA module"
printf 'not a library' >"$folder/damaged/softbox-cuda.so"
SOFTBOX_MODULE_DIR="$folder/damaged"
without_cuda "a damaged module" "cannot be opened"
cp "$(ldd "$cli" | sed -n 's/.*=> \(.*libz\.so[^ ]*\) .*/\1/p')" "$folder/strange/softbox-cuda.so"
SOFTBOX_MODULE_DIR="$folder/strange"
without_cuda "a library that is no module" "cannot be opened"

SOFTBOX_MODULE_DIR=$faulty
export SOFTBOX_FAULTY=abi
without_cuda "a module of another version" "another version"
SOFTBOX_FAULTY=driver
without_cuda "no driver" "no NVIDIA driver"
SOFTBOX_FAULTY=device
without_cuda "no device" "no NVIDIA GPU"
SOFTBOX_FAULTY=old
without_cuda "a device that is too old" "compute capability 6.1"
SOFTBOX_FAULTY=memory
without_cuda "no memory left" "memory is full"
SOFTBOX_FAULTY=
"$cli" "$folder/in.png" -e blur --device=cuda -o "$folder/faulty.png" >"$folder/out" 2>"$folder/err"
status=$?
cmp -s "$folder/faulty.png" "$folder/cpu.png"
point "with nothing wrong the device computes" $((status + $?))
"$cli" --devices >"$folder/out" 2>"$folder/err" && grep -q '^cuda: 0: Faulty' "$folder/out"
point "and is listed" $?

fails upload:0:719 --statistics
fails blur:0:719 --statistics
fails haar:0:2 --statistics
fails measure:0:719 --statistics
fails measure:7:2 --statistics
fails upload:0:2 --subbands=bands
fails haar:0:719 --mosaic=mosaic.png --subbands=bands --statistics
fails download:0:719 --mosaic=mosaic.png -o out.png
SOFTBOX_FAULTY=

if [ -z "$real" ] || [ ! -e "$real/softbox-cuda.so" ]; then
  for i in 1 2 3 4; do
    n=$((n + 1))
    echo "ok $n - the real module # SKIP not built"
  done
elif [ -e /dev/nvidiactl ]; then
  for i in 1 2 3 4; do
    n=$((n + 1))
    echo "ok $n - the real module # SKIP there is a driver"
  done
else
  SOFTBOX_MODULE_DIR=$real
  without_cuda "the real module" "no NVIDIA driver"
fi
