# SPDX-License-Identifier: MIT
"""Tests in Python that speak TAP: functions marked with @test, each run in an empty folder of its own,
which is removed after it. One that raises Skip, with the reason, counts as skipped."""

import os
import shutil
import sys
import tempfile
import traceback

tests = []


def test(function):
    tests.append(function)
    return function


class Skip(Exception):
    pass


def main(label):
    """Runs them in the order they stand in; label: part of the folders' names. Returns the exit status."""
    print("1..%d" % len(tests))
    failed = 0
    for i, function in enumerate(tests, 1):
        name = function.__name__.replace("_", " ")
        home = os.getcwd()
        folder = tempfile.mkdtemp(prefix="softbox-%s-" % label)
        os.chdir(folder)
        try:
            function()
            print("ok %d %s" % (i, name))
        except Skip as e:
            print("ok %d %s # SKIP %s" % (i, name, e))
        except BaseException:
            failed += 1
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            print("not ok %d %s" % (i, name))
        finally:
            os.chdir(home)
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0
