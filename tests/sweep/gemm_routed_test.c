/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `auto` chooses for gemm_blockscale: of every choice a kernel for every combination of shape words, clean of
 * spills, scratch and accumulator registers; and a grade of each first choice on small odd shapes.
 * usage: sweep_gemm_routed [--full] */
#include <stdlib.h>

#include "gen/gemm_blockscale/gemm_blockscale.h"
#include "study/check.h"
#include "tests/gen/testing.h"
#include "tests/sweep/runs.h"

enum { NAME_BYTES = 400, MADE_MAX = 4096, WORDS = 8, ROWS = 16, ROWS_SOME = 4 };
#define AUTO "gemm_blockscale:auto"

static int is_full;

/* A problem of every class that the routes tell apart, on one of the chips at least: rows of decoding, K that is split
 * and K that is not, in tiles of one scale block and of two, 8 waves, narrow and wide tiles, n that cs cannot store. */
static const char *const problems[] = {
    "m=1 n=512 k=7168",      "m=64 n=512 k=7168",    "m=200 n=512 k=7168",    "m=1 n=512 k=2176",
    "m=64 n=512 k=2176",     "m=200 n=512 k=2176",   "m=1 n=65536 k=1536",    "m=64 n=65536 k=1536",
    "m=1 n=7168 k=128",      "m=64 n=7168 k=128",    "m=256 n=7168 k=2048",   "m=256 n=7168 k=128",
    "m=4096 n=2048 k=7168",  "m=16384 n=7168 k=768", "m=4096 n=65536 k=1536", "m=4096 n=7168 k=2048",
    "m=1024 n=2112 k=7168",  "m=1024 n=3072 k=1536", "m=4096 n=7168 k=18432", "m=16384 n=7168 k=18432",
    "m=4096 n=65538 k=1536", "m=1024 n=3074 k=1536", "m=4096 n=7170 k=2048",  "m=16384 n=7170 k=18432",
};

/* words_of: row x of an orthogonal array: 16 rows have every combination of any three of the eight words. */
static void words_of(int x, char *out, size_t room) {
    static const char *const choices[WORDS][2] = {
        {"b=plain", "b=preshuffled"},
        {"a_scales=row", "a_scales=kmajor"},
        {"scale_m=1", "scale_m=128"},
        {"scale_n=128", "scale_n=1"},
        {"scales=f32", "scales=ue8m0"},
        {"out=bf16", "out=f16"},
        {"", "k_tail=1"},
        {"", "n_tail=1"},
    };
    const int a = x & 1, b = x >> 1 & 1, c = x >> 2 & 1, d = x >> 3 & 1;
    const int bits[WORDS] = {a, b, c, d, b ^ c ^ d, a ^ c ^ d, a ^ b ^ c, a ^ b ^ d};
    size_t used = 0;
    for (int w = 0; w < WORDS; w++) used += (size_t)snprintf(out + used, room - used, " %s", choices[w][bits[w]]);
}

static char made[MADE_MAX][NAME_BYTES];
static int made_count;
static int is_made(const char *name) {
    for (int i = 0; i < made_count; i++)
        if (!strcmp(made[i], name)) return 1;
    if (made_count == MADE_MAX) abort();
    snprintf(made[made_count++], NAME_BYTES, "%s", name);
    return 0;
}

static const char mode[] = "late poison check=all threads=1";

/* choice: what auto would take for the problem, were the choices before it passed over. 0: there is none, or
 * preshuffled B has no such n. */
static int choice(int c, const char *shape, int rank, plan *p) {
    const target t = target_of(chips[c].name);
    blockscale_shape s;
    assert_int_equal(shape_parse(&gemm_blockscale_family.shape, shape, &s), CDNAGEN_OK);
    if (s.b == GEMM_B_PRESHUFFLED && s.n % GEMM_PACK_N) return 0;
    const cdnagen_status status = plan_make(AUTO, shape, &t, rank, p);
    if (status == CDNAGEN_LIMIT && rank) return 0;
    if (status) fail_msg("%s %s: %s", chips[c].name, shape, cdnagen_error());
    return 1;
}

static cdnagen_kernel *kernel_of(cdnagen *ctx, const plan *p, const char *shape) {
    char full[NAME_BYTES];
    cdnagen_kernel *kernel;
    snprintf(full, sizeof full, "gemm_blockscale:%s", p->tag);
    if (gen_kernel(ctx, full, shape, &kernel)) fail_msg("%s %s: %s", full, shape, cdnagen_error());
    return kernel;
}

/* unclean_choices: of all kernels that auto may take for the problem. */
static int unclean_choices(cdnagen *ctx, int c, const char *shape) {
    int unclean = 0;
    plan p;
    for (int rank = 0; choice(c, shape, rank, &p); rank++) {
        if (is_made(p.symbol)) continue;
        cdnagen_kernel *const kernel = kernel_of(ctx, &p, shape);
        cdnagen_kernel_info info = {.size = sizeof info};
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        if (info.vgpr_spills || info.sgpr_spills || info.scratch_bytes || info.agpr) {
            fprintf(stderr, "%s %s %s: %u VGPR and %u SGPR spills, %u bytes of scratch, %u AGPR\n", chips[c].name,
                    p.tag, shape, info.vgpr_spills, info.sgpr_spills, info.scratch_bytes, info.agpr);
            unclean++;
        }
        cdnagen_free_kernel(kernel);
    }
    return unclean;
}

static void every_choice_is_clean(void **state) {
    (void)state;
    int unclean = 0;
    for (int c = 0; c < CHIP_COUNT; c++) {
        cdnagen *const ctx = runs_on(chips[c].name, mode);
        made_count = 0;
        for (int i = 0; i < (int)COUNT(problems) * ROWS; i++) {
            char shape[NAME_BYTES], words[NAME_BYTES];
            if (!is_full && (i / ROWS + i) % (ROWS / ROWS_SOME)) continue;
            words_of(i % ROWS, words, sizeof words);
            snprintf(shape, sizeof shape, "%s%s", problems[i / ROWS], words);
            unclean += unclean_choices(ctx, c, shape);
        }
        print_message("%s: %d kernels\n", chips[c].name, made_count);
    }
    if (unclean) fail_msg("%d kernels are not clean", unclean);
}

/* ---- grades ---- */

/* No place is off by more than the rule allows, and the cosine is 1 to six digits: what rounding to bf16 leaves. */
static void check_grade(cdnagen *ctx, const char *chip_name, const plan *chosen, const char *shape, uint64_t seed) {
    const target t = target_of(chip_name);
    char tag[NAME_BYTES];
    plan p;
    snprintf(tag, sizeof tag, "gemm_blockscale:%s", chosen->tag);
    if (plan_make(tag, shape, &t, 0, &p)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    cdnagen_kernel *const kernel = kernel_of(ctx, &p, shape);
    const check_options how = {.seed = seed};
    check_report report;
    if (check_run(ctx, kernel, &p, &how, &report)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    const grade *const g = &report.grade;
    if (!g->pass || grade_figure(g, "err_ratio") != 0 || !(grade_figure(g, "1 - cosine") <= 1e-6))
        fail_msg("%s %s %s seed %d: err_ratio %g, 1 - cosine %g, %s", chip_name, tag, shape, (int)seed,
                 grade_figure(g, "err_ratio"), grade_figure(g, "1 - cosine"), g->first);
    cdnagen_free_kernel(kernel);
}

/* Odd lengths of every axis, as odd as the layout of B takes; K long enough for the parts that the tag has. Exact data:
 * a power of two for each scale block, another for every neighbour, and every bit counts. Of four seeds one unless
 * --full. */
static void every_first_choice_is_right(void **state) {
    (void)state;
    static const char *const layouts[] = {"b=plain", "b=preshuffled a_scales=kmajor"};
    enum { SEEDS = 4 };
    for (int c = 0; c < CHIP_COUNT; c++) {
        cdnagen *const ctx = runs_on(chips[c].name, mode);
        made_count = 0;
        for (int i = 0; i < (int)COUNT(problems) * (int)COUNT(layouts); i++) {
            char shape[NAME_BYTES], name[NAME_BYTES];
            const char *const layout = layouts[i % (int)COUNT(layouts)];
            plan p;
            snprintf(shape, sizeof shape, "%s %s", problems[i / (int)COUNT(layouts)], layout);
            if (!choice(c, shape, 0, &p)) continue;
            const blockscale_variant *const v = (const blockscale_variant *)p.variant;
            const int is_packed = i % (int)COUNT(layouts), parts = v->split_k ? (int)v->split_k : 1;
            /* Two K tiles a part, the last one not whole. */
            const int k = (2 * parts - 1) * TRIPLE_K(v->tile) + (is_packed ? 96 : 77);
            const int n = is_packed ? 272 : 269 - (int)v->cshuffle;
            snprintf(name, sizeof name, "%s %s", p.tag, layout);
            if (is_made(name)) continue;
            for (int seed = 0; seed <= SEEDS; seed++) {
                if (!is_full && seed < SEEDS && seed != made_count % SEEDS) continue;
                snprintf(shape, sizeof shape, "m=67 n=%d k=%d %s %s", n, k, layout, seed == SEEDS ? "data=exact" : "");
                check_grade(ctx, chips[c].name, &p, shape, (uint64_t)seed);
            }
        }
        print_message("%s: %d kernels\n", chips[c].name, made_count);
    }
}

int main(int argc, char **argv) {
    is_full = argc > 1 && !strcmp(argv[1], "--full");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_is_clean),
        cmocka_unit_test(every_first_choice_is_right),
    };
    runs_open();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    runs_close();
    return failed;
}
