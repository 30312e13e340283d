#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the core's tests in a build with AddressSanitizer, its leak check, and
# UndefinedBehaviorSanitizer. The long sweeps against the slow reference walk them with longer
# strides, SOFTBOX_TEST_SHARE; everything else runs whole.
#
#   sanitize.sh SOURCE-ROOT BUILD-ROOT
#
# The build lies in BUILD-ROOT/sanitize and is kept for the next time.
set -eu

source_root=$1
build=$2/sanitize

# b_lundef: clang leaves the sanitizers' symbols to the program.
if [ ! -f "$build/build.ninja" ]; then
  rm -rf "$build"
  meson setup "$build" "$source_root" -Db_sanitize=address,undefined -Db_lundef=false \
    -Doptimization=1 -Dcuda=disabled
fi

export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export SOFTBOX_TEST_SHARE="${SOFTBOX_TEST_SHARE:-12}"
exec meson test -C "$build" --suite core --timeout-multiplier 4 --print-errorlogs
