/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The grade of a run, whatever the operator's rules. */
#include <math.h>
#include <string.h>

#include "gen/family.h"

void grade_add(grade *g, const char *name, double value, double limit) {
    g->figures[g->figure_count++] = (figure){name, value, limit};
}

double grade_figure(const grade *g, const char *name) {
    for (int i = 0; i < g->figure_count; i++)
        if (!strcmp(g->figures[i].name, name)) return g->figures[i].value;
    return NAN;
}

int grade_passes(const grade *g) {
    for (int i = 0; i < g->figure_count; i++)
        if (!(g->figures[i].value <= g->figures[i].limit)) return 0;
    return g->mask_equal && g->guards_intact;
}
