# SPDX-License-Identifier: MIT
"""The scene of the sample photo; ../make-sample.py puts it together."""
