/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The swizzle of KV tiles in LDS, exhaustively for every head size: a permutation, its own inverse, and how many bank
 * conflicts it leaves. */
#include "tests/gen/mqa_testing.h"

/* The 16 lanes that ds_read_b128 serves in one phase on gfx950; two more phases are the same lanes plus 32.
 * source: HipKittens, analysis/.../phases, measured on MI350X */
enum { PHASES = 4, PHASE_LANES = 16, READ_BYTES = 16, BANK_BYTES = 4 };
static const int phase_lanes[2][PHASE_LANES] = {
    {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
    {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31},
};

static mqa_geometry geometry_of(const char *tag, int dim) {
    const target t = target_of("gfx950");
    const mqa_variant v = variant_of(tag);
    const mqa_shape s = {.heads = 32, .dim = dim};
    return mqa_geometry_of(&v, &s, t.chip);
}

static void is_its_own_inverse_for_every_head_size(void **state) {
    (void)state;
    for (int dim = 64; dim <= 512; dim += 64) {
        const mqa_geometry g = geometry_of("mfma32x32x64_bkv64_lds2", dim);
        assert_int_equal(g.swizzle_period, 1 << (5 + g.swizzle_bits + g.swizzle_shift));
        assert_true(g.swizzle_shift >= g.swizzle_bits);
        for (uint32_t p = 0; p < (uint32_t)g.slot_kv_bytes; p++) {
            const uint32_t physical = mqa_swizzle(&g, p);
            assert_true(physical < (uint32_t)g.slot_kv_bytes);
            assert_int_equal(mqa_swizzle(&g, physical), p);
            /* 32-byte chunks, which one lane's fragment is, stay whole. */
            assert_int_equal(physical % 32, p % 32);
        }
    }
}

static void repeats_with_its_period(void **state) {
    (void)state;
    for (int dim = 64; dim <= 512; dim += 64) {
        const mqa_geometry g = geometry_of("mfma32x32x64_bkv64_lds2", dim);
        const uint32_t period = (uint32_t)g.swizzle_period;
        for (uint32_t p = 0; p + period < (uint32_t)g.slot_kv_bytes; p++)
            assert_int_equal(mqa_swizzle(&g, p + period), mqa_swizzle(&g, p) + period);
    }
}

static void follows_the_head_size(void **state) {
    (void)state;
    static const struct {
        int dim, bits, shift, period;
    } rows[] = {{64, 1, 3, 512}, {128, 2, 3, 1024}, {256, 3, 3, 2048}, {512, 4, 4, 8192}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_geometry g = geometry_of("mfma32x32x64_bkv64_lds2", rows[i].dim);
        assert_int_equal(g.swizzle_bits, rows[i].bits);
        assert_int_equal(g.swizzle_shift, rows[i].shift);
        assert_int_equal(g.swizzle_period, rows[i].period);
    }
}

/* DMA i takes the source address of DMA i % dma_sources and i / dma_sources times as many whole rows further on; what
 * lands at slot byte p must be the tile's byte swizzle(p). */
static void every_dma_finds_its_source(void **state) {
    (void)state;
    enum { STRIDE = 1000 }; /* of a row in memory */
    for (int dim = 64; dim <= 512; dim += 64)
        for (int waves = 1; waves <= 16; waves++)
            for (int bkv = 32; bkv <= 256; bkv += 32) {
                char tag[80];
                snprintf(tag, sizeof tag, "mfma32x32x64_bkv%d_w%d_lds1_pd1", bkv, waves);
                const mqa_geometry g = geometry_of(tag, dim);
                const int dma_bytes = 1024 * waves, count = g.dma_sources, rows = count * dma_bytes / dim;
                if (g.slot_kv_bytes % dma_bytes) continue;
                assert_true(count <= g.kv_dmas && (count == g.kv_dmas || count * dma_bytes % dim == 0));
                for (int i = 0; i < g.kv_dmas; i++)
                    for (int at = 0; at < dma_bytes; at += 16) {
                        const int first = (int)mqa_swizzle(&g, (uint32_t)(i % count * dma_bytes + at)),
                                  own = (int)mqa_swizzle(&g, (uint32_t)(i * dma_bytes + at));
                        const int source = first / dim * STRIDE + first % dim + i / count * rows * STRIDE;
                        assert_int_equal(source, own / dim * STRIDE + own % dim);
                    }
            }
}

/* phase_cycles: accesses of the busiest bank when the 16 lanes read 16 bytes each. */
static int phase_cycles(const mqa_geometry *g, int dim, int phase, int k_step, int half, int swizzled) {
    const chip *const c = target_of("gfx950").chip;
    int used[64] = {0}, most = 0;
    assert_int_equal(c->lds_read_banks, 64);
    for (int i = 0; i < PHASE_LANES; i++) {
        const int lane = phase_lanes[phase % 2][i] + phase / 2 * 32;
        const uint32_t p = (uint32_t)(lane % g->n * dim + k_step * g->k + lane / g->n * 32 + half * READ_BYTES);
        const uint32_t physical = swizzled ? mqa_swizzle(g, p) : p;
        /* Lanes read different addresses, so every one counts. */
        for (int word = 0; word < READ_BYTES / BANK_BYTES; word++) {
            const int n = ++used[(physical / BANK_BYTES + (uint32_t)word) % 64];
            most = n > most ? n : most;
        }
    }
    return most;
}

/* tile_cycles: LDS cycles of all ds_read_b128 of one n-tile; 4 a read is the least. */
static int tile_cycles(const mqa_geometry *g, int dim, int swizzled) {
    int cycles = 0;
    for (int k_step = 0; k_step < g->k_steps; k_step++)
        for (int half = 0; half < 2; half++)
            for (int phase = 0; phase < PHASES; phase++) cycles += phase_cycles(g, dim, phase, k_step, half, swizzled);
    return cycles;
}

static void bank_conflicts_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        int dim, least, plain, swizzled; /* LDS cycles of an n-tile */
    } rows[] = {
        {"mfma32x32x64_bkv64_lds2", 64, 8, 32, 16},     {"mfma32x32x64_bkv64_lds2", 128, 16, 128, 32},
        {"mfma32x32x64_bkv64_lds2", 192, 24, 96, 48},   {"mfma32x32x64_bkv64_lds2", 256, 32, 512, 64},
        {"mfma32x32x64_bkv64_lds2", 320, 40, 160, 136}, {"mfma32x32x64_bkv64_lds2", 384, 48, 384, 96},
        {"mfma32x32x64_bkv64_lds2", 448, 56, 224, 192}, {"mfma32x32x64_bkv64_lds2", 512, 64, 1024, 128},
        {"mfma16x16x128_bkv64_lds2", 128, 8, 32, 16},   {"mfma16x16x128_bkv64_lds2", 256, 16, 128, 32},
        {"mfma16x16x128_bkv64_lds2", 384, 24, 96, 88},  {"mfma16x16x128_bkv64_lds2", 512, 32, 256, 64},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_geometry g = geometry_of(rows[i].tag, rows[i].dim);
        const int plain = tile_cycles(&g, rows[i].dim, 0), swizzled = tile_cycles(&g, rows[i].dim, 1);
        assert_int_equal(g.k_steps * 2 * PHASES, rows[i].least);
        if (plain != rows[i].plain || swizzled != rows[i].swizzled)
            fail_msg("%s dim=%d: %d plain, %d swizzled; expected %d and %d", rows[i].tag, rows[i].dim, plain, swizzled,
                     rows[i].plain, rows[i].swizzled);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_its_own_inverse_for_every_head_size),
        cmocka_unit_test(repeats_with_its_period),
        cmocka_unit_test(follows_the_head_size),
        cmocka_unit_test(every_dma_finds_its_source),
        cmocka_unit_test(bank_conflicts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
