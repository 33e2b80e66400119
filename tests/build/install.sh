#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install.sh BUILD: install to a prefix of its own, build the examples as a user would, and run them: by find_package
# and by pkg-config, with the shared library and with the archive.
set -euo pipefail
build=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export CDNAGEN_CACHE_DIR=$work/cache
export CDNAGEN_DEVICE=sim

cmake --install "$build" --prefix "$prefix" >"$work/install.log"
for static in OFF ON; do
    echo "== find_package, static $static"
    cmake -S "$examples" -B "$work/$static" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCDNAGEN_STATIC=$static \
        >"$work/configure.log" ||
        { cat "$work/configure.log"; exit 1; }
    ninja -C "$work/$static" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
    "$work/$static/launch_c"
    "$work/$static/launch_cpp"
    "$work/$static/isa" | tail -n 1
done
ldd "$work/ON/launch_c" | grep libcdnagen && { echo "the static example needs libcdnagen.so"; exit 1; }

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cdnagen.pc)")
export PKG_CONFIG_PATH
read -ra shared < <(pkg-config --cflags --libs cdnagen)
read -ra static < <(pkg-config --static --cflags --libs cdnagen | sed 's/-lcdnagen/-l:libcdnagen.a/')
libdir=$(pkg-config --variable=libdir cdnagen)
cc -o "$work/shared" "$examples/launch.c" "${shared[@]}" -Wl,-rpath,"$libdir"
cc -o "$work/static" "$examples/launch.c" "${static[@]}"
"$work/shared"
"$work/static"

echo "== a host with names that the archive uses inside"
printf 'int tag_parse, plan_make, cache_get, sim_open, fail;\nint lldMain(void) { return tag_parse; }\n' >"$work/host.c"
cc -o "$work/host" "$examples/launch.c" "$work/host.c" "${static[@]}"
"$work/host"

echo "== Python, precompile, and the installed command"
CDNAGEN_LIBRARY=$libdir/libcdnagen.so.0 python3 "$examples/launch.py"
CDNAGEN=$prefix/bin/cdnagen "$examples/precompile.sh" "$work/objects"
"$prefix/bin/cdnagen" version

echo "== the simulator as the HIP library"
CDNAGEN_HIP_LIBRARY=$libdir/libamdhip64-sim.so "$prefix/bin/cdnagen" doctor --device gpu |
    grep 'device       gfx950 simulator'
