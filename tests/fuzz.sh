#!/bin/sh
# SPDX-License-Identifier: MIT
# A short run of libFuzzer over the loading path, with AddressSanitizer, from the pictures of
# tests/data/corpus on: always the same inputs, so that what passes once passes again;
# SOFTBOX_FUZZ_SECONDS looks for others, for so long. What it finds stays in BUILD-ROOT/fuzz and is
# named in the output.
#
#   fuzz.sh SOURCE-ROOT BUILD-ROOT
set -eu

source_root=$1
build=$2/fuzz
search="-seed=1 -runs=4000"
[ -z "${SOFTBOX_FUZZ_SECONDS:-}" ] || search="-max_total_time=$SOFTBOX_FUZZ_SECONDS"

echo 1..1
if ! command -v clang >/dev/null 2>&1; then
  echo "ok 1 # SKIP there is no clang"
  exit 0
fi
if ! echo 'int LLVMFuzzerTestOneInput (const char *d, long n) { (void) d; (void) n; return 0; }' |
  clang -x c - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null; then
  echo "ok 1 # SKIP this clang comes without libFuzzer (libclang-rt-dev)"
  exit 0
fi
if [ ! -f "$build/build.ninja" ]; then
  rm -rf "$build"
  CC=clang meson setup "$build" "$source_root" -Dfuzz=true -Db_sanitize=address -Db_lundef=false \
    -Dbuildtype=plain -Doptimization=1 -Ddebug=true -Dcuda=disabled >&2
fi
ninja -C "$build" tests/fuzz-load >&2

mkdir -p "$build/seeds" "$build/found"
find "$source_root/tests/data/corpus" -type f ! -name '*.tsv' -size -40k | while read -r file; do
  cp -f "$file" "$build/seeds/$(basename "$(dirname "$file")")-$(basename "$file")"
done
# Loaders of gdk-pixbuf keep what they have made once.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1
cd "$build/found"
# shellcheck disable=SC2086
if "$build/tests/fuzz-load" $search -timeout=10 -rss_limit_mb=3000 \
  -max_len=65536 -print_final_stats=1 "$build/seeds" >"$build/log" 2>&1; then
  grep -E 'number_of_executed_units|peak_rss_mb' "$build/log" | sed 's/^/# /'
  echo "ok 1 nothing found ($search)"
else
  tail -n 40 "$build/log" | sed 's/^/# /'
  echo "not ok 1 see $build/found"
  exit 1
fi
