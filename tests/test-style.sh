#!/bin/sh
# SPDX-License-Identifier: MIT
# How the tree is written: clang-format for C, licence lines, blanks, and words that do not belong.
# Speaks TAP. Looks at the files git knows, or at all of them outside a clone.
#
#   tests/test-style.sh SOURCE-DIR
set -u
cd "$1" || exit 1

list() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1 &&
        [ "$(git rev-parse --show-toplevel)" = "$(pwd -P)" ]; then
        git -c core.quotePath=false ls-files --cached --others --exclude-standard
    else
        find . -type f ! -path './.git/*' ! -path './_*' | sed 's|^\./||' | grep -v -e '^build/' -e '^build-[^a]'
    fi
}
files=$(mktemp) && text=$(mktemp) && found=$(mktemp) || exit 1
trap 'rm -f "$files" "$text" "$found"' EXIT
# What tests feed to the program may be as broken as it likes.
list | grep -v '^tests/data/' | sort | while read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done >"$files"
grep -Ev '\.(png|jpg|jpeg|svg|gif|tif|tiff|bmp|webp|icc|icm|bin|raw|pam|ppm|npy)$' "$files" >"$text"

number=0
report() { # what is wrong lies in $found, a line each
    number=$((number + 1))
    if [ -s "$found" ]; then
        echo "not ok $number - $1"
        head -n 40 "$found" | sed 's/^/# /'
    else
        echo "ok $number - $1"
    fi
}
search() { # grep's arguments; names of text files on standard input
    tr '\n' '\0' | xargs -0 -r grep -nH "$@" >"$found"
}
tab=$(printf '\t')

echo 1..8

grep -E '\.(c|h|cu)$' "$files" | while read -r file; do
    head -n 1 "$file" | grep -qx '/\* SPDX-License-Identifier: MIT \*/' || echo "$file"
done >"$found"
grep -E '(\.(sh|py|ui|css|svg|gresource\.xml|gschema\.xml)$)|^(\.ci|build-aux)/' "$files" |
    while read -r file; do
        head -n 4 "$file" | grep -q 'SPDX-License-Identifier: MIT' || echo "$file"
    done >>"$found"
report "every source names its licence at the top"

search -E '[[:blank:]]$' <"$text"
report "no blanks at the ends of lines"

grep -v '^\.gitmodules$' "$text" | search "$tab"
report "no tabs"

while read -r file; do
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "$file"
done <"$text" >"$found"
report "a line feed at the end of every file"

# Assembled from parts, so that this file passes its own test.
words="/(work|fa""rm)/[a-z.]|bash_""jobs|TO""DO|FIX""ME|\.lib""rary/"
search -E "$words" <"$text"
report "no unfinished business and no path of one machine"

grep -E '^(src|cuda)/.*\.(c|h)$' "$files" | search -E '[^a-z_](abort|exit|_exit|system|sprintf|strcpy|strcat|gets|atof|strtod) \('
report "no call that ends the program, overruns or follows the locale"

while read -r file; do
    if [ "$(head -c 2 "$file")" = '#!' ] && [ ! -x "$file" ]; then echo "$file"; fi
done <"$text" >"$found"
report "what names its interpreter can be run"

format=${CLANG_FORMAT:-clang-format}
major=$("$format" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$major" != 14 ]; then
    number=$((number + 1))
    echo "# clang-format 14 is the reference; here is ${major:-none}, so the layout is not compared"
    echo "ok $number - C is laid out as clang-format prints it # SKIP needs clang-format 14"
else
    grep -E '\.(c|h|cu)$' "$files" | tr '\n' '\0' |
        xargs -0 -r "$format" --dry-run 2>&1 | grep -E '(warning|error):' | cut -d: -f1-2 |
        sort -u >"$found"
    report "C is laid out as clang-format prints it"
fi
