/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which order of a matrix product's tiles the L2 caches like: panels of A and B counted on the order alone.
 * source: docs/timing.md, "Orders of tiles" */
#ifndef SIM_TIMING_PANELS_H
#define SIM_TIMING_PANELS_H

#include <stdint.h>

#include "core/status.h"

/* panel_problem: a grid of tiles and the machine that runs it. `tile` gives row and column of a hardware workgroup
 * id. */
typedef struct panel_problem {
    uint32_t rows, columns;        /* tiles */
    uint64_t row_panel, col_panel; /* bytes of one tile's A and B over all of K */
    uint32_t xcds, resident;       /* workgroups that live on one XCD at a time */
    uint64_t l2_bytes;             /* of one XCD */
    void (*tile)(const void *user, uint32_t id, uint32_t *row, uint32_t *column);
    const void *user;
} panel_problem;

typedef struct panel_count {
    uint64_t requested, filled; /* bytes, over all XCDs */
    double hit;
} panel_count;

/* panels_resident: workgroups of a round share their panels, nothing outlives the round.
 * panels_walk: each XCD takes its workgroups in order through a cache of whole panels, the least recently used one out.
 * errors: NO_MEMORY */
cdnagen_status panels_resident(const panel_problem *p, panel_count *out);
cdnagen_status panels_walk(const panel_problem *p, panel_count *out);

#endif
