/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions: each element's place against tests/sim/data/mfma_layouts.txt, arithmetic against double precision,
 * modifiers, scales, formats of both chips, and the vector paths against the plain one bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#include "core/fp8.h"
#include "sim/mfma_rows.h"

#include <cmocka.h> /* after core/status.h: its macro fail() would hide our function */

enum { LAYOUTS_MAX = 160, OPERAND_DWORDS = 8 * 64, ACC_DWORDS = 32 * 64 };

/* coordinate: what each of its bits adds to the place. */
typedef struct coordinate {
    int count, lane[8], bit[8];
} coordinate;

/* layout: one line of the data file. outer is i of A and D, j of B; inner is k of A and B, j of D. */
typedef struct layout {
    char name[48];
    char operand;
    int derived;
    coordinate block, outer, inner;
} layout;

static layout layouts[LAYOUTS_MAX];
static int layout_count;

static int parse_coordinates(layout *l, char *text) {
    coordinate *to = NULL;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (strcmp(word, "block") == 0)
            to = &l->block;
        else if (strcmp(word, "i") == 0)
            to = &l->outer;
        else if (strcmp(word, "k") == 0)
            to = &l->inner;
        else if (strcmp(word, "j") == 0)
            to = l->operand == 'D' ? &l->inner : &l->outer;
        else {
            if (!to || to->count < 0 || to->count >= 8) return -1;
            char *colon = NULL;
            to->lane[to->count] = (int)strtol(word, &colon, 10);
            if (*colon != ':') return -1;
            to->bit[to->count++] = (int)strtol(colon + 1, NULL, 10);
        }
    }
    return 0;
}

static int read_layouts(void **state) {
    (void)state;
    FILE *f = fopen(MFMA_LAYOUTS, "r");
    if (!f) return -1;
    int bad = 0;
    for (char line[512], origin[16]; !bad && fgets(line, sizeof line, f);) {
        if (line[0] == '#') continue;
        if (layout_count >= LAYOUTS_MAX) {
            bad = 1;
            break;
        }
        layout *l = &layouts[layout_count++];
        int used = 0;
        bad = sscanf(line, "%47s %c %15s %n", l->name, &l->operand, origin, &used) != 3 ||
              parse_coordinates(l, line + used) != 0;
        l->derived = !bad && strcmp(origin, "derived") == 0;
    }
    fclose(f);
    return bad ? -1 : 0;
}

static sim_place place_of(const layout *l, int block, int outer, int inner) {
    const coordinate *const c[3] = {&l->block, &l->outer, &l->inner};
    const int value[3] = {block, outer, inner};
    sim_place p = {0, 0};
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < c[i]->count; b++)
            if (value[i] >> b & 1) p.lane += c[i]->lane[b], p.bit += c[i]->bit[b];
    return p;
}

static const char *const format_names[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};

static const layout *layout_of(const sim_mfma *m, char operand, sim_format f) {
    char name[64];
    const char *rest = m->scaled ? m->name + strlen("v_mfma_scale_") : m->name + strlen("v_mfma_");
    if (m->a == FORMAT_SELECTED)
        snprintf(name, sizeof name, "v_mfma_%s/%s", rest, format_names[f]);
    else
        snprintf(name, sizeof name, "v_mfma_%s", rest);
    for (int i = 0; i < layout_count; i++)
        if (layouts[i].operand == operand && strcmp(layouts[i].name, name) == 0) return &layouts[i];
    fail_msg("no places for %s %c", name, operand);
    return NULL;
}

/* job: one instruction with registers of its own. */
typedef struct job {
    const sim_mfma *m;
    const chip *c;
    sim_mfma_modifiers mod;
    sim_format fa, fb;
    const layout *la, *lb, *ld;
    uint32_t a[OPERAND_DWORDS], b[OPERAND_DWORDS], in[ACC_DWORDS], out[ACC_DWORDS];
    uint32_t scale_a[64], scale_b[64];
} job;

static void prepare(job *q, const sim_mfma *m, const chip *c, sim_mfma_modifiers mod) {
    memset(q, 0, sizeof *q);
    q->m = m;
    q->c = c;
    q->mod = mod;
    if (m->scaled) q->mod.scale_a = q->scale_a, q->mod.scale_b = q->scale_b;
    memset(q->scale_a, 127, sizeof q->scale_a);
    memset(q->scale_b, 127, sizeof q->scale_b);
    q->fa = sim_mfma_format_a(m, &mod);
    q->fb = sim_mfma_format_b(m, &mod);
    q->la = layout_of(m, 'A', q->fa);
    q->lb = layout_of(m, 'B', q->fb);
    q->ld = layout_of(m, 'D', q->fa);
    assert_null(sim_mfma_refusal(m, c, &q->mod));
}

static void run(job *q) { sim_mfma_run(q->m, q->c, &q->mod, q->a, q->b, q->in, q->out); }

static void put(uint32_t *registers, sim_place p, int bits, uint64_t value) {
    if (bits == 64) {
        put(registers, (sim_place){p.lane, p.bit + 32}, 32, value >> 32);
        bits = 32;
    }
    const uint64_t mask = ((UINT64_C(1) << bits) - 1) << p.bit % 32, v = value << p.bit % 32 & mask;
    uint32_t *r = &registers[p.bit / 32 * 64 + p.lane];
    r[0] = (r[0] & ~(uint32_t)mask) | (uint32_t)v;
    if (mask >> 32) r[64] = (r[64] & ~(uint32_t)(mask >> 32)) | (uint32_t)(v >> 32);
}
static uint64_t get(const uint32_t *registers, sim_place p, int bits) {
    if (bits == 64) return get(registers, p, 32) | get(registers, (sim_place){p.lane, p.bit + 32}, 32) << 32;
    const uint32_t *r = &registers[p.bit / 32 * 64 + p.lane];
    const uint64_t both = p.bit % 32 + bits > 32 ? (uint64_t)r[64] << 32 | r[0] : r[0];
    return both >> p.bit % 32 & ((UINT64_C(1) << bits) - 1);
}
static void put_a(job *q, int block, int i, int k, uint64_t v) {
    put(q->a, place_of(q->la, block, i, k), sim_format_bits(q->fa), v);
}
static void put_b(job *q, int block, int k, int j, uint64_t v) {
    put(q->b, place_of(q->lb, block, j, k), sim_format_bits(q->fb), v);
}
static uint64_t get_d(const job *q, int block, int i, int j) {
    return get(q->out, place_of(q->ld, block, i, j), sim_format_bits(q->m->d));
}

static uint64_t one_of(sim_format f, const chip *c) {
    const int fnuz = c->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    switch (f) {
    case FORMAT_FP8: return fnuz ? 0x40 : 0x38;
    case FORMAT_BF8: return fnuz ? 0x40 : 0x3c;
    case FORMAT_FP6: return 0x08;
    case FORMAT_BF6: return 0x0c;
    case FORMAT_FP4: return 0x02;
    case FORMAT_F16: return 0x3c00;
    case FORMAT_BF16: return 0x3f80;
    case FORMAT_F32: return 0x3f800000;
    case FORMAT_F64: return UINT64_C(0x3ff) << 52;
    default: return 1;
    }
}

/* value_of: the number that a code means, from definitions other than the simulator's. */
static double value_of(sim_format f, const chip *c, uint64_t x) {
    static const double fp4[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    static const double fp6_high[4] = {0, 1, 2, 4}, bf6_high[8] = {0, 0.25, 0.5, 1, 2, 4, 8, 16};
    const int fnuz = c->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    switch (f) {
    case FORMAT_FP8: return fnuz ? f32_from_e4m3fnuz((uint8_t)x) : f32_from_e4m3fn((uint8_t)x);
    case FORMAT_BF8: return fnuz ? f32_from_e5m2fnuz((uint8_t)x) : f32_from_e5m2((uint8_t)x);
    case FORMAT_FP6: {
        const int e = (int)(x >> 3 & 3), n = (int)(x & 7);
        return (x >> 5 ? -1 : 1) * (e ? fp6_high[e] * (1 + n / 8.0) : n / 8.0);
    }
    case FORMAT_BF6: {
        const int e = (int)(x >> 2 & 7), n = (int)(x & 3);
        return (x >> 5 ? -1 : 1) * (e ? bf6_high[e] * (1 + n / 4.0) : n / 16.0);
    }
    case FORMAT_FP4: return x >> 3 ? -fp4[x & 7] : fp4[x & 7];
    case FORMAT_F16: {
        const int e = (int)(x >> 10 & 31), n = (int)(x & 1023);
        const double v = e == 31 ? (n ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + n, e - 25) : ldexp(n, -24);
        return x >> 15 ? -v : v;
    }
    case FORMAT_BF16: return f32_from_bf16((uint16_t)x);
    case FORMAT_F32: {
        const uint32_t bits = (uint32_t)x;
        float v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    case FORMAT_F64: {
        double v;
        memcpy(&v, &x, sizeof v);
        return v;
    }
    case FORMAT_I8: return (int8_t)x;
    default: return (int32_t)x;
    }
}

static uint64_t seed = 1;
static uint32_t random32(void) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}
static void fill(uint32_t *p, int count) {
    for (int i = 0; i < count; i++) p[i] = random32();
}

/* for_each: every row on every chip that has it, f8f6f4 rows with every pair of formats. */
static void for_each(void (*check)(job *q)) {
    static job q;
    for (int r = 0; r < sim_mfma_count(); r++)
        for (int c = 0; c < CHIP_COUNT; c++) {
            const sim_mfma *m = sim_mfma_at(r);
            const int formats = m->a == FORMAT_SELECTED ? 5 : 1;
            if (!(m->chips & (strcmp(chips[c].name, "gfx942") == 0 ? ON_GFX942 : ON_GFX950))) continue;
            for (int f = 0; f < formats * formats; f++) {
                prepare(&q, m, &chips[c], (sim_mfma_modifiers){.cbsz = f % formats, .blgp = f / formats});
                check(&q);
            }
        }
}

static void expect_row_of_ones(const job *q, int block, int i, int j) {
    uint32_t want[ACC_DWORDS] = {0};
    for (int other = 0; other < (i < 0 ? q->m->m : q->m->n); other++)
        put(want, place_of(q->ld, block, i < 0 ? other : i, i < 0 ? j : other), sim_format_bits(q->m->d),
            one_of(q->m->d, q->c));
    assert_memory_equal(q->out, want, sizeof want);
}

/* With B's row k all ones, a single one in A at (i, k) must make D's row i all ones and nothing else; B likewise. */
static void one_hot(job *q) {
    const sim_mfma *m = q->m;
    if (m->a == FORMAT_SELECTED && q->fa != q->fb) return;
    const uint64_t a = one_of(q->fa, q->c), b = one_of(q->fb, q->c);
    for (int k = 0; k < m->k; k++) {
        memset(q->a, 0, sizeof q->a);
        memset(q->b, 0, sizeof q->b);
        for (int block = 0; block < m->blocks; block++)
            for (int j = 0; j < m->n; j++) put_b(q, block, k, j, b);
        for (int block = 0; block < m->blocks; block++)
            for (int i = 0; i < m->m; i++) {
                put_a(q, block, i, k, a);
                run(q);
                expect_row_of_ones(q, block, i, -1);
                put_a(q, block, i, k, 0);
            }
        memset(q->b, 0, sizeof q->b);
        for (int block = 0; block < m->blocks; block++)
            for (int i = 0; i < m->m; i++) put_a(q, block, i, k, a);
        for (int block = 0; block < m->blocks; block++)
            for (int j = 0; j < m->n; j++) {
                put_b(q, block, k, j, b);
                run(q);
                expect_row_of_ones(q, block, -1, j);
                put_b(q, block, k, j, 0);
            }
    }
}
static void every_element_of_a_b_and_d_is_in_its_place(void **state) {
    (void)state;
    for_each(one_hot);
}

static void every_row_says_whether_its_places_are_derived(void **state) {
    (void)state;
    for (int i = 0; i < sim_mfma_count(); i++) {
        const sim_mfma *m = sim_mfma_at(i);
        const sim_format f = m->a == FORMAT_SELECTED ? FORMAT_FP8 : m->a;
        assert_int_equal(m->derived, layout_of(m, 'A', f)->derived);
        assert_ptr_equal(sim_mfma_find(m->name), m);
    }
    assert_null(sim_mfma_find("v_mfma_f32_16x16x8_xf32"));
}

/* random_number: a code whose value is finite and of moderate size, so that sums neither overflow nor lose everything. */
static uint64_t random_number(sim_format f, const chip *c) {
    const int bits = sim_format_bits(f);
    if (f == FORMAT_I32) return random32() & 0xffff;
    if (f == FORMAT_F64) {
        const double v = ((double)(int32_t)random32() + random32() * 0x1p-32) * 0x1p-19;
        uint64_t x;
        memcpy(&x, &v, sizeof x);
        return x;
    }
    for (;;) {
        uint64_t x = (uint64_t)random32() << 32 | random32();
        if (bits < 64) x &= (UINT64_C(1) << bits) - 1;
        const double v = fabs(value_of(f, c, x));
        if (v < 1e4 && (v == 0 || v > 1e-4)) return x;
    }
}

/* The bound: a chain of K fused multiply-adds of unit roundoff u errs by at most K u / (1 - K u) times the sum of the
 * magnitudes; blocks of 32 and the last conversion add at most K / 32 + 1 roundings. 2 (K + 1) u covers both. */
static void random_against_double(job *q) {
    static double a[INPUT_ELEMENTS], b[INPUT_ELEMENTS]; /* [block][i or j][k] */
    const sim_mfma *m = q->m;
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++) {
            for (int k = 0; k < m->k; k++) {
                const uint64_t x = random_number(q->fa, q->c), y = random_number(q->fb, q->c);
                put_a(q, block, i, k, x);
                put_b(q, block, k, i, y);
                a[(block * m->m + i) * m->k + k] = value_of(q->fa, q->c, x);
                b[(block * m->n + i) * m->k + k] = value_of(q->fb, q->c, y);
            }
            for (int j = 0; j < m->n; j++)
                put(q->in, place_of(q->ld, block, i, j), sim_format_bits(m->d), random_number(m->d, q->c));
        }
    run(q);
    const double unit = m->d == FORMAT_I32 ? 0 : m->d == FORMAT_F64 ? 0x1p-53 : 0x1p-24;
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++)
            for (int j = 0; j < m->n; j++) {
                const sim_place p = place_of(q->ld, block, i, j);
                double sum = value_of(m->d, q->c, get(q->in, p, sim_format_bits(m->d))), magnitude = fabs(sum);
                for (int k = 0; k < m->k; k++) {
                    const double product = a[(block * m->m + i) * m->k + k] * b[(block * m->n + j) * m->k + k];
                    sum += product;
                    magnitude += fabs(product);
                }
                const double got = value_of(m->d, q->c, get_d(q, block, i, j));
                if (!(fabs(got - sum) <= 2 * (m->k + 1) * unit * magnitude))
                    fail_msg("%s on %s, block %d, D[%d][%d]: %.17g, in double %.17g", m->name, q->c->name, block, i, j,
                             got, sum);
            }
}
static void random_numbers_agree_with_double_precision(void **state) {
    (void)state;
    for_each(random_against_double);
}

/* Any bytes: NaN, infinities, denormals, extreme scales. Then the same with D in the place of C. */
static void paths_agree(job *q) {
    static const sim_mfma_path *const paths[] = {&sim_mfma_baseline, &sim_mfma_avx2, &sim_mfma_avx512};
    static uint32_t plain[ACC_DWORDS];
    for (int round = 0; round < 5; round++) {
        fill(q->a, OPERAND_DWORDS);
        fill(q->b, OPERAND_DWORDS);
        fill(q->in, ACC_DWORDS);
        if (round & 1) /* mostly finite: sums that are not all NaN */
            for (int i = 0; i < OPERAND_DWORDS; i++) q->a[i] &= 0xbbbbbbbb, q->b[i] &= 0xbbbbbbbb;
        if (round == 4) { /* zeros of both signs */
            for (int i = 0; i < OPERAND_DWORDS; i++) q->a[i] &= 0x80808080, q->b[i] &= 0x80808080;
            for (int i = 0; i < ACC_DWORDS; i++) q->in[i] &= 0x80000000;
        }
        if (round & 2) { /* any scale, 0 and 255 among them; else moderate ones */
            fill(q->scale_a, 64);
            fill(q->scale_b, 64);
        } else {
            for (int i = 0; i < 64; i++)
                q->scale_a[i] = 0x70707070 | (random32() & 0x0f0f0f0f), q->scale_b[i] = 0x7f7f7f7f;
        }
        q->mod.op_sel = random32() & 3;
        q->mod.op_sel_hi = random32() & 3;
        const sim_mfma_call call = {q->m, q->c, &q->mod, q->a, q->b, q->in, plain};
        memset(plain, 0, sizeof plain);
        sim_mfma_plain(&call);
        for (int i = 0; i < 3; i++) {
            if (!sim_mfma_path_here(paths[i]) || !sim_mfma_path_runs(paths[i], q->m, &q->mod)) continue;
            sim_mfma_call fast = call;
            fast.d = q->out;
            memset(q->out, 0, sizeof q->out);
            paths[i]->run(&fast);
            if (memcmp(q->out, plain, sizeof plain) != 0)
                fail_msg("%s on %s, cbsz %d blgp %d: path %s differs from the plain one", q->m->name, q->c->name,
                         q->mod.cbsz, q->mod.blgp, paths[i]->name);
        }
        const int acc = sim_mfma_operands(q->m, q->mod.cbsz, q->mod.blgp).acc;
        sim_mfma_run(q->m, q->c, &q->mod, q->a, q->b, q->in, q->in);
        assert_memory_equal(q->in, plain, (size_t)acc * 256);
    }
}
static void vector_paths_equal_the_plain_one_and_d_may_be_c(void **state) {
    (void)state;
    for_each(paths_agree);
}

static void register_counts_are_those_of_the_disassembly(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int cbsz, blgp, a, b, acc;
    } rows[] = {
        {"v_mfma_f32_32x32x64_f8f6f4", 0, 4, 8, 4, 16},       {"v_mfma_f32_16x16x128_f8f6f4", 2, 1, 6, 8, 4},
        {"v_mfma_scale_f32_32x32x64_f8f6f4", 3, 2, 6, 6, 16}, {"v_mfma_f32_32x32x1_2b_f32", 0, 0, 1, 1, 32},
        {"v_mfma_f32_4x4x4_16b_f16", 0, 0, 2, 2, 4},          {"v_mfma_f32_16x16x32_bf16", 0, 0, 4, 4, 4},
        {"v_mfma_i32_16x16x4_4b_i8", 0, 0, 1, 1, 16},         {"v_mfma_f64_16x16x4_f64", 0, 0, 2, 2, 8},
        {"v_mfma_f64_4x4x4_4b_f64", 0, 0, 2, 2, 2},           {"v_mfma_f32_32x32x16_fp8_bf8", 0, 0, 2, 2, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sim_mfma_registers r = sim_mfma_operands(sim_mfma_find(rows[i].name), rows[i].cbsz, rows[i].blgp);
        assert_int_equal(r.a, rows[i].a);
        assert_int_equal(r.b, rows[i].b);
        assert_int_equal(r.acc, rows[i].acc);
    }
}

static float result(const job *q, int i, int j) { return (float)value_of(FORMAT_F32, q->c, get_d(q, 0, i, j)); }

/* Ones everywhere, another power of two for each row, column and K block in the chosen byte, and other bytes wrong. */
static void scales_of_each_block(job *q) {
    const sim_mfma *m = q->m;
    if (!m->scaled) return;
    for (int i = 0; i < m->m; i++)
        for (int k = 0; k < m->k; k++) put_a(q, 0, i, k, one_of(q->fa, q->c)), put_b(q, 0, k, i, one_of(q->fb, q->c));
    for (unsigned select = 0; select < 16; select++) {
        const unsigned byte_a = select & 3, byte_b = select >> 2;
        q->mod.op_sel = (byte_a & 1) | (byte_b & 1) << 1;
        q->mod.op_sel_hi = byte_a >> 1 | byte_b >> 1 << 1;
        for (int lane = 0; lane < 64; lane++) {
            const uint32_t ea = 120 + (uint32_t)(lane * 5 % 7), eb = 122 + (uint32_t)(lane * 3 % 11);
            q->scale_a[lane] = (0x40404040u & ~(0xffu << 8 * byte_a)) | ea << 8 * byte_a;
            q->scale_b[lane] = (0x50505050u & ~(0xffu << 8 * byte_b)) | eb << 8 * byte_b;
        }
        run(q);
        for (int i = 0; i < m->m; i++)
            for (int j = 0; j < m->n; j++) {
                double want = 0;
                for (int block = 0; block < m->k / 32; block++)
                    want +=
                        32 * ldexp(1, 120 + (block * m->m + i) * 5 % 7 - 127 + 122 + (block * m->n + j) * 3 % 11 - 127);
                assert_true(result(q, i, j) == want);
            }
    }
}
static void each_k_block_has_its_own_scale_in_the_selected_byte(void **state) {
    (void)state;
    for_each(scales_of_each_block);
}

/* One element alone: k says which block's scale it gets, though in 8-bit operands a lane holds elements of two blocks. */
static void scale_of_each_k(job *q) {
    const sim_mfma *m = q->m;
    if (!m->scaled || q->fa != q->fb) return;
    const int last = m->m - 1;
    for (int block = 0; block < m->k / 32; block++)
        for (int x = 0; x < m->m; x++)
            q->scale_a[block * m->m + x] = 127u + (unsigned)block,
                                      q->scale_b[block * m->n + x] = 127u - 4 * (unsigned)block;
    for (int k = 0; k < m->k; k++) {
        memset(q->a, 0, sizeof q->a);
        memset(q->b, 0, sizeof q->b);
        put_a(q, 0, last, k, one_of(q->fa, q->c));
        put_b(q, 0, k, 3, one_of(q->fb, q->c));
        run(q);
        assert_true(result(q, last, 3) == ldexpf(1, -3 * (k / 32)));
    }
}
static void the_block_of_an_element_is_k_over_32(void **state) {
    (void)state;
    for_each(scale_of_each_k);
}

static void scale_255_is_nan_and_scale_0_is_2_to_minus_127(void **state) {
    (void)state;
    static job q;
    prepare(&q, sim_mfma_find("v_mfma_scale_f32_16x16x128_f8f6f4"), chip_find("gfx950", 6), (sim_mfma_modifiers){0});
    for (int i = 0; i < OPERAND_DWORDS; i++) q.a[i] = q.b[i] = 0x38383838;
    q.scale_a[16 * 2 + 5] = 255;
    q.scale_a[3] = 0;
    q.scale_b[9] = 254;
    run(&q);
    assert_true(isnan(result(&q, 5, 0)) && isnan(result(&q, 5, 15)));
    assert_true(result(&q, 4, 0) == 128);
    assert_true(result(&q, 3, 0) == 96 + 32 * 0x1p-127f);
    assert_true(result(&q, 3, 9) == 96 + 32); /* 2^-127 * 2^127 */
    assert_true(isinf(result(&q, 4, 9)));     /* 32 * 2^127 */
    memset(q.b, 0, sizeof q.b);
    memset(q.scale_a, 0, sizeof q.scale_a);
    memset(q.scale_b, 0, sizeof q.scale_b);
    put_b(&q, 0, 0, 2, 0x38);
    run(&q);
    assert_true(result(&q, 0, 2) == 0); /* 2^-254 is below every f32 */
}

/* Each byte as an f32: A[i][0] holds it, B[0][j] is one, C is zero. */
static void sweep(const char *chip_name, const char *mnemonic, float (*want)(uint8_t)) {
    static job q;
    prepare(&q, sim_mfma_find(mnemonic), chip_find(chip_name, 6), (sim_mfma_modifiers){0});
    for (int j = 0; j < 16; j++) put_b(&q, 0, 0, j, one_of(q.fb, q.c));
    for (int byte = 0; byte < 256; byte += 16) {
        for (int i = 0; i < 16; i++) put_a(&q, 0, i, 0, (uint64_t)(byte + i));
        run(&q);
        for (int i = 0; i < 16; i++) {
            const float v = want((uint8_t)(byte + i)), got = result(&q, i, 7);
            if (!(isnan(v) ? get_d(&q, 0, i, 7) == F32_NAN : got == v))
                fail_msg("%s %s byte %#x: %g, wanted %g", chip_name, mnemonic, byte + i, (double)got, (double)v);
        }
    }
}
static void fp8_bytes_mean_what_each_chip_says(void **state) {
    (void)state;
    sweep("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", f32_from_e4m3fnuz);
    sweep("gfx942", "v_mfma_f32_16x16x32_bf8_fp8", f32_from_e5m2fnuz);
    sweep("gfx950", "v_mfma_f32_16x16x32_fp8_fp8", f32_from_e4m3fn);
    sweep("gfx950", "v_mfma_f32_16x16x32_bf8_fp8", f32_from_e5m2);
    assert_true(isnan(f32_from_e4m3fnuz(0x80)) && f32_from_e4m3fnuz(0x7f) == 240 && f32_from_e5m2fnuz(0x7f) == 57344);
    assert_true(isnan(f32_from_e4m3fn(0x7f)) && f32_from_e4m3fn(0x7e) == 448 && isinf(f32_from_e5m2(0x7c)));
}

/* cbsz, abid: blocks in groups of 2^cbsz all use block `abid` of their group's A. */
static void a_is_broadcast_among_blocks(void **state) {
    (void)state;
    static job q;
    static const char *const names[] = {"v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_16x16x4_4b_f16",
                                        "v_mfma_i32_32x32x4_2b_i8", "v_mfma_f32_4x4x4_16b_bf16"};
    for (int n = 0; n < 4; n++) {
        const sim_mfma *m = sim_mfma_find(names[n]);
        for (int cbsz = 0; 1 << cbsz <= m->blocks; cbsz++)
            for (int abid = 0; abid < 1 << cbsz; abid++)
                for (int hot = 0; hot < m->blocks; hot++) {
                    prepare(&q, m, chip_find("gfx942", 6), (sim_mfma_modifiers){.cbsz = cbsz, .abid = abid});
                    for (int block = 0; block < m->blocks; block++)
                        for (int j = 0; j < m->n; j++) put_b(&q, block, 0, j, one_of(q.fb, q.c));
                    put_a(&q, hot, 1, 0, one_of(q.fa, q.c));
                    run(&q);
                    for (int block = 0; block < m->blocks; block++) {
                        const int source = block / (1 << cbsz) * (1 << cbsz) + abid;
                        const uint64_t want = source == hot ? one_of(m->d, q.c) : 0;
                        assert_int_equal(get_d(&q, block, 1, 2), want);
                    }
                }
    }
}

/* blgp: the lane that each lane of B is read from, written out. */
static void b_lanes_are_permuted_by_blgp(void **state) {
    (void)state;
    static const int quarter[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    static job straight, permuted;
    static const char *const names[] = {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_4x4x4_16b_f16"};
    for (int n = 0; n < 3; n++)
        for (int blgp = 0; blgp < 8; blgp++) {
            const sim_mfma *m = sim_mfma_find(names[n]);
            prepare(&straight, m, chip_find("gfx950", 6), (sim_mfma_modifiers){0});
            prepare(&permuted, m, chip_find("gfx950", 6), (sim_mfma_modifiers){.blgp = blgp});
            for (int i = 0; i < OPERAND_DWORDS; i++) straight.a[i] = 0x3c003c00 + (random32() & 0x00ff00ff);
            for (int i = 0; i < OPERAND_DWORDS; i++) permuted.b[i] = 0x3c003c00 + (random32() & 0x00ff00ff);
            memcpy(permuted.a, straight.a, sizeof straight.a);
            for (int i = 0; i < OPERAND_DWORDS; i++)
                straight.b[i] = permuted.b[i / 64 * 64 + quarter[blgp][i % 64 / 16] * 16 + i % 16];
            run(&straight);
            run(&permuted);
            assert_memory_equal(straight.out, permuted.out, sizeof straight.out);
        }
}

static void f64_blgp_bits_negate_a_b_and_c(void **state) {
    (void)state;
    static job q;
    for (int blgp = 0; blgp < 8; blgp++) {
        prepare(&q, sim_mfma_find("v_mfma_f64_16x16x4_f64"), chip_find("gfx942", 6),
                (sim_mfma_modifiers){.blgp = blgp});
        put_a(&q, 0, 2, 3, UINT64_C(0x4008) << 48);                     /* 3 */
        put_b(&q, 0, 3, 5, UINT64_C(0x4014) << 48);                     /* 5 */
        put(q.in, place_of(q.ld, 0, 2, 5), 64, UINT64_C(0x4000) << 48); /* 2 */
        run(&q);
        const double want = (blgp & 1 ? -1 : 1) * (blgp & 2 ? -1 : 1) * 15 + (blgp & 4 ? -2 : 2);
        assert_true(value_of(FORMAT_F64, q.c, get_d(&q, 0, 2, 5)) == want);
    }
}

static void i8_is_signed_and_i32_wraps(void **state) {
    (void)state;
    static job q;
    prepare(&q, sim_mfma_find("v_mfma_i32_16x16x32_i8"), chip_find("gfx942", 6), (sim_mfma_modifiers){0});
    put_a(&q, 0, 0, 0, 0x80);
    put_b(&q, 0, 0, 0, 0x80);
    put_b(&q, 0, 0, 1, 0x7f);
    put(q.in, place_of(q.ld, 0, 0, 0), 32, 0x7fffffff);
    run(&q);
    assert_int_equal((uint32_t)get_d(&q, 0, 0, 0), 0x7fffffffu + 16384u);
    assert_int_equal((int32_t)get_d(&q, 0, 0, 1), -128 * 127);
}

static void denormals_are_kept_but_for_f32_inputs_when_mode_flushes(void **state) {
    (void)state;
    static job q;
    for (int flush = 0; flush < 2; flush++) {
        prepare(&q, sim_mfma_find("v_mfma_f32_16x16x4_f32"), chip_find("gfx950", 6),
                (sim_mfma_modifiers){.flush_f32 = flush});
        put_a(&q, 0, 0, 0, 1);
        put_b(&q, 0, 0, 0, one_of(FORMAT_F32, q.c));
        put(q.in, place_of(q.ld, 0, 0, 0), 32, 2);
        run(&q);
        assert_int_equal(get_d(&q, 0, 0, 0), flush ? 2 : 3);
    }
    prepare(&q, sim_mfma_find("v_mfma_f32_16x16x16_f16"), chip_find("gfx942", 6), (sim_mfma_modifiers){.flush_f32 = 1});
    put_a(&q, 0, 0, 0, 1);
    put_b(&q, 0, 0, 0, 1);
    put(q.in, place_of(q.ld, 0, 0, 1), 32, 5);
    run(&q);
    assert_true(result(&q, 0, 0) == 0x1p-48f);
    assert_int_equal(get_d(&q, 0, 0, 1), 5);
}

/* Products of -0 on a C of -0: ordinary chains start from C and stay -0, those of a block start from +0. */
static void chains_start_from_c_and_block_chains_from_plus_zero(void **state) {
    (void)state;
    static job q;
    static const char *const names[] = {"v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x128_f8f6f4"};
    for (int n = 0; n < 2; n++) {
        prepare(&q, sim_mfma_find(names[n]), chip_find("gfx950", 6), (sim_mfma_modifiers){0});
        memset(q.a, 0x80, sizeof q.a);
        for (int i = 0; i < ACC_DWORDS; i++) q.in[i] = 0x80000000;
        run(&q);
        assert_int_equal(get_d(&q, 0, 7, 9), n ? 0 : 0x80000000);
        const sim_mfma_call call = {q.m, q.c, &q.mod, q.a, q.b, q.in, q.out};
        sim_mfma_plain(&call);
        assert_int_equal(get_d(&q, 0, 7, 9), n ? 0 : 0x80000000);
    }
}

static void what_is_not_settled_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *chip;
        sim_mfma_modifiers mod;
    } rows[] = {
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx942", {0}},
        {"v_mfma_f32_16x16x32_bf16", "gfx942", {0}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.cbsz = 5}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.blgp = 7}},
        {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", {.abid = 1}},
        {"v_mfma_scale_f32_32x32x64_f8f6f4", "gfx950", {0}},
        {"v_mfma_f32_32x32x16_fp8_fp8", "gfx942", {.cbsz = 1}},
        {"v_mfma_f32_32x32x16_fp8_fp8", "gfx942", {.blgp = 1}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.cbsz = 2}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.cbsz = 1, .abid = 2}},
        {"v_mfma_f32_32x32x4_2b_f16", "gfx942", {.abid = 1}},
        {"v_mfma_f64_4x4x4_4b_f64", "gfx950", {.cbsz = 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_non_null(sim_mfma_refusal(sim_mfma_find(rows[i].name), chip_find(rows[i].chip, 6), &rows[i].mod));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_whether_its_places_are_derived),
        cmocka_unit_test(every_element_of_a_b_and_d_is_in_its_place),
        cmocka_unit_test(random_numbers_agree_with_double_precision),
        cmocka_unit_test(vector_paths_equal_the_plain_one_and_d_may_be_c),
        cmocka_unit_test(register_counts_are_those_of_the_disassembly),
        cmocka_unit_test(each_k_block_has_its_own_scale_in_the_selected_byte),
        cmocka_unit_test(the_block_of_an_element_is_k_over_32),
        cmocka_unit_test(scale_255_is_nan_and_scale_0_is_2_to_minus_127),
        cmocka_unit_test(fp8_bytes_mean_what_each_chip_says),
        cmocka_unit_test(a_is_broadcast_among_blocks),
        cmocka_unit_test(b_lanes_are_permuted_by_blgp),
        cmocka_unit_test(f64_blgp_bits_negate_a_b_and_c),
        cmocka_unit_test(i8_is_signed_and_i32_wraps),
        cmocka_unit_test(denormals_are_kept_but_for_f32_inputs_when_mode_flushes),
        cmocka_unit_test(chains_start_from_c_and_block_chains_from_plus_zero),
        cmocka_unit_test(what_is_not_settled_is_refused),
    };
    return cmocka_run_group_tests_name("mfma", tests, read_layouts, NULL);
}
