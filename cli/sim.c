/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen sim: one launch of any code object on the simulator. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "study/sim_run.h"

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

static cdnagen_status job_of(const cli *options, char mode[SIM_MODE_BYTES], sim_job *job) {
    if (options->word_count != 1 || !options->grid || !options->block || !options->args)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "sim needs one code object, --grid X[,Y,Z], --block X[,Y,Z] and --args FILE.json");
    sim_mode_words(options, mode);
    *job = (sim_job){.object = options->words[0],
                     .args = options->args,
                     .kernel = options->kernel,
                     .target = options->target,
                     .mode = mode};
    TRY(parse_extent("--grid", options->grid, job->grid));
    return parse_extent("--block", options->block, job->block);
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
    sim_job job;
    sim_report report = {0};
    char mode[SIM_MODE_BYTES];
    cdnagen_status status = job_of(options, mode, &job);
    if (!status) status = sim_run(&job, &report);
    if (!status) show(&job, &report);
    const int code = status ? fail_exit(status) : EXIT_OK;
    sim_report_free(&report);
    return code;
}
