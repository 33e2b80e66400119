#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh BUILD: every figure, under the command that repeats it. Targets are for a 2-core server.
set -euo pipefail
cd "$1"
export CDNAGEN_CACHE_DIR
CDNAGEN_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$CDNAGEN_CACHE_DIR"' EXIT

figure() {
    printf '\n$ %s\n' "$*"
    env "$@"
}

# wall NAME COMMAND...: the median of 9 wall times of a command.
wall() {
    local name=$1 i start
    shift
    printf '\n$ %s\n' "$*"
    for i in 1 2 3 4 5 6 7 8 9; do
        start=${EPOCHREALTIME/./}
        "$@" >/dev/null
        echo $((${EPOCHREALTIME/./} - start))
    done | sort -n | awk -v name="$name" 'NR == 5 { printf "%-58s %10.1f ms\n", name, $1 / 1000 }'
}

tag=mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma
echo "targets: warm 30 ms (command) and 45 ms (host), first kernel 150 ms, memory 2 us, disk 1000 us, launch 2 us,"
echo "two threads 1.8 x, demo 5000 ms, simulator 4 million vector wave-instructions per core and second and 1.8 x by two threads"
figure bench/bench_generate tuned
figure bench/bench_generate
wall "first kernel in a fresh process" ./cdnagen gen $tag heads=64 dim=128 --no-cache
figure CDNAGEN_HIP_LIBRARY=bench/libamdhip64_fake.so bench/bench_launch
wall "demo" ./cdnagen run $tag seq=128 seq_kv=1024 heads=64 dim=128 window=causal clean=1 --target gfx950 \
    --sim --no-cache --check
for program in bench/bench_*; do
    case $program in
    *generate | *launch | *mqa | *gemm | *grouped) ;; # run above; minutes, and not of `benchmarks`
    *) figure "$program" ;;
    esac
done
