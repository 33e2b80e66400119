/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parts of the model by themselves: LDS phases, footprints, panel counts, the parameter table. */
#include "sim/timing/model.h"
#include "sim/timing/panels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- LDS ---- */

static unsigned char lds[65536];

typedef uint32_t address_of(uint32_t lane);
static uint32_t linear(uint32_t l) { return 16 * l; }
static uint32_t linear_b64(uint32_t l) { return 8 * l; }
static uint32_t linear_b32(uint32_t l) { return 4 * l; }
static uint32_t same(uint32_t l) { return l & 0; }
static uint32_t rows_128(uint32_t l) { return 128 * (l % 16) + 16 * (l / 16); }
static uint32_t rows_128_swizzled(uint32_t l) { return 128 * (l % 16) + 16 * ((l / 16) ^ (l % 8)); }
static uint32_t rows_256(uint32_t l) { return 256 * l; }
static uint32_t words_128(uint32_t l) { return 128 * l; }
static uint32_t words_256(uint32_t l) { return 256 * l; }

static const struct access {
    const char *chip, *instruction;
    address_of *address;
    int bank, conflict, port;
} accesses[] = {
    {"gfx950", "ds_read_b128", linear, 4, 0, 8},
    {"gfx942", "ds_read_b128", linear, 8, 0, 16},
    {"gfx950", "ds_read_b64", linear_b64, 2, 0, 4},
    {"gfx942", "ds_read_b64", linear_b64, 4, 0, 8},
    {"gfx950", "ds_read_b32", linear_b32, 2, 0, 2},
    {"gfx942", "ds_read_b32", linear_b32, 2, 0, 4},
    {"gfx950", "ds_read_b128", same, 4, 0, 8},              /* one address: broadcast */
    {"gfx950", "ds_read_b128", rows_128, 16, 12, 8},        /* a tile of rows: 4 ways in each of 4 phases */
    {"gfx950", "ds_read_b128", rows_128_swizzled, 4, 0, 8}, /* and swizzled */
    {"gfx942", "ds_read_b128", rows_128_swizzled, 8, 0, 16},
    {"gfx950", "ds_read_b128", rows_256, 64, 60, 8}, /* all lanes of a phase in the same banks */
    {"gfx942", "ds_read_b32", words_128, 64, 62, 4}, /* 128 bytes are once round 32 banks */
    {"gfx950", "ds_read_b32", words_128, 32, 30, 2}, /* and half round 64 */
    {"gfx950", "ds_read_b32", words_256, 64, 62, 2},
    {"gfx950", "ds_write_b32", linear_b32, 2, 0, 8},
    {"gfx950", "ds_write_b32", words_128, 64, 62, 8}, /* writes use 32 banks on both chips */
    {"gfx950", "ds_write_b64", linear_b64, 4, 0, 12},
    {"gfx950", "ds_write_b128", linear, 8, 0, 20},
    {"gfx942", "ds_write_b128", linear, 8, 0, 20},
    {"gfx950", "ds_write_b128", rows_128, 64, 56, 20}, /* 8 consecutive rows in one column */
    {"gfx950", "ds_add_u32", same, 64, 62, 8},         /* atomics on one word take turns */
};

static transfer access_at(const struct access *x) {
    static inst in;
    in = (inst){.row = isa_find(x->instruction)};
    assert_non_null(in.row);
    transfer a = {.in = &in, .exec = UINT64_MAX, .elements = 1};
    for (uint32_t l = 0; l < LANES; l++) a.place[l] = lds + x->address(l);
    return a;
}

static void lds_phases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        const struct access *x = &accesses[i];
        const chip *c = chip_find(x->chip, strlen(x->chip));
        parameters q;
        assert_int_equal(parameters_of(c, NULL, &q), CDNAGEN_OK);
        const transfer a = access_at(x);
        const lds_cost cost = lds_access(c, &q, &a, lds);
        if (cost.bank != x->bank || cost.conflict != x->conflict || cost.port != x->port)
            fail_msg("row %zu, %s %s: banks %d, conflicts %d, port %d", i, x->chip, x->instruction, cost.bank,
                     cost.conflict, cost.port);
    }
}

static void lanes_that_are_off_cost_nothing(void **state) {
    (void)state;
    const chip *c = chip_find("gfx950", 6);
    parameters q;
    assert_int_equal(parameters_of(c, NULL, &q), CDNAGEN_OK);
    transfer a = access_at(&(struct access){.instruction = "ds_read_b128", .address = rows_256});
    a.exec = 1;
    assert_int_equal(lds_access(c, &q, &a, lds).bank, 1);
    assert_int_equal(lds_access(c, &q, &a, lds).conflict, 0);
    a.elements = 2; /* ds_read2: two accesses, one after the other */
    a.exec = UINT64_MAX;
    a.second = 8;
    assert_int_equal(lds_access(c, &q, &a, lds).conflict, 2 * 60);
}

/* ---- matrix instructions ---- */

static const struct matrix {
    const char *chip, *name;
    int formats;                     /* cbsz and blgp */
    int passes, gate, read, partial; /* read, partial: slots that LLVM's hazard recogniser puts between */
} matrices[] = {
    {"gfx942", "v_mfma_f32_4x4x4_16b_f16", 0, 2, 1, 5, 3},
    {"gfx942", "v_mfma_f32_16x16x16_f16", 0, 4, 1, 7, 5},
    {"gfx942", "v_mfma_f32_32x32x8_bf16", 0, 8, 1, 11, 9},
    {"gfx942", "v_mfma_f32_16x16x32_fp8_fp8", 0, 4, 1, 7, 5},
    {"gfx942", "v_mfma_f32_32x32x16_bf8_fp8", 0, 8, 1, 11, 9},
    {"gfx942", "v_mfma_i32_32x32x16_i8", 0, 8, 1, 11, 9},
    {"gfx942", "v_mfma_f32_16x16x4_f32", 0, 8, 10, 10, 8},
    {"gfx942", "v_mfma_f32_32x32x2_f32", 0, 16, 18, 18, 16},
    {"gfx942", "v_mfma_f64_16x16x4_f64", 0, 8, 10, 10, 8},
    {"gfx950", "v_mfma_f32_4x4x4_16b_f16", 0, 2, 1, 5, 4},
    {"gfx950", "v_mfma_f32_16x16x16_f16", 0, 4, 1, 8, 6},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 0, 4, 2, 8, 6},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 0, 8, 2, 12, 10},
    {"gfx950", "v_mfma_f32_32x32x16_fp8_fp8", 0, 8, 1, 12, 10},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 0, 4, 2, 8, 6},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 0, 8, 3, 12, 10},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 4, 4, 2, 8, 6},
    {"gfx950", "v_mfma_f32_32x32x64_f8f6f4", 0, 16, 3, 20, 18},
    {"gfx950", "v_mfma_f32_32x32x64_f8f6f4", 2, 8, 2, 12, 10},
    {"gfx950", "v_mfma_f64_16x16x4_f64", 0, 16, 18, 18, 16},
};

static void matrix_passes_and_distances(void **state) {
    (void)state;
    static const isa_row matrix_row = {.name = "v_mfma", .format = F_MATRIX};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        const struct matrix *m = &matrices[i];
        parameters q;
        assert_int_equal(parameters_of(chip_find(m->chip, 6), NULL, &q), CDNAGEN_OK);
        inst code[2] = {{.row = &matrix_row,
                         .mfma = sim_mfma_find(m->name),
                         .cbsz = (uint8_t)m->formats,
                         .blgp = (uint8_t)m->formats,
                         .op_count = 4}};
        assert_non_null(code[0].mfma);
        const program p = {.code = code, .count = 1};
        op *ops = ops_classify(&p, &q);
        assert_non_null(ops);
        if (ops->passes != m->passes || ops->gate != m->gate || ops->read_after != m->read + 1 ||
            ops->c_after != m->partial + 1)
            fail_msg("%s %s: passes %d, gate %d, read %d, partial %d", m->chip, m->name, ops->passes, ops->gate,
                     ops->read_after - 1, ops->c_after - 1);
        mem_free(ops);
    }
}

/* ---- vector memory ---- */

static void segments_of_an_access(void **state) {
    (void)state;
    static const struct {
        const char *instruction;
        uint32_t pitch, offset;
        int segments;
        uint32_t total;
    } rows[] = {{"global_load_dword", 4, 0, 4, 256},      {"global_load_dword", 4, 4, 5, 256},
                {"global_load_dwordx4", 16, 0, 16, 1024}, {"global_load_dword", 64, 0, 64, 256},
                {"global_load_dword", 0, 0, 1, 256},      {"global_load_dwordx4", 128, 56, 128, 1024}};
    static launch l;
    group g = {.launch = &l, .lds = lds, .lds_bytes = 0};
    static wave w;
    w.group = &g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        inst in = {.row = isa_find(rows[i].instruction)};
        transfer a = {.in = &in, .exec = UINT64_MAX, .elements = 1};
        memset(a.in_range, 0xff, sizeof a.in_range);
        for (uint32_t lane = 0; lane < LANES; lane++)
            a.place[LANES - 1 - lane] = (unsigned char *)(uintptr_t)(0x100000 + rows[i].offset + rows[i].pitch * lane);
        footprint f;
        footprint_of(&w, &a, &f);
        assert_int_equal(f.segments, rows[i].segments);
        assert_int_equal(f.bytes, rows[i].total);
        for (int k = 1; k < f.segments; k++) assert_true(f.segment[k] > f.segment[k - 1]);
        memset(a.in_range, 0, sizeof a.in_range);
        footprint_of(&w, &a, &f);
        assert_int_equal(f.segments, 0);
    }
}

/* ---- panels ---- */

typedef struct order {
    uint32_t rows, columns, group;
    int by_columns; /* panels of `group` columns; else groups of rows */
    int chunked;
} order;

static uint32_t chunk(uint32_t id, uint32_t total) {
    const uint32_t q = total / 8, r = total % 8, x = id % 8;
    return x * q + (x < r ? x : r) + id / 8;
}

static void tile_of(const void *user, uint32_t id, uint32_t *row, uint32_t *column) {
    const order *o = user;
    const uint32_t w = o->chunked ? chunk(id, o->rows * o->columns) : id;
    const uint32_t along = o->by_columns ? o->columns : o->rows, across = o->by_columns ? o->rows : o->columns;
    const uint32_t per = o->group * across, first = w / per * o->group, i = w % per;
    const uint32_t g = along - first < o->group ? along - first : o->group;
    *(o->by_columns ? column : row) = first + i % g;
    *(o->by_columns ? row : column) = i / g;
}

/* 4096 x 65536 x 1536 bytes in tiles of 64 x 256. */
static void panel_walk_of_wide_products(void **state) {
    (void)state;
    static const struct {
        order order;
        uint64_t mib;
    } rows[] = {{{64, 256, 64, 0, 0}, 774}, {{64, 256, 4, 0, 1}, 1542}, {{64, 256, 8, 0, 1}, 774},
                {{64, 256, 16, 0, 1}, 396}, {{64, 256, 8, 1, 1}, 288},  {{64, 256, 4, 1, 1}, 480}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const panel_problem p = {.rows = 64,
                                 .columns = 256,
                                 .row_panel = 64 * 1536,
                                 .col_panel = 256 * 1536,
                                 .xcds = 8,
                                 .resident = 64,
                                 .l2_bytes = 4 << 20,
                                 .tile = tile_of,
                                 .user = &rows[i].order};
        panel_count count;
        assert_int_equal(panels_walk(&p, &count), CDNAGEN_OK);
        assert_int_equal(count.filled >> 20, rows[i].mib);
        assert_int_equal(count.requested >> 20, 7680);
    }
}

/* 8192 cubed in tiles of 256 x 256, 32 workgroups on an XCD: 18, 12, 12 and 33 panels for 64 that are asked. */
static void resident_panels(void **state) {
    (void)state;
    static const struct {
        uint32_t window, panels;
    } rows[] = {{2, 18}, {4, 12}, {8, 12}, {32, 33}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const order o = {32, 32, rows[i].window, 0, 1};
        const panel_problem p = {.rows = 32,
                                 .columns = 32,
                                 .row_panel = 1,
                                 .col_panel = 1,
                                 .xcds = 8,
                                 .resident = 32,
                                 .l2_bytes = 4 << 20,
                                 .tile = tile_of,
                                 .user = &o};
        panel_count count;
        assert_int_equal(panels_resident(&p, &count), CDNAGEN_OK);
        assert_int_equal(count.filled, 4 * 8 * rows[i].panels);
        assert_int_equal(count.requested, 4 * 8 * 64);
    }
}

/* ---- parameters ---- */

static void every_parameter_has_unit_tag_and_source(void **state) {
    (void)state;
    text t = {0};
    sim_timing_parameters(chip_find("gfx942", 6), &t);
    int lines = 0;
    for (char *line = strtok(t.data, "\n"); line; line = strtok(NULL, "\n")) {
        lines++;
        if (!strstr(line, " measured ") && !strstr(line, " vendor ") && !strstr(line, " fitted ") &&
            !strstr(line, " inferred "))
            fail_msg("no tag: %s", line);
        assert_true(strlen(line) > 60);
    }
    assert_int_equal(lines, sizeof(parameters) / sizeof(double));
    text_free(&t);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lds_phases),
        cmocka_unit_test(lanes_that_are_off_cost_nothing),
        cmocka_unit_test(matrix_passes_and_distances),
        cmocka_unit_test(segments_of_an_access),
        cmocka_unit_test(panel_walk_of_wide_products),
        cmocka_unit_test(resident_panels),
        cmocka_unit_test(every_parameter_has_unit_tag_and_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
