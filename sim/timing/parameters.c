/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parameter table: columns by chip, overrides from a file, and its print. */
#include "sim/timing/parameters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/timing.h"

static const struct row {
    const char *name;
    double gfx942, gfx950;
    const char *unit, *tag, *source;
    size_t offset;
} rows[] = {
#define PARAMETER(name, gfx942, gfx950, unit, tag, source)                                                             \
    {#name, gfx942, gfx950, unit, #tag, source, offsetof(parameters, name)},
#include "sim/timing/parameters.def"
#undef PARAMETER
};
enum { ROWS = sizeof rows / sizeof *rows };

static double column(const struct row *r, const chip *c) { return strcmp(c->name, "gfx942") ? r->gfx950 : r->gfx942; }
static double *place(parameters *p, const struct row *r) { return (double *)(void *)((char *)p + r->offset); }

/* allowed: what is above 0 stays within a thousandth of it (time is finite), counts and times stay numbers that the
 * model can add. */
static int allowed(const struct row *r, double x) {
    const double least = r->gfx942 < r->gfx950 ? r->gfx942 : r->gfx950;
    const int entries = !strncmp(r->unit, "entries", 7);
    const int counted = entries || !strncmp(r->unit, "slots", 5) || !strncmp(r->unit, "clk", 3);
    return (least > 0 ? x >= least / 1000 : x >= least) && x <= (counted ? 1e6 : 1e12) && (!entries || x >= 1);
}

/* override: one line "name = value"; '#' begins a comment. */
static cdnagen_status override(const char *path, int number, char *line, int line_of[ROWS], parameters *out) {
    char name[64], value[64], end;
    line[strcspn(line, "#\n")] = 0;
    if (!line[strspn(line, " \t\r")]) return CDNAGEN_OK;
    if (sscanf(line, " %63[a-z0-9_] = %63s %c", name, value, &end) != 2)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s line %d: \"%.80s\" is not \"name = value\"", path, number, line);
    char *rest;
    const double x = strtod(value, &rest);
    if (*rest || !isfinite(x))
        return fail(CDNAGEN_BAD_ARGUMENT, "%s line %d: %s = %s: a number is needed", path, number, name, value);
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) {
            if (!allowed(&rows[i], x))
                return fail(CDNAGEN_BAD_ARGUMENT, "%s line %d: %s = %s is out of range (the table has %g %s)", path,
                            number, name, value, *place(out, &rows[i]), rows[i].unit);
            if (line_of[i])
                return fail(CDNAGEN_BAD_ARGUMENT, "%s line %d: %s was given in line %d already: give it once", path,
                            number, name, line_of[i]);
            line_of[i] = number;
            *place(out, &rows[i]) = x;
            return CDNAGEN_OK;
        }
    return fail(CDNAGEN_BAD_ARGUMENT, "%s line %d: the timing model has no parameter \"%s\"; docs/timing.md lists them",
                path, number, name);
}

cdnagen_status parameters_of(const chip *c, const char *path, parameters *out) {
    for (size_t i = 0; i < ROWS; i++) *place(out, &rows[i]) = column(&rows[i], c);
    if (!path) return CDNAGEN_OK;
    FILE *f = fopen(path, "r");
    if (!f) return fail(CDNAGEN_IO, "timing parameters %s: %s", path, strerror(errno));
    char line[512];
    int line_of[ROWS] = {0};
    cdnagen_status status = CDNAGEN_OK;
    for (int number = 1; !status && fgets(line, sizeof line, f); number++)
        status = override(path, number, line, line_of, out);
    if (!status && ferror(f)) status = fail(CDNAGEN_IO, "timing parameters %s: %s", path, strerror(errno));
    fclose(f);
    return status;
}

void sim_timing_parameters(const chip *c, text *out) {
    for (size_t i = 0; i < ROWS; i++)
        text_add(out, "%-22s %10g  %-38s %-9s %s\n", rows[i].name, column(&rows[i], c), rows[i].unit, rows[i].tag,
                 rows[i].source);
}
