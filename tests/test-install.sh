#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into a folder of its own and uses what is there. Speaks TAP; needs a screen, so it runs
# under with-display.sh. The programs find their messages below the prefix that they were built for,
# so this is a build of its own.
#
#   tests/test-install.sh SOURCE-DIR
# shellcheck disable=SC2317
set -u
source=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
log=$dir/log
number=0

check() { # description, command…; passes where the command does
    number=$((number + 1))
    what=$1
    shift
    if "$@" >"$log" 2>&1; then
        echo "ok $number - $what"
    else
        echo "not ok $number - $what"
        tail -n 30 "$log" | sed 's/^/# /'
    fi
}
finish() {
    echo "1..$number"
    exit 0
}

setup() {
    meson setup "$dir/build" "$source" --prefix="$dir/usr" --libdir=lib -Dcuda=disabled \
        -Doptimization=0 -Ddebug=false &&
        ninja -C "$dir/build" src/app/softbox src/cli/softbox-cli &&
        meson install -C "$dir/build"
}
check "builds and installs" setup
[ -x "$dir/usr/bin/softbox" ] || finish
rm -rf "$dir/build"

# Nothing but the prefix and the system: what the build tree had is gone.
unset GSETTINGS_SCHEMA_DIR SOFTBOX_MODULE_DIR
export XDG_DATA_DIRS="$dir/usr/share:/usr/local/share:/usr/share"
export G_DEBUG=fatal-warnings
share=$dir/usr/share
id=io.github.softbox.Softbox

present() {
    missing=0
    for file in "$dir/usr/bin/softbox" "$dir/usr/bin/softbox-cli" \
        "$dir/usr/libexec/softbox/softbox-decoder" \
        "$share/applications/$id.desktop" "$share/metainfo/$id.metainfo.xml" \
        "$share/dbus-1/services/$id.service" "$share/glib-2.0/schemas/$id.gschema.xml" \
        "$share/glib-2.0/schemas/gschemas.compiled" "$share/softbox/sample.jpg" \
        "$share/icons/hicolor/scalable/apps/$id.svg" \
        "$share/icons/hicolor/symbolic/apps/$id-symbolic.svg" \
        "$share/locale/de/LC_MESSAGES/softbox.mo" "$share/locale/zh_CN/LC_MESSAGES/softbox.mo" \
        "$share/locale/zh_TW/LC_MESSAGES/softbox.mo"; do
        [ -s "$file" ] || { echo "missing: $file"; missing=1; }
    done
    return "$missing"
}
check "every file is there" present

strangers() {
    (cd "$dir/usr" && find . -type f) | grep -vE \
        '^\./(bin/softbox(-cli)?$|lib(exec)?/softbox/|share/(applications|metainfo|dbus-1/services|glib-2\.0/schemas|softbox|icons/hicolor|locale/[a-zA-Z_]+/LC_MESSAGES)/)' >"$dir/found"
    cat "$dir/found"
    [ ! -s "$dir/found" ]
}
check "and nothing else" strangers

check "the desktop file is valid" desktop-file-validate "$share/applications/$id.desktop"
metainfo() { # there is no home page to name, which newer versions warn of
    LC_ALL=C appstreamcli validate --no-net --no-color "$share/metainfo/$id.metainfo.xml" >"$dir/validation"
    cat "$dir/validation"
    [ -s "$dir/validation" ] && ! grep -E '^[EW]:' "$dir/validation" | grep -v url-homepage-missing
}
check "the metainfo is valid" metainfo
check "the settings compile strictly" glib-compile-schemas --strict --dry-run "$share/glib-2.0/schemas"

translated() {
    grep -q '^Comment\[de\]=' "$share/applications/$id.desktop" &&
        grep -q '^Comment\[zh_TW\]=' "$share/applications/$id.desktop" &&
        grep -q '<summary xml:lang="zh[-_A-Za-z]*CN">' "$share/metainfo/$id.metainfo.xml"
}
check "desktop file and metainfo are translated" translated

service() { [ "$(sed -n 's/^Exec=\([^ ]*\).*/\1/p' "$share/dbus-1/services/$id.service")" = "$dir/usr/bin/softbox" ]; }
check "the service names the installed program" service

version() { [ "$("$dir/usr/bin/$1" --version)" = "$1 $2" ]; }
number_of_version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$source/meson.build")
check "softbox --version" version softbox "$number_of_version"
check "softbox-cli --version" version softbox-cli "$number_of_version"

blur() {
    "$dir/usr/bin/softbox-cli" "$share/softbox/sample.jpg" -e blur:radius=3 -o "$dir/out.png" &&
        [ "$(head -c 8 "$dir/out.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
}
check "softbox-cli blurs the installed sample" blur

# A format that is decoded in a process of its own: 1 x 1, blue, as BMP.
decoder() {
    printf 'BM\072\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\1\0\0\0\1\0\0\0\1\0\030\0\0\0\0\0\4\0\0\0' >"$dir/blue.bmp"
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\0\0\0' >>"$dir/blue.bmp"
    "$dir/usr/bin/softbox-cli" "$dir/blue.bmp" -e blur -o "$dir/blue.png"
}
check "softbox-cli finds the installed decoder" decoder

german() {
    mkdir "$dir/locale" && localedef -i de_DE -f UTF-8 "$dir/locale/de_DE.UTF-8" || return 1
    env -u LC_ALL LOCPATH="$dir/locale" LANG=de_DE.UTF-8 LANGUAGE=de \
        "$dir/usr/bin/softbox-cli" --help | tee "$dir/help"
    grep -q 'Die Bearbeitungen mit Schlüsseln und Bereichen auflisten' "$dir/help"
}
check "softbox-cli speaks German in a German locale" german

window() { timeout 60 "$dir/usr/bin/softbox" --quit-after=1 "$share/softbox/sample.jpg"; }
check "softbox opens its window and leaves in time" window

activated() { # by name over the bus, as a desktop does with DBusActivatable
    # shellcheck disable=SC2016
    dbus-run-session -- sh -c '
        gdbus call --session --timeout 30 -d "$1" -o /io/github/softbox/Softbox \
            -m org.freedesktop.Application.Open "[\"file://$2\"]" "{}" || exit 1
        for _ in $(seq 100); do
            state=$(gdbus call --session -d "$1" -o /io/github/softbox/Softbox/window/1 \
                -m org.gtk.Actions.Describe busy 2>/dev/null)
            case $state in *"<false>"*) break ;; esac
            sleep 0.1
        done
        gdbus call --session -d "$1" -o /io/github/softbox/Softbox -m org.gtk.Actions.Activate quit "[]" "{}"
        case $state in *"<false>"*) exit 0 ;; *) echo "state: $state"; exit 1 ;; esac' \
        - "$id" "$share/softbox/sample.jpg"
}
check "the desktop can start it over D-Bus" activated
finish
