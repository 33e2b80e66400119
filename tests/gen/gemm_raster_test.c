/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The maps from workgroup to tile: bijections on every grid, in the order they promise; and the model of L2. */
#include <stdlib.h>

#include "tests/gen/gemm_testing.h"

static const raster orders[] = {
    {.group = 0},  {.chunked = 1}, {.group = 1}, {.group = 2}, {.group = 3}, {.group = 4}, {.group = 8},  {.group = 16},
    {.group = 64}, {.panel = 2},   {.panel = 3}, {.panel = 4}, {.panel = 5}, {.panel = 8}, {.panel = 16}, {.panel = 64},
};

static void check_bijection(const raster *r, int64_t tiles_m, int64_t tiles_n, int xcds) {
    static unsigned char seen[64 * 64];
    memset(seen, 0, (size_t)(tiles_m * tiles_n));
    for (int64_t id = 0; id < tiles_m * tiles_n; id++) {
        const raster_tile t = raster_map(r, tiles_m, tiles_n, xcds, id);
        if (t.m < 0 || t.m >= tiles_m || t.n < 0 || t.n >= tiles_n || seen[t.m * tiles_n + t.n]++)
            fail_msg("group%d panel%d chunked%d on %dx%d, %d XCDs: workgroup %d gets [%d, %d]", (int)r->group,
                     (int)r->panel, r->chunked, (int)tiles_m, (int)tiles_n, xcds, (int)id, (int)t.m, (int)t.n);
    }
}

/* All grids up to 24 x 24, which hold every remainder of tiles by 8 XCDs and by each band's width, and longer ones. */
static void every_map_is_a_bijection(void **state) {
    (void)state;
    static const int xcds[] = {1, 6, 8};
    for (size_t o = 0; o < COUNT(orders); o++)
        for (size_t x = 0; x < COUNT(xcds); x++) {
            for (int64_t m = 1; m <= 24; m++)
                for (int64_t n = 1; n <= 24; n++) check_bijection(&orders[o], m, n, xcds[x]);
            check_bijection(&orders[o], 1, 4096, xcds[x]);
            check_bijection(&orders[o], 4095, 1, xcds[x]);
            check_bijection(&orders[o], 61, 67, xcds[x]);
        }
}

static void an_xcd_has_consecutive_places(void **state) {
    (void)state;
    for (int64_t count = 1; count < 100; count++) {
        int64_t next = 0;
        for (int64_t xcd = 0; xcd < 8; xcd++)
            for (int64_t id = xcd; id < count; id += 8) assert_int_equal(raster_chunk(id, count, 8), next++);
        assert_int_equal(next, count);
    }
}

static void expect_walk(const raster *r, int64_t tiles_m, int64_t tiles_n, const int (*walk)[2], size_t count) {
    for (size_t id = 0; id < count; id++) {
        const raster_tile t = raster_map(r, tiles_m, tiles_n, 1, (int64_t)id);
        assert_int_equal(t.m, walk[id][0]);
        assert_int_equal(t.n, walk[id][1]);
    }
}

/* On 3 x 3 tiles, bands of two: a full one and a ragged one. */
static void walks_by_hand(void **state) {
    (void)state;
    static const int raw[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}},
                     panel[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}},
                     group[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
    expect_walk(&(raster){.group = 0}, 3, 3, raw, 9);
    expect_walk(&(raster){.panel = 2}, 3, 3, panel, 9);
    expect_walk(&(raster){.group = 2}, 3, 3, group, 9);
}

static int64_t fills_mib(int64_t m, int64_t n, int64_t k, raster r) {
    const raster_grid grid = {.tiles_m = m / 64,
                              .tiles_n = n / 256,
                              .row_bytes = 64 * k,
                              .column_bytes = 256 * k,
                              .l2_bytes = 4 << 20,
                              .xcds = 8,
                              .resident = 64};
    int64_t fills;
    assert_int_equal(raster_fills(&grid, &r, &fills), CDNAGEN_OK);
    return fills >> 20;
}

/* Tiles of 64 x 256, two workgroups a compute unit, 4 MiB of L2 an XCD. */
static void fills_of_a_wide_and_of_a_light_product(void **state) {
    (void)state;
    const struct {
        int64_t m, n, k;
        raster order;
        int64_t mib;
    } rows[] = {
        {4096, 65536, 1536, {.panel = 8}, 288},  {4096, 65536, 1536, {.group = 0}, 774},
        {4096, 65536, 1536, {.group = 8}, 774},  {4096, 65536, 1536, {.group = 4}, 1542},
        {4096, 65536, 1536, {.group = 16}, 396}, {16384, 7168, 768, {.group = 0}, 54},
        {16384, 7168, 768, {.panel = 8}, 63},    {16384, 7168, 768, {.group = 8}, 180},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(fills_mib(rows[i].m, rows[i].n, rows[i].k, rows[i].order), rows[i].mib);
}

/* What fits one L2 is loaded once; a line larger than L2 at every use but those of one round. */
static void fills_at_the_ends(void **state) {
    (void)state;
    const raster raw = {.group = 0};
    raster_grid grid = {.tiles_m = 4, .tiles_n = 4, .row_bytes = 10, .column_bytes = 100, .xcds = 1, .resident = 1};
    int64_t fills;
    grid.l2_bytes = 1000;
    assert_int_equal(raster_fills(&grid, &raw, &fills), CDNAGEN_OK);
    assert_int_equal(fills, 4 * 10 + 4 * 100);
    grid.l2_bytes = 0;
    assert_int_equal(raster_fills(&grid, &raw, &fills), CDNAGEN_OK);
    assert_int_equal(fills, 16 * (10 + 100));
    grid.resident = 4;
    assert_int_equal(raster_fills(&grid, &raw, &fills), CDNAGEN_OK);
    assert_int_equal(fills, 16 * 10 + 4 * 100);
    mem_fail_at(1);
    assert_int_equal(raster_fills(&grid, &raw, &fills), CDNAGEN_NO_MEMORY);
    mem_fail_at(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_map_is_a_bijection),
        cmocka_unit_test(an_xcd_has_consecutive_places),
        cmocka_unit_test(walks_by_hand),
        cmocka_unit_test(fills_of_a_wide_and_of_a_light_product),
        cmocka_unit_test(fills_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
