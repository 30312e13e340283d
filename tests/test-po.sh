#!/bin/sh
# SPDX-License-Identifier: MIT
# Every string that a user sees is translated. Speaks TAP.
#
#   tests/test-po.sh SOURCE-DIR XGETTEXT-ARGUMENT…
set -u
cd "$1" || exit 1
shift
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

number=0
report() { # what is wrong lies in $dir/found
    number=$((number + 1))
    if [ -s "$dir/found" ]; then
        echo "not ok $number - $1"
        head -n 60 "$dir/found" | sed 's/^/# /'
    else
        echo "ok $number - $1"
    fi
}
messages() { # the bare messages of a catalogue, in one order
    msgcat --no-location --no-wrap --sort-output "$1" | sed -e '1,/^$/d' -e '/^#[^,]/d' -e '/^#$/d'
}
extract() { # from the named files into $dir/out.pot
    rm -f "$dir/out.pot"
    xgettext "$@" --package-name=softbox -o "$dir/out.pot" 2>>"$dir/found"
}
languages=$(grep -v '^#' po/LINGUAS)

echo "1..$((4 + 2 * $(echo "$languages" | wc -w)))"

: >"$dir/found"
grep -v -e '^#' -e '^$' po/POTFILES >"$dir/listed"
find src cuda ui data -name '*.[ch]' -o -name '*.ui' -o -name '*.gschema.xml' -o -name '*.desktop.in' \
    -o -name '*.metainfo.xml.in' 2>/dev/null | sort >"$dir/sources"
while read -r file; do
    extract "$@" "$file"
    if [ -f "$dir/out.pot" ] && ! grep -qxF "$file" "$dir/listed"; then
        echo "po/POTFILES lacks $file" >>"$dir/found"
    fi
done <"$dir/sources"
while read -r file; do
    grep -qxF "$file" "$dir/sources" || echo "po/POTFILES names $file, which is not a source"
done <"$dir/listed" >>"$dir/found"
sort -c "$dir/listed" 2>>"$dir/found"
report "POTFILES names every source that has strings"

: >"$dir/found"
extract "$@" -f po/POTFILES
messages "$dir/out.pot" >"$dir/now"
messages po/softbox.pot >"$dir/then"
if ! diff -u "$dir/then" "$dir/now" >>"$dir/found"; then
    echo "Run: meson compile -C build softbox-pot softbox-update-po" >>"$dir/found"
fi
report "softbox.pot is as the sources are"

: >"$dir/found"
find po -name '*.po' | sed 's|po/\(.*\)\.po|\1|' | sort >"$dir/have"
echo "$languages" | sort | diff - "$dir/have" >"$dir/found"
report "LINGUAS names every translation"

# A label that a template or the table of edits marks as not translatable would slip through.
grep -nE '<property name="(label|title|subtitle|description|tooltip-text|placeholder-text)"[^>]*>[^<]*[[:alpha:]]{2}' \
    ui/*.ui | grep -v -e 'translatable="yes"' -e '>Softbox<' >"$dir/found"
report "the templates mark what they show"

for language in $languages; do
    : >"$dir/found"
    msgfmt --check -o /dev/null "po/$language.po" 2>"$dir/found"
    report "$language: well formed, with the same conversions as the original"

    : >"$dir/found"
    # The source's messages against the translation's: missing, empty and fuzzy ones are named.
    LC_ALL=C.UTF-8 msgcmp "po/$language.po" "$dir/out.pot" 2>"$dir/found"
    msgattrib --untranslated --no-obsolete --no-location "po/$language.po" | sed 1,/^$/d >>"$dir/found"
    msgattrib --only-fuzzy --no-obsolete --no-location "po/$language.po" | sed 1,/^$/d >>"$dir/found"
    report "$language: complete"
done
