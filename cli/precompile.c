/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen precompile: kernels ahead of time. */
#include "study/precompile.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void show(void *user, const precompile_event *e) {
    (void)user;
    progress("%s", "");
    if (e->status)
        printf("%s, line %d: %s\n    %s (%s)\n", e->target, e->job->line, e->job->words, e->error,
               cdnagen_status_name(e->status));
    else
        printf("%s/%s.co, %s, %.1f ms\n", e->target, e->symbol, e->made ? "generated" : "was there", e->ms);
    fflush(stdout);
    progress("%ld of %ld", e->done, e->total);
}

static long cpus(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

/* read_number: a whole number from `least` on; NULL means `standard`.   errors: BAD_ARGUMENT */
static cdnagen_status read_number(const char *option, const char *words, long least, long most, long standard,
                                  long *out) {
    char *end = NULL;
    errno = 0;
    *out = words ? strtol(words, &end, 10) : standard;
    if (!words || (end > words && !*end && !errno && *words != ' ' && *out >= least && *out <= most)) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s %s: a whole number from %ld to %ld is wanted", option, words, least, most);
}

static cdnagen_status read_shard(const char *words, long *shard, long *shards) {
    *shard = 0;
    *shards = 1;
    if (!words) return CDNAGEN_OK;
    char rest[2];
    if (sscanf(words, "%7ld/%7ld%1s", shard, shards, rest) == 2 && *shard >= 0 && *shards > *shard) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "--shard %s: I/N is wanted, with I from 0 to N-1", words);
}

static cdnagen_status read_options(const cli *options, precompile_options *out) {
    enum { DAY = 24 * 3600, WORKERS_MAX = 1024, MEGABYTES_MAX = 1 << 30 };
    if (!options->jobs == !options->routes || !options->out_dir || options->word_count)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "precompile needs --jobs FILE or --routes, and --out DIR, and takes no other words");
    const char *const variable = getenv("CDNAGEN_TARGET");
    long seconds;
    *out = (precompile_options){.jobs_path = options->jobs,
                                .targets = options->target         ? options->target
                                           : variable && *variable ? variable
                                                                   : TARGET_STANDARD,
                                .dir = options->out_dir,
                                .program = "/proc/self/exe"};
    TRY(read_shard(options->shard, &out->shard, &out->shards));
    TRY(read_number("-j", options->workers, 1, WORKERS_MAX, cpus(), &out->workers));
    TRY(read_number("--timeout", options->timeout, 1, DAY, 0, &seconds));
    TRY(read_number("--memory", options->memory, 1, MEGABYTES_MAX, 0, &out->megabytes));
    out->seconds = (double)seconds;
    return CDNAGEN_OK;
}

int precompile_command(const cli *options) {
    precompile_options wanted;
    precompile_totals totals;
    cdnagen_status status = read_options(options, &wanted);
    unsetenv("CDNAGEN_CACHE"); /* "off" would be off for --out too */
    if (!status) status = precompile_run(&wanted, show, NULL, &totals);
    progress("%s", "");
    if (status) return fail_exit(status);
    printf("%ld jobs: %ld generated, %ld were there, %ld failed; report in %s/%s\n", totals.jobs, totals.made,
           totals.jobs - totals.made - totals.failed, totals.failed, options->out_dir, totals.report);
    return totals.failed ? EXIT_CHECK_FAILED : EXIT_OK;
}
