/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen tune: the route table of an operator, measured on a GPU or modelled on the simulator. */
#include "study/tune.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "runtime/context.h"
#include "study/files.h"

enum { BUDGET = 40 };

static void show(void *user, const tune_event *e) {
    (void)user;
    if (e->tag) {
        progress("%s class %d of %d, %s: %s %s; best %s %.6g %s; %llu seen, %llu timed", e->target, e->point, e->points,
                 e->shape, e->tag, e->status, e->best_tag, e->best, e->unit, (unsigned long long)e->totals->seen,
                 (unsigned long long)e->totals->ranked);
        return;
    }
    progress("%s", "");
    if (*e->best_tag)
        printf("%s %2d of %d  %-46s %-52s %.6g %s\n", e->target, e->point, e->points, e->shape, e->best_tag, e->best,
               e->unit);
    else
        printf("%s %2d of %d  %-46s nothing was timed\n", e->target, e->point, e->points, e->shape);
    fflush(stdout);
}

static void show_totals(const tune_totals *n) {
    printf("variants     %.0f in the grid of all classes, %llu seen: %llu illegal, %llu pruned before and %llu after "
           "compiling, %llu wrong, %llu timed (%llu of them from the file), %llu left for want of budget\n",
           n->grid, (unsigned long long)n->seen, (unsigned long long)n->illegal, (unsigned long long)n->pruned,
           (unsigned long long)(n->refused + n->spills + n->bound), (unsigned long long)n->wrong,
           (unsigned long long)n->ranked, (unsigned long long)n->recalled, (unsigned long long)n->left);
    printf("             after compiling: %llu refused, %llu spill, %llu cannot be faster than the best by their loops "
           "alone\n",
           (unsigned long long)n->refused, (unsigned long long)n->spills, (unsigned long long)n->bound);
}

static cdnagen_status parse_budget(const char *words, int *out) {
    char *end;
    if (!words) return CDNAGEN_OK;
    const long n = strtol(words, &end, 10);
    if (end == words || *end || n < 0 || n > 1000000)
        return fail(CDNAGEN_BAD_ARGUMENT, "--budget \"%s\" must be a number from 0 to 1000000", words);
    *out = (int)n;
    return CDNAGEN_OK;
}

/* tune_target: one chip, on the device of the options; its table to DIR/routes_CHIP.inc, or printed. */
static cdnagen_status tune_target(const cli *options, const family *f, const tune_options *how, tune_totals *totals) {
    cdnagen *ctx = NULL;
    text table = {0}, name = {0};
    target t;
    cdnagen_status status = context_open(options, "auto", &ctx);
    if (!status) status = tune_run(ctx, f, how, &table, totals);
    if (!status) status = target_parse(options->target, &t);
    if (!status) text_add(&name, "routes_%s", t.chip->name);
    if (!status && (table.failed || name.failed)) status = fail_no_memory();
    if (!status && options->out_dir) status = write_file(options->out_dir, name.data, ".inc", table.data, table.length);
    if (!status && !options->out_dir) printf("%s", table.data);
    text_free(&table);
    text_free(&name);
    cdnagen_free_context(ctx);
    return status;
}

cdnagen_status find_gpu(const cli *options, char id[64]) {
    cdnagen *ctx = NULL;
    id[0] = 0;
    cdnagen_status status = context_open(options, "auto", &ctx);
    if (!status) status = context_ready(ctx);
    if (!status && device_is_gpu(&ctx->device)) snprintf(id, 64, "%s", ctx->device.target.chip->name);
    cdnagen_free_context(ctx);
    return status;
}

static cdnagen_status tune_all(const cli *options, const family *f, const tune_options *how, tune_totals *totals) {
    cli one = *options;
    one.refuse_spills = 1;
    char gpu[64];
    if (options->out_dir) TRY(make_folder(options->out_dir));
    TRY(find_gpu(options, gpu));
    if (*gpu) {
        one.target = options->target ? options->target : gpu;
        return tune_target(&one, f, how, totals);
    }
    one.device = "sim";
    if (!one.sim_mode) one.sim_mode = "late"; /* a missing wait must show before a variant is ranked */
    for (int i = 0; i < CHIP_COUNT; i++) {
        if (!options->target) one.target = chips[i].name;
        TRY(tune_target(&one, f, how, totals));
        if (options->target) break;
    }
    return CDNAGEN_OK;
}

int tune_command(const cli *options) {
    tune_totals totals = {0};
    tune_options how = {.db = options->db ? options->db : "cdnagen-tune.db",
                        .shapes = options->shapes,
                        .budget = BUDGET,
                        .counts = &measure_standard,
                        .report = show};
    const char *const op = options->word_count == 1 ? options->words[0] : "";
    const family *const f = family_find(op, strlen(op));
    cdnagen_status status = parse_budget(options->budget, &how.budget);
    if (!status && !f)
        status = fail(CDNAGEN_BAD_ARGUMENT, "tune takes one operator, not \"%s\"; `cdnagen list` names them", op);
    if (!status) status = tune_all(options, f, &how, &totals);
    progress("%s", "");
    if (totals.seen) show_totals(&totals);
    return status ? fail_exit(status) : EXIT_OK;
}
