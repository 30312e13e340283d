#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the tests: builds the core with one kernel off by one in its last bit, and sees that the
# suite which guards that kernel fails, by reporting differences and not by failing to start.
#
#   test-mutation.sh SOURCE-ROOT BUILD-ROOT MUTATION:TEST...
#
# MUTATION is a value of the build option of that name, TEST the program that must notice it. The
# build lies in BUILD-ROOT/mutation and is kept for the next time. What fails there must pass in
# BUILD-ROOT, which has no mutation. Speaks TAP.
set -u

source_root=$1
plain=$2
build=$2/mutation
shift 2
n=0
failed=0
export G_TEST_SRCDIR="$source_root/tests" LC_ALL=C.UTF-8

# Where the output went is said on failure.
log=$build.log
: >"$log"

result ()
{
  n=$((n + 1))
  echo "$1 $n - $2"
  [ "$1" = ok ] || { failed=1; sed 's/^/# /' "$log" | tail -n 40; }
}

echo "1..$#"

# Unoptimized but for the kernels and the reference, which ask for it themselves: it compiles fast.
if [ ! -f "$build/build.ninja" ]; then
  rm -rf "$build"
  meson setup "$build" "$source_root" -Doptimization=0 -Ddebug=false -Dcuda=disabled \
    >"$log" 2>&1 || { sed 's/^/# /' "$log" | tail -n 20; echo 'Bail out! meson setup failed'; exit 1; }
fi

for pair in "$@"; do
  mutation=${pair%%:*}
  test=${pair#*:}

  if ! { meson configure "$build" -Dmutation="$mutation" && ninja -C "$build" "tests/$test"; } \
    >"$log" 2>&1; then
    result 'not ok' "$test with the mutation $mutation: it does not build"
    continue
  fi

  # The first difference is enough; a test program stops there.
  if "$build/tests/$test" >"$log" 2>&1; then
    result 'not ok' "$test passes in spite of the mutation $mutation"
    continue
  fi
  # The case that failed, to try it without the mutation; an assertion ends all without naming it in
  # older GLib, and without its number in newer.
  noticed=$(sed -En 's/^not ok ([0-9]+ )?(\/[^ ]*).*/-p \2/p' "$log" | head -n 1)
  if [ -z "$noticed" ] && ! grep -Eq '^Bail out! (FATAL-)?ERROR:' "$log"; then
    result 'not ok' "$test with the mutation $mutation: it ends without a failed case"
  elif ! "$plain/tests/$test" $noticed >"$log" 2>&1; then
    result 'not ok' "$test fails without the mutation $mutation too: $noticed"
  else
    result ok "$test notices the mutation $mutation: $noticed"
  fi
done
exit $failed
