/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every tile of gemm_blockscale that its checks let through can be emitted: no array of the generator is too short. */
#include <stdio.h>

#include "gen/family.h"
#include "runtime/compile.h"
#include "tests/core/cmocka_tests.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const atom_words[] = {"16x16x32", "32x32x16", "16x16x128", "32x32x64"};
static const char *const cores[] = {"4w", "4w_wm2", "4w_wm4", "8w", "8w_wm4"};
static const char *const shapes[] = {"b=plain", "b=preshuffled", "b=preshuffled scale_n=1",
                                     "b=preshuffled scale_m=128"};
static const int rows[] = {16, 32, 64, 128, 192, 256}, columns[] = {64, 128, 256}, depths[] = {128, 256};

/* emits: 0 if the checks refuse the tag. */
static int emits(const char *tag, const char *shape) {
    target gfx950;
    plan p;
    assert_int_equal(target_parse("gfx950", &gfx950), CDNAGEN_OK);
    const cdnagen_status s = plan_make(tag, shape, &gfx950, 0, &p);
    if (s == CDNAGEN_LIMIT || s == CDNAGEN_BAD_TAG) return 0;
    if (s) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    compile *c = NULL;
    if (compile_emit(&p, &c) || compile_verify(c)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    compile_free(c);
    return 1;
}

static void every_tile_can_be_emitted(void **state) {
    const size_t which = *(const size_t *)*state;
    int emitted = 0;
    char tag[128];
    for (size_t core = 0; core < COUNT(cores); core++)
        for (size_t shape = 0; shape < COUNT(shapes); shape++)
            for (size_t i = 0; i < COUNT(rows) * COUNT(columns) * COUNT(depths); i++) {
                snprintf(tag, sizeof tag, "gemm_blockscale:mfma%s_t%dx%dx%d_%s", atom_words[which],
                         rows[i % COUNT(rows)], columns[i / COUNT(rows) % COUNT(columns)],
                         depths[i / (COUNT(rows) * COUNT(columns))], cores[core]);
                emitted += emits(tag, shapes[shape]);
            }
    print_message("%s: %d emitted\n", atom_words[which], emitted);
    assert_true(emitted > 50);
}

int main(void) {
    static size_t which[COUNT(atom_words)];
    struct CMUnitTest tests[COUNT(atom_words)];
    for (size_t i = 0; i < COUNT(atom_words); i++) {
        which[i] = i;
        tests[i] = (struct CMUnitTest){atom_words[i], every_tile_can_be_emitted, NULL, NULL, &which[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
