/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The 8-wave core's waits and barriers: kernels are silent under every check and right with results that appear late,
 * from 1 K tile to 5; and each wait and each barrier of the loop over K tiles is needed: let it wait for one operation
 * less, or leave it out, and the checks name a race or a register that is read too early. */
#include "tests/hazards/loop_faults.h"

#define OP "gemm_blockscale:mfma16x16x128_"

/* Every order of turns: quarters and halves of a K tile, none; a tile whose halves are no whole DMA; an epilogue that
 * takes over LDS; workgroups that take it over for their next tile. */
static const char *const tags[] = {
    "t128x256x128_8w",         "t128x256x128_8w_delayed",     "t128x256x128_8w_cluster_cs",
    "t128x256x128_8w_fold1",   "t128x256x128_8w_fold4_cs",    "t192x256x128_8w_cluster",
    "t256x128x128_8w_delayed", "t128x128x128_8w_cluster_pers"};

static void check_tag(const char *rest, const char *shape) {
    char tag[256];
    snprintf(tag, sizeof tag, OP "%s", rest);
    check_right("gfx950", tag, shape);
}

static void one_to_five_k_tiles_are_silent_and_right(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++)
        for (int tiles = 1; tiles <= 5; tiles++) {
            char shape[128];
            snprintf(shape, sizeof shape, "m=128 n=256 k=%d k_tail=0 n_tail=0 data=exact %s", 128 * tiles,
                     tiles % 2 ? "b=preshuffled" : "b=plain");
            check_tag(tags[t], shape);
        }
}

/* K that ends inside a word, a chunk, an MFMA's half, and right behind a tile. */
static void k_that_ends_inside_a_tile_is_silent_and_right(void **state) {
    (void)state;
    static const int lengths[] = {1, 17, 127, 129, 255, 300, 385};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t t = 0; t < 4; t++) {
            char shape[128];
            snprintf(shape, sizeof shape, "m=77 n=250 k=%d data=exact", lengths[i]);
            check_tag(tags[t], shape);
        }
}

/* spare: faults in the loop that do no harm, since something else keeps the order.
 * - A's halves of 128-row tiles: four waves read what the same four waves bring in, and need no barrier for it. Inline
 * and
 *   delayed read and fetch between the MFMA alone: barriers around the reads of A order nothing, nor does a read of A
 *   that returns a phase late, before it is used. Cluster: the barrier before A's half 0 is read.
 * - The wait for A's half 1: a wave waits for its scales, which are younger, before it reads that half (inline,
 * delayed, fold),
 *   or for younger halves, and who reads what the other four waves bring in is a barrier behind them (cluster). */
static const struct {
    const char *tag;
    int spare[FAULT_KINDS];
} broken[] = {{"t128x256x128_8w", {4, 1, 1}},
              {"t128x256x128_8w_delayed", {4, 1, 1}},
              {"t128x256x128_8w_cluster", {1, 1, 0}},
              {"t128x256x128_8w_fold1", {0, 1, 0}},
              {"t192x256x128_8w_cluster", {0, 1, 0}}};

static void each_wait_and_barrier_of_the_loop_is_needed(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        char tag[256];
        snprintf(tag, sizeof tag, OP "%s", broken[b].tag);
        wrong |= !loop_is_needed("gfx950", tag, "m=128 n=256 k=640 k_tail=0 n_tail=0 data=exact b=plain", " lds",
                                 broken[b].spare);
    }
    assert_false(wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_to_five_k_tiles_are_silent_and_right),
        cmocka_unit_test(k_that_ends_inside_a_tile_is_silent_and_right),
        cmocka_unit_test(each_wait_and_barrier_of_the_loop_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
