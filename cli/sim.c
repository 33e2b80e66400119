/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen sim: one launch of any code object on the simulator. */
#include <stdlib.h>
#include <string.h>

#include "cli/inspect.h"
#include "study/trace.h"

/* "X[,Y,Z]" -> three numbers, 1 where there is none. */
static cdnagen_status parse_extent(const char *option, const char *words, uint32_t out[3]) {
    int n = 0;
    for (const char *p = words; n < 3; p++) {
        const size_t digits = strspn(p, "0123456789");
        const unsigned long x = digits && digits < 11 ? strtoul(p, NULL, 10) : 0;
        if (!x || x > UINT32_MAX) break;
        out[n++] = (uint32_t)x;
        p += digits;
        if (!*p) {
            while (n < 3) out[n++] = 1;
            return CDNAGEN_OK;
        }
        if (*p != ',') break;
    }
    return fail(CDNAGEN_BAD_ARGUMENT, "%s %s: X, X,Y or X,Y,Z is needed, each 1 or more", option, words);
}

cdnagen_status sim_job_of(const cli *options, const char *object, char mode[SIM_MODE_BYTES], sim_job *job) {
    if (!options->grid || !options->block || !options->args)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "a code object, here %s, needs --grid X[,Y,Z], --block X[,Y,Z] and --args FILE.json", object);
    TRY(sim_mode_words(options, mode));
    *job = (sim_job){
        .object = object, .args = options->args, .kernel = options->kernel, .target = options->target, .mode = mode};
    TRY(parse_extent("--grid", options->grid, job->grid));
    return parse_extent("--block", options->block, job->block);
}

void print_trace(const timeline *t, const sim_timing *timing, const char *path) {
    printf("trace        %s, modelled: %zu events of %zu waves", path, t->event_count, t->track_count);
    if (t->cut != UINT64_MAX)
        printf("; cut at clk %llu of %.0f, where it was full", (unsigned long long)t->cut, timing->cu_clk);
    printf("\n");
}

static void show(const sim_job *job, const sim_report *r) {
    printf("device       %s simulator\n", r->chip->name);
    printf("kernel       %s, %zu arguments, %u bytes\n", r->kernel.name, r->args.count, r->kernel.kernarg_bytes);
    printf("launch       grid %u x %u x %u, block %u x %u x %u, %u + %u bytes LDS\n", job->grid[0], job->grid[1],
           job->grid[2], job->block[0], job->block[1], job->block[2], r->kernel.lds_bytes, r->lds_bytes);
    printf("run          %.1f ms on this machine\n", r->launch_ms);
    for (size_t i = 0; i < r->args.count; i++)
        if (r->args.arg[i].write) printf("wrote        %s, %zu bytes\n", r->args.arg[i].write, r->args.arg[i].bytes);
}

int sim_command(const cli *options) {
    sim_job job = {0};
    sim_report report = {0};
    char mode[SIM_MODE_BYTES];
    timeline trace;
    timeline_start(&trace);
    const sim_timing_options timing = {.event = timeline_take, .event_user = &trace};
    cdnagen_status status =
        options->word_count == 1
            ? sim_job_of(options, options->words[0], mode, &job)
            : fail(CDNAGEN_BAD_ARGUMENT, "sim takes one code object, %zu words were given", options->word_count);
    if (options->trace) job.timing = &timing;
    if (!status) status = sim_run(&job, &report);
    if (!status && options->trace) status = timeline_write(&trace, &report.timing, options->trace);
    if (!status) show(&job, &report);
    if (!status && options->trace) print_trace(&trace, &report.timing, options->trace);
    timeline_free(&trace);
    const int code = status ? fail_exit(status) : EXIT_OK;
    sim_report_free(&report);
    return code;
}
