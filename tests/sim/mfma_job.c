/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lane tables and jobs of the matrix instruction tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#include "core/fp8.h"
#include "tests/sim/mfma_job.h"

#include <cmocka.h> /* after core/status.h: its macro fail() would hide our function */

enum { LAYOUTS_MAX = 160 };

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

int read_layouts(void **state) {
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

sim_place place_of(const layout *l, int block, int outer, int inner) {
    const coordinate *const c[3] = {&l->block, &l->outer, &l->inner};
    const int value[3] = {block, outer, inner};
    sim_place p = {0, 0};
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < c[i]->count; b++)
            if (value[i] >> b & 1) p.lane += c[i]->lane[b], p.bit += c[i]->bit[b];
    return p;
}

static const char *const format_names[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};

const layout *layout_of(const sim_mfma *m, char operand, sim_format f) {
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
void prepare(job *q, const sim_mfma *m, const chip *c, sim_mfma_modifiers mod) {
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

void run(job *q) { sim_mfma_run(q->m, q->c, &q->mod, q->a, q->b, q->in, q->out); }

void put(uint32_t *registers, sim_place p, int bits, uint64_t value) {
    if (bits == 64) {
        put(registers, (sim_place){p.lane, p.bit + 32}, 32, value >> 32);
        bits = 32;
    }
    const uint64_t mask = ((UINT64_C(1) << bits) - 1) << p.bit % 32, v = value << p.bit % 32 & mask;
    uint32_t *r = &registers[p.bit / 32 * 64 + p.lane];
    r[0] = (r[0] & ~(uint32_t)mask) | (uint32_t)v;
    if (mask >> 32) r[64] = (r[64] & ~(uint32_t)(mask >> 32)) | (uint32_t)(v >> 32);
}
uint64_t get(const uint32_t *registers, sim_place p, int bits) {
    if (bits == 64) return get(registers, p, 32) | get(registers, (sim_place){p.lane, p.bit + 32}, 32) << 32;
    const uint32_t *r = &registers[p.bit / 32 * 64 + p.lane];
    const uint64_t both = p.bit % 32 + bits > 32 ? (uint64_t)r[64] << 32 | r[0] : r[0];
    return both >> p.bit % 32 & ((UINT64_C(1) << bits) - 1);
}
void put_a(job *q, int block, int i, int k, uint64_t v) {
    put(q->a, place_of(q->la, block, i, k), sim_format_bits(q->fa), v);
}
void put_b(job *q, int block, int k, int j, uint64_t v) {
    put(q->b, place_of(q->lb, block, j, k), sim_format_bits(q->fb), v);
}
uint64_t get_d(const job *q, int block, int i, int j) {
    return get(q->out, place_of(q->ld, block, i, j), sim_format_bits(q->m->d));
}

uint64_t one_of(sim_format f, const chip *c) {
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

double value_of(sim_format f, const chip *c, uint64_t x) {
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
uint32_t random32(void) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}
void fill(uint32_t *p, int count) {
    for (int i = 0; i < count; i++) p[i] = random32();
}

/* random_number: a code whose value is finite and of moderate size, so that sums neither overflow nor lose
 * everything. */
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

void randomize(job *q) {
    const sim_mfma *m = q->m;
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < m->m; i++) {
            for (int k = 0; k < m->k; k++) {
                put_a(q, block, i, k, random_number(q->fa, q->c));
                put_b(q, block, k, i, random_number(q->fb, q->c));
            }
            for (int j = 0; j < m->n; j++)
                put(q->in, place_of(q->ld, block, i, j), sim_format_bits(m->d), random_number(m->d, q->c));
        }
    if (!m->scaled) return;
    for (int i = 0; i < 64; i++) {
        q->scale_a[i] = 0x77777777 + (random32() & 0x0f0f0f0f);
        q->scale_b[i] = 0x77777777 + (random32() & 0x0f0f0f0f);
    }
    q->mod.op_sel = random32() & 3;
    q->mod.op_sel_hi = random32() & 3;
}

static double scale_at(const job *q, int operand, int i, int k) {
    if (!q->m->scaled) return 1;
    const unsigned byte = (q->mod.op_sel >> operand & 1) + 2 * (q->mod.op_sel_hi >> operand & 1);
    const uint32_t scales = (operand ? q->scale_b : q->scale_a)[k / 32 * q->m->m + i];
    return ldexp(1, (int)(scales >> 8 * byte & 255) - 127);
}

/* The bound: a chain of K fused multiply-adds of unit roundoff u errs by at most K u / (1 - K u) times the sum of the
 * magnitudes; blocks of 32 and the last conversion add at most K / 32 + 1 roundings. 2 (K + 1) u covers both. */
void expect(expectation *e, const job *q) {
    static double a[INPUT_ELEMENTS], b[INPUT_ELEMENTS]; /* [block][i or j][k] */
    const sim_mfma *m = q->m;
    const int size = m->m, k_count = m->k;
    const double unit = m->d == FORMAT_I32 ? 0 : m->d == FORMAT_F64 ? 0x1p-53 : 0x1p-24;
    for (int x = 0; x < m->blocks * size * k_count; x++) {
        const int block = x / k_count / size, i = x / k_count % size, k = x % k_count;
        const sim_place in_a = place_of(q->la, block, i, k), in_b = place_of(q->lb, block, i, k);
        a[x] = value_of(q->fa, q->c, get(q->a, in_a, sim_format_bits(q->fa))) * scale_at(q, 0, i, k);
        b[x] = value_of(q->fb, q->c, get(q->b, in_b, sim_format_bits(q->fb))) * scale_at(q, 1, i, k);
    }
    for (int x = 0; x < m->blocks * size * size; x++) {
        const double *row = a + x / size * k_count, *column = b + (x / size / size * size + x % size) * k_count;
        double sum = value_of(m->d, q->c, get(q->in, place_in_d(q, x), sim_format_bits(m->d))), magnitude = fabs(sum);
        for (int k = 0; k < k_count; k++) {
            sum += row[k] * column[k];
            magnitude += fabs(row[k] * column[k]);
        }
        e->want[x] = sum;
        e->bound[x] = 2 * (k_count + 1) * unit * magnitude;
    }
}

sim_place place_in_d(const job *q, int element) {
    const int size = q->m->n;
    return place_of(q->ld, element / size / size, element / size % size, element % size);
}
double value_at(const job *q, int element) {
    return value_of(q->m->d, q->c, get(q->out, place_in_d(q, element), sim_format_bits(q->m->d)));
}
int wrong_element(const expectation *e, const job *q) {
    for (int x = 0; x < q->m->blocks * q->m->m * q->m->n; x++)
        if (!(fabs(value_at(q, x) - e->want[x]) <= e->bound[x])) return x;
    return -1;
}

void for_each(void (*check)(job *q)) {
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

float result(const job *q, int i, int j) { return (float)value_of(FORMAT_F32, q->c, get_d(q, 0, i, j)); }
