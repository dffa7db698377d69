#!/bin/sh
# build-kernel.sh FOLDER SOURCES PACKAGE...: fetches Debian's sources of the kernel and the packages that the build
# needs, unpacks them in FOLDER without installing anything, edits the sources, and builds FOLDER/build/linux. About
# 700 objects: two minutes on two cores.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
sources=$2
shift
fetch() {
    for package in "$@"; do
        ls "$package"_*.deb > /dev/null 2>&1 || apt-get download "$package"
    done
}
# A machine whose lists are old or empty needs them first; without root, its administrator must refresh them.
fetch "$@" || { apt-get update --quiet; fetch "$@"; }
rm -rf tools "$sources" build
for package in "$@"; do
    case $package in
        "$sources") dpkg-deb -x "$package"_*.deb unpacked ;;
        *) dpkg-deb -x "$package"_*.deb tools ;;
    esac
done
dpkg-deb -f "$sources"_*.deb Version > version
tar -xJf "unpacked/usr/src/$sources.tar.xz"
rm -rf unpacked
"$here/edit-kernel.sh" "$sources"

tools=$PWD/tools
export PATH="$tools/usr/bin:$PATH" M4="$tools/usr/bin/m4" BISON_PKGDATADIR="$tools/usr/share/bison"
export LD_LIBRARY_PATH="$tools/usr/lib/x86_64-linux-gnu"
mkdir build
cd "$sources"
make ARCH=um O=../build tinyconfig
ARCH=um ./scripts/kconfig/merge_config.sh -m -O ../build ../build/.config "$here/kernel.config"
make ARCH=um O=../build olddefconfig
make ARCH=um O=../build -j2 linux
