/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped in the timing model, beside what was published of such kernels on hardware; what its loop, its surplus
 * workgroups and its compiling cost.   usage: bench_grouped [--target ID] [-j PROCESSES] */
#include "bench/grouped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

enum { PROCESSES_MAX = 1024 };

/* run: what cases_run has for each process. */
typedef struct run {
    const target *target;
    const grouped_case *all;
    grouped_outcome *results;
} run;

static void look(void *user, cdnagen *ctx, size_t index) {
    const run *const of = user;
    grouped_look(ctx, of->target, &of->all[index], &of->results[index]);
}

static int stop(void) {
    fprintf(stderr, "bench_grouped: %s\n", cdnagen_error());
    return 1;
}

/* rules: what is demanded of the operator by a number. */
static cdnagen_status rules(const target *t, int *missed) {
    const cdnagen_options options = {.size = sizeof options, .device = "sim", .target = t->text};
    cdnagen *ctx = NULL;
    TRY(cdnagen_create_context(&options, &ctx));
    cdnagen_status s = grouped_rolled(ctx, t, missed);
    if (!s) s = grouped_surplus(ctx, missed);
    cdnagen_free_context(ctx);
    if (!s) s = grouped_registers(missed);
    if (!s) s = grouped_compiling(t, missed);
    return s;
}

int main(int argc, char **argv) {
    const char *id = "gfx950";
    long processes = sysconf(_SC_NPROCESSORS_ONLN);
    int bad = 0;
    for (int i = 1; i < argc && !bad; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        if (!strcmp(argv[i], "--target") && *value)
            id = argv[++i];
        else if (!strcmp(argv[i], "-j") && *value)
            processes = strtol(argv[++i], &end, 10), bad = *end || processes < 1 || processes > PROCESSES_MAX;
        else
            bad = 1;
    }
    if (bad) return fprintf(stderr, "usage: %s [--target ID] [-j PROCESSES]\n", argv[0]), 2;
    static grouped_case all[GROUPED_CASES_MAX];
    const size_t count = grouped_cases(all);
    const double started = clock_ms();
    target t;
    if (target_parse(id, &t)) return stop();
    run of = {.target = &t, .all = all, .results = cases_memory(count * sizeof *of.results)};
    const cases c = {.program = "bench_grouped", .target = &t, .count = count, .run = look, .user = &of};
    if (!of.results) return perror("bench_grouped"), 1;
    printf("# gemm_grouped on %s, modelled\n\nCycles and times are the timing model's (docs/timing.md), published ones "
           "are of "
           "hardware; compiling was measured.\n",
           t.text);
    int missed = 0;
    if (rules(&t, &missed)) return stop();
    const int failed = cases_run(&c, (int)processes);
    for (size_t i = 0; i < count; i++)
        if (!of.results[i].done)
            snprintf(of.results[i].error, sizeof of.results[i].error, "its process ended before it");
    missed += grouped_report(all, of.results, count);
    printf("\n%d missed. %.0f s on this machine, %ld processes.\n", missed, (clock_ms() - started) * 1e-3, processes);
    return failed;
}
