/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two launches timed against each other on a device, over the HIP table. */
#ifndef STUDY_MEASURE_H
#define STUDY_MEASURE_H

#include <stddef.h>

#include "core/hip.h"

/* measure_counts: how long and how often. A side has turns * samples samples, hot and cold, each the mean of
 * `replays`. */
typedef struct measure_counts {
    double ramp_ms;     /* of back-to-back launches before each turn of a side, so that clocks have settled */
    int turns;          /* A and B take turns this often */
    int samples;        /* a turn */
    int replays;        /* a sample */
    size_t flush_bytes; /* written before each cold replay: more than the caches hold */
} measure_counts;

/* measure_standard: half a second of ramp, 4 turns of 5 samples of 50 replays, twice the 256 MiB of the last cache. */
extern const measure_counts measure_standard;

/* measure_side: one of the two. `launch` queues the work once, on the stream it is given; it must not wait. */
typedef struct measure_side {
    cdnagen_status (*launch)(void *user, void *stream);
    void *user;
    double hot_us, cold_us; /* filled: medians over the samples */
} measure_side;

/* measure_pair: capture each side as a graph and replay the graphs in turns, ABAB. A cold replay follows a write of
 * flush_bytes, which lies outside the pair of events that times it.
 * units:  microseconds
 * errors: HIP, FAULT, NO_MEMORY, BAD_ARGUMENT (a side queued nothing), and what `launch` returns */
cdnagen_status measure_pair(const hip_table *hip, const measure_counts *n, measure_side sides[2]);

#endif
