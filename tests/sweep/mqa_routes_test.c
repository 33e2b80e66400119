/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels of the route tables: each compiles for the shape that its class is known by, and none spills. */
#include "tests/gen/mqa_testing.h"

#include "cdnagen.h"

typedef struct row {
    const char *chip;
    int heads_max, dim_max;
    const char *tag;
} row;
static const row rows[] = {
#define ROUTE(chip, heads_max, dim_max, seq_max, seq_kv_max, tag) {chip, heads_max, dim_max, tag},
#include "gen/mqa_logits/routes_gfx942.inc"
#include "gen/mqa_logits/routes_gfx950.inc"
#undef ROUTE
};

static void expect_no_spill(cdnagen *ctx, const row *r, int clean) {
    char tag[SYMBOL_MAX], shape[64];
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    snprintf(tag, sizeof tag, "mqa_logits:%s", r->tag);
    snprintf(shape, sizeof shape, "heads=%d dim=%d clean=%d", r->heads_max, r->dim_max, clean);
    if (gen_kernel(ctx, tag, shape, &kernel)) fail_msg("%s %s %s: %s", r->chip, tag, shape, cdnagen_error());
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    if (info.vgpr_spills || info.sgpr_spills || info.scratch_bytes)
        fail_msg("%s %s %s: %u VGPRs and %u SGPRs spilled, %u bytes of scratch", r->chip, tag, shape, info.vgpr_spills,
                 info.sgpr_spills, info.scratch_bytes);
    cdnagen_free_kernel(kernel);
}

static void no_route_of(const char *name) {
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = name, .cache_dir = ""};
    cdnagen *ctx = NULL;
    int looked_at = 0;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int clean = 0; clean < 2 && !strcmp(rows[i].chip, name); clean++, looked_at++)
            expect_no_spill(ctx, &rows[i], clean);
    assert_true(looked_at > 0);
    cdnagen_free_context(ctx);
}

static void no_route_of_gfx942_spills(void **state) {
    (void)state;
    no_route_of("gfx942");
}

static void no_route_of_gfx950_spills(void **state) {
    (void)state;
    no_route_of("gfx950");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_route_of_gfx942_spills),
        cmocka_unit_test(no_route_of_gfx950_spills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
