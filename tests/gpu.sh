#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gpu.sh [BUILD]: all that needs a GPU, on a machine that has one and a built tree: the suite on the
# CUDA device, --verify, NVIDIA's compute-sanitizer over a short part of the suite, the benchmark,
# and the window where GTK, a display and the program are there. Says what it did not do. Fails
# where anything did.

set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$here/build}" && pwd) || exit 2
export SOFTBOX_MODULE_DIR="${SOFTBOX_MODULE_DIR:-$build/cuda}"
failed=0

# run NAME COMMAND…
run () {
  name=$1
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    echo "ok - $name"
  else
    echo "not ok - $name (exit $?)"
    failed=1
  fi
  sed 's/^/    /' "$log" | tail -n "${LINES_SHOWN:-12}"
  rm -f "$log"
}

skip () {
  echo "skipped - $1: $2"
}

if ! "$build/src/cli/softbox-cli" --devices | grep '^cuda: '; then
  echo "gpu.sh: the program lists no CUDA device" >&2
  exit 1
fi

run "suite" "$build/tests/test-cuda"
run "verify" "$build/src/cli/softbox-cli" --verify --device=cuda

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  for tool in memcheck racecheck initcheck synccheck; do
    run "$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 "$build/tests/test-cuda" \
      -p "${SANITIZED:-/cuda/lists}"
  done
else
  skip "sanitizers" "no compute-sanitizer"
fi

LINES_SHOWN=40 run "benchmark" "$build/src/cli/softbox-cli" --benchmark --device=cuda

program=$build/src/app/softbox
picture=${PICTURE:-}
if [ ! -x "$program" ]; then
  skip "window" "no $program"
elif [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  skip "window" "no display"
elif [ -z "$picture" ]; then
  skip "window" "PICTURE names no picture"
else
  for rung in pbo copy host; do
    run "window, $rung" env SOFTBOX_SHOW=$rung "$program" --device=cuda --animate --stats \
      --quit-after="${SECONDS_SHOWN:-5}" "$picture"
  done
fi

exit $failed
