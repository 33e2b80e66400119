/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The 4-wave core's waits and barriers, as grouped products have them, and with the scales of gemm_blockscale: kernels
 * are silent under every check and right with results that appear late, from 1 K tile to 5, in whole tiles and with
 * tails; each wait and each barrier of the loop over K tiles is needed; and parts of K are written back before they are
 * counted, and read behind that. */
#include "tests/hazards/loop_faults.h"

#define OP "gemm_grouped:"

static const char *const kernels[][2] = {
    {"gfx950", OP "mfma16x16x128_t32x128x128_cs_async"},
    {"gfx950", OP "mfma32x32x64_t64x128x128"},
    {"gfx950", OP "mfma16x16x128_t32x128x256_sk2"},
    {"gfx942", OP "mfma16x16x32_t32x128x128_cs"},
};

static void one_to_five_k_tiles_are_silent_and_right(void **state) {
    (void)state;
    static const char *const words[] = {"layout=sizes b=preshuffled k_tail=0", "layout=padded k_tail=0 n_tail=0",
                                        "layout=batched scale=block b=preshuffled k_tail=0",
                                        "layout=offsets scale=block k_tail=0", "layout=n_offsets k_tail=0"};
    for (size_t i = 0; i < COUNT(kernels); i++)
        for (int tiles = 1; tiles <= 5; tiles++) {
            const int deep = strstr(kernels[i][1], "x256") ? 256 : 128, split = strstr(kernels[i][1], "_sk2") != NULL;
            char shape[160];
            snprintf(shape, sizeof shape, "groups=3 m=40 n=128 k=%d data=exact %s", deep * (tiles + split),
                     words[(i + (size_t)tiles) % COUNT(words)]);
            check_right(kernels[i][0], kernels[i][1], shape);
        }
}

/* K that ends inside a tile, in a chunk of 16, right behind a tile; groups of K that do so each for itself. */
static void k_that_ends_inside_a_tile_is_silent_and_right(void **state) {
    (void)state;
    static const int lengths[] = {16, 112, 144, 256, 400};
    for (size_t i = 0; i < COUNT(kernels); i++)
        for (size_t j = 0; j < COUNT(lengths); j++) {
            char shape[160];
            if (strstr(kernels[i][1], "_sk2") && lengths[j] <= 256) continue;
            snprintf(shape, sizeof shape, "layout=%s groups=3 m=33 n=72 k=%d data=exact", j % 2 ? "sizes" : "n_offsets",
                     lengths[j]);
            check_right(kernels[i][0], kernels[i][1], shape);
            snprintf(shape, sizeof shape, "layout=k_offsets groups=3 m=33 n=72 k=%d extents=%d,16,%d data=exact",
                     2 * lengths[j] + 16, lengths[j], lengths[j]);
            check_right(kernels[i][0], kernels[i][1], shape);
        }
}

#define WHOLE "groups=2 m=64 n=128 k=640 k_tail=0 n_tail=0 data=exact extents=40,24"
/* spare: waits for LDS that the compiler's own waits, before the MFMA that take what was read, have made idle: before a
 * barrier behind which a slot is written, to the far side of which the scheduler may take an MFMA of the last column,
 * and at the loop's head, where they hold for its first trip; and a wait for DMA that counts, of the loads behind it,
 * those of columns' scales once for each atom, as which LLVM may join them. */
static const struct {
    const char *chip, *tag, *shape;
    int spare[FAULT_KINDS];
} broken[] = {
    {"gfx950", OP "mfma16x16x128_t32x128x128_cs_async", WHOLE " b=preshuffled", {0, 0, 1}},
    {"gfx950", OP "mfma16x16x128_t32x128x128_cs_async", WHOLE, {0, 0, 1}},
    {"gfx950", OP "mfma16x16x128_t32x128x128", WHOLE " scale=block", {0}},
    {"gfx950", OP "mfma16x16x128_t32x128x128_cs_async", WHOLE " scale=block", {0, 0, 1}},
    {"gfx950", OP "mfma16x16x128_t32x128x128_cs_async", WHOLE " scale=block b=preshuffled", {0, 0, 1}},
    {"gfx942", OP "mfma16x16x32_t32x128x128_cs", WHOLE " b=preshuffled", {0, 0, 1}},
    {"gfx950",
     "gemm_blockscale:mfma16x16x128_t32x128x128_4w_fused_cs_async",
     "m=64 n=256 k=640 k_tail=0 n_tail=0 scale_n=1 data=exact",
     {0, 1, 1}},
    {"gfx950",
     "gemm_blockscale:mfma16x16x128_t64x256x128_4w_cs_async",
     "m=64 n=256 k=640 k_tail=0 n_tail=0 b=preshuffled a_scales=kmajor data=exact",
     {0, 0, 1}},
};

static void each_wait_and_barrier_of_the_loop_is_needed(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t b = 0; b < COUNT(broken); b++)
        wrong |= !loop_is_needed(broken[b].chip, broken[b].tag, broken[b].shape, "v_mfma", broken[b].spare);
    assert_false(wrong);
}

/* The simulator has no L2 of its own for each XCD, so the order of the instructions says it: a part's sums are stored
 * and written back, waited for and only then counted; who counts last drops its L2 before it loads the others'. */
static void parts_of_k_meet_in_memory(void **state) {
    (void)state;
    static const char *const order[] = {
        "buffer_store_dwordx4", "buffer_wbl2 sc1", "s_waitcnt vmcnt(0)", "s_barrier",
        "global_atomic_add",    "s_barrier",       "buffer_inv sc1",     "buffer_load_dwordx4",
        "global_atomic_add"};
    static const char *const rows[][2] = {{"gfx950", OP "mfma16x16x128_t32x128x256_sk2"},
                                          {"gfx942", OP "mfma16x16x32_t32x128x128_sk2"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        text listing = disassembled(rows[i][0], rows[i][1], "layout=sizes k_tail=0 n_tail=0");
        const char *at = listing.data;
        for (size_t step = 0; step < COUNT(order); step++) {
            at = strstr(at, order[step]);
            if (!at) fail_msg("%s: no %s after %s", rows[i][1], order[step], step ? order[step - 1] : "its start");
            at += strlen(order[step]);
        }
        text_free(&listing);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_to_five_k_tiles_are_silent_and_right),
        cmocka_unit_test(k_that_ends_inside_a_tile_is_silent_and_right),
        cmocka_unit_test(each_wait_and_barrier_of_the_loop_is_needed),
        cmocka_unit_test(parts_of_k_meet_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
