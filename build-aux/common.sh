# SPDX-License-Identifier: MIT
# Shared by run, test and ../.ci/run, which read it with `.`: plain POSIX sh.

: "${top:=$(cd "$(dirname "$0")/.." && pwd)}"

# Debian's packages, named alike in 12 and 13.
build_packages='
    gcc libc6-dev meson ninja-build pkgconf python3 gettext appstream desktop-file-utils
    libglib2.0-dev libgtk-4-dev libadwaita-1-dev libepoxy-dev libgdk-pixbuf-2.0-dev
    libpng-dev libjpeg62-turbo-dev libtiff-dev zlib1g-dev liblcms2-dev libzstd-dev
    libgexiv2-dev libgtk-4-bin libgl1-mesa-dri libegl1 librsvg2-common webp-pixbuf-loader
    adwaita-icon-theme fonts-dejavu-core'
test_packages='
    xvfb xdotool openbox x11-utils imagemagick dbus-daemon at-spi2-core python3-gi locales
    libimage-exiftool-perl pngcheck python3-numpy python3-pywt'
ci_packages='clang libclang-rt-dev clang-format git libc6-dev-arm64-cross'

say() {
    printf '%s\n' "$*" >&2
}

# Installs those of the packages that are missing; asks nothing of anybody where none is.
install_missing() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        say "This is not a Debian system: what Softbox needs is not installed for you."
        say "build-aux/common.sh lists it by the names of Debian's packages."
        return 0
    fi
    missing=
    for package in "$@"; do
        # shellcheck disable=SC2016
        state=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null)
        case " $state" in
        *' installed '*) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0

    say "Installing:$missing"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        say "Neither root nor sudo: install these as root, then run this again:"
        say "    apt-get install --no-install-recommends$missing"
        return 1
    fi
    # shellcheck disable=SC2086
    $as_root apt-get update -q >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
            $missing >&2 && return 0
    say "The packages could not be installed; see above for the reason."
    return 1
}

# The CUDA module for the NVIDIA GPUs of this machine; for others it is not worth the minutes here.
cuda_option() {
    archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d ". " |
        sort -n -u | tr '\n' ',')
    case $archs in
    [0-9]*) echo "-Dcuda-arch=${archs%,}" ;;
    *) echo "-Dcuda=disabled" ;;
    esac
}

# Configures the build tree $1 once, with what follows as meson's arguments, and builds it.
build() {
    tree=$1
    shift
    if [ ! -f "$tree/build.ninja" ]; then
        meson setup "$@" "$tree" "$top" >&2 || return 1
    fi
    ninja -C "$tree" >&2
}
