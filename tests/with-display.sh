#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs COMMAND on a screen of its own: Xvfb on a free number, a D-Bus session with the accessibility
# bus behind it, a window manager, settings in memory, and a home folder that is empty and goes away.
#
#   tests/with-display.sh COMMAND [ARGUMENT…]
#
# SOFTBOX_SCREEN says how large the screen is (1600x1200x24). The exit status is the command's; 99
# where the screen does not come up.
set -u

if [ "${1:-}" = --inside ]; then
    shift
    openbox --sm-disable >"$SOFTBOX_DISPLAY_DIR/openbox.log" 2>&1 3>&- &
    manager=$!
    for _ in $(seq 100); do
        xprop -root _NET_SUPPORTING_WM_CHECK 2>/dev/null | grep -q 'window id' && break
        sleep 0.1
    done
    "$@" >&3 3>&-
    status=$?
    kill "$manager" 2>/dev/null
    exit "$status"
fi

if [ $# -eq 0 ]; then
    echo "usage: $0 COMMAND [ARGUMENT…]" >&2
    exit 2
fi
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
dir=$(mktemp -d "${TMPDIR:-/tmp}/softbox-display-XXXXXX") || exit 99
server=

clean() {
    trap '' HUP INT TERM
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null
        wait "$server" 2>/dev/null
    fi
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 99' HUP INT TERM

mkdir -m 700 "$dir/run" "$dir/home"
: >"$dir/number"
Xvfb -displayfd 3 -screen 0 "${SOFTBOX_SCREEN:-1600x1200x24}" -nolisten tcp -noreset \
    3>"$dir/number" >"$dir/xvfb.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    [ -s "$dir/number" ] && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
number=$(cat "$dir/number")
if [ -z "$number" ]; then
    echo "Xvfb did not start:" >&2
    cat "$dir/xvfb.log" >&2
    exit 99
fi

unset WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS AT_SPI_BUS_ADDRESS NO_AT_BRIDGE GTK_THEME
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_CURRENT_DESKTOP
export DISPLAY=":$number"
export GDK_BACKEND=x11
export LIBGL_ALWAYS_SOFTWARE=1
export GSETTINGS_BACKEND=memory
export HOME="$dir/home"
export XDG_RUNTIME_DIR="$dir/run"
export SOFTBOX_DISPLAY_DIR="$dir"

# What the services of the session say is no output of the command.
dbus-run-session -- "$self" --inside "$@" 3>&1 >&2
