/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` chooses for gemm_grouped: a kernel of every choice over the family's route shapes, clean of spills,
 * scratch and accumulator registers, so that the forms, which take the first without a workspace, need not pass over
 * any. */
#include <stdlib.h>

#include "study/jobs.h"
#include "tests/gen/grouped_testing.h"

enum { MADE_MAX = 1024 };
static const char op[] = "gemm_grouped:";

static char made[MADE_MAX][SYMBOL_MAX];
static int made_count;

static int is_made(const char *symbol) {
    for (int i = 0; i < made_count; i++)
        if (!strcmp(made[i], symbol)) return 1;
    assert_true(made_count < MADE_MAX);
    snprintf(made[made_count++], SYMBOL_MAX, "%s", symbol);
    return 0;
}

static int is_clean(cdnagen *ctx, const plan *p) {
    char tag[2 * SYMBOL_MAX];
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info = {.size = sizeof info};
    snprintf(tag, sizeof tag, "%s%s", op, p->tag);
    if (gen_kernel(ctx, tag, p->shape_text, &kernel)) fail_msg("%s %s: %s", tag, p->shape_text, cdnagen_error());
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    cdnagen_free_kernel(kernel);
    if (!info.vgpr_spills && !info.sgpr_spills && !info.scratch_bytes && !info.agpr) return 1;
    print_error("%s %s %s: %u VGPR and %u SGPR spills, %u bytes of scratch, %u AGPR\n", p->target.chip->name, tag,
                p->shape_text, info.vgpr_spills, info.sgpr_spills, info.scratch_bytes, info.agpr);
    return 0;
}

/* unclean_choices: of all that auto may take for the shape. */
static int unclean_choices(cdnagen *ctx, const target *t, const char *shape) {
    int unclean = 0;
    plan p;
    for (int rank = 0; !plan_make("gemm_grouped:auto", shape, t, rank, &p); rank++)
        if (!is_made(p.symbol)) unclean += !is_clean(ctx, &p);
    return unclean;
}

static void every_choice_is_clean(void **state) {
    (void)state;
    int unclean = 0;
    for (int c = 0; c < CHIP_COUNT; c++) {
        const cdnagen_options options = {
            .size = sizeof options, .device = "none", .target = chips[c].name, .cache_dir = "", .log = no_log};
        const target t = target_of(chips[c].name);
        cdnagen *ctx;
        job_list jobs = {0};
        if (cdnagen_create_context(&options, &ctx) || jobs_of_routes(&t, &jobs)) fail_msg("%s", cdnagen_error());
        made_count = 0;
        for (size_t i = 0; i < jobs.count; i++)
            if (!strncmp(jobs.jobs[i].words, op, strlen(op)))
                unclean += unclean_choices(ctx, &t, strchr(jobs.jobs[i].words, ' ') + 1);
        print_message("%s: %d kernels\n", chips[c].name, made_count);
        assert_true(made_count > 20);
        jobs_free(&jobs);
        cdnagen_free_context(ctx);
    }
    if (unclean) fail_msg("%d kernels are not clean", unclean);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_choice_is_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
