/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A modelled launch as a timeline of each wave, for viewers of Chrome's trace format. Nothing here is measured. */
#ifndef STUDY_TRACE_H
#define STUDY_TRACE_H

#include "core/status.h"
#include "sim/timing.h"

typedef struct timeline_event timeline_event;
typedef struct timeline_track timeline_track;

typedef struct timeline {
    timeline_event *events;
    timeline_track *tracks; /* one a wave, in the order in which they came */
    size_t event_count, event_capacity, track_count, track_capacity;
    uint64_t cut; /* clk of the first event that found no place; UINT64_MAX: all did */
    int failed;   /* memory ran out */
} timeline;

/* timeline_start: nothing seen yet.   owner: timeline_free */
void timeline_start(timeline *t);
/* timeline_take: the sim_timing_options.event whose user is a timeline. */
void timeline_take(void *user, const sim_event *e);
void timeline_free(timeline *t);

/* timeline_write: a JSON trace: a process a SIMD, a thread a wave, an event an instruction or a wait.
 * `timing` is the launch's
 * units:  1 clk is shown as 1 ns
 * errors: IO, NO_MEMORY
 * source: docs/timing.md */
cdnagen_status timeline_write(const timeline *t, const sim_timing *timing, const char *path);

#endif
