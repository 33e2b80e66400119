/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen precompile: a jobs file to code objects. */
#include "study/precompile.h"

#include "cli/cli.h"

static void show(void *user, const precompile_event *e) {
    (void)user;
    progress("%s", "");
    if (e->status)
        printf("line %d: %s\n    %s (%s)\n", e->line, e->job, e->error, cdnagen_status_name(e->status));
    else
        printf("line %d: %s.co, %s, %.1f ms\n", e->line, e->symbol, e->tier ? "from the cache" : "generated", e->ms);
    fflush(stdout);
    progress("%d of %d", e->done, e->total);
}

int precompile_command(const cli *options) {
    if (!options->jobs || !options->out_dir || options->word_count)
        return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "precompile needs --jobs FILE and --out DIR and no other words"));
    cdnagen *ctx = NULL;
    precompile_totals totals;
    cdnagen_status status = context_open(options, "none", &ctx);
    if (!status) status = precompile_run(ctx, options->jobs, options->out_dir, show, NULL, &totals);
    progress("%s", "");
    if (!status) printf("%d jobs, %d failed; report in %s/report.json\n", totals.jobs, totals.failed, options->out_dir);
    const int code = status ? fail_exit(status) : totals.failed ? EXIT_CHECK_FAILED : EXIT_OK;
    cdnagen_free_context(ctx);
    return code;
}
