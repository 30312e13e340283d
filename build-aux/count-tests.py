#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what `meson test` ran, the points of TAP programs one by one, and prints it as one line.

    count-tests.py meson-logs/testlog.json…

A program that ended badly counts as one more failure, also where all its points had passed. The exit
status is 1 where anything failed or nothing ran.
"""

import json
import re
import sys

POINT = re.compile(r"^( *)(not )?ok\b[ \t]*\d*([^#]*)(?:#\s*(skip|todo))?", re.IGNORECASE)


def count_points(output):
    """Passed, failed and skipped points. One that closes an indented block stands for the block."""
    passed = failed = skipped = 0
    deepest = 0
    for line in output.splitlines():
        match = POINT.match(line)
        if not match:
            continue
        indent = len(match.group(1))
        closes, deepest = deepest > indent, indent
        if closes:
            continue
        mark = (match.group(4) or "").lower()
        if mark == "skip":
            skipped += 1
        elif match.group(2) and mark != "todo":
            failed += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_test(test):
    output = test.get("stdout") or ""
    result = test["result"]
    # A plan at the start or the end says that the program speaks TAP.
    if re.search(r"^(TAP version \d+|1\.\.\d+)", output, re.MULTILINE):
        passed, failed, skipped = count_points(output)
        if result in ("OK", "EXPECTEDFAIL") and failed == 0 and passed + skipped > 0:
            return passed, 0, skipped
        if result == "SKIP":
            return passed, failed, max(skipped, 1)
        return passed, max(failed, 1), skipped
    if result in ("OK", "EXPECTEDFAIL"):
        return 1, 0, 0
    if result == "SKIP":
        return 0, 0, 1
    return 0, 1, 0


def main():
    passed = failed = skipped = 0
    for name in sys.argv[1:]:
        try:
            with open(name, encoding="utf-8") as log:
                tests = [json.loads(line) for line in log if line.strip()]
        except FileNotFoundError:
            tests = []
        for test in tests:
            p, f, s = count_test(test)
            passed, failed, skipped = passed + p, failed + f, skipped + s
    skips = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{skips}")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
