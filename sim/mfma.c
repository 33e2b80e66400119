/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions: look-up, what a row takes and refuses, where its elements live, and which path runs it. */
#include "sim/mfma_rows.h"

static const small_float e4m3fn = {8, 4, 3, 7, SPECIAL_ALL_ONES}, e4m3fnuz = {8, 4, 3, 8, SPECIAL_MINUS_0},
                         e5m2 = {8, 5, 2, 15, SPECIAL_IEEE}, e5m2fnuz = {8, 5, 2, 16, SPECIAL_MINUS_0},
                         e2m3 = {6, 2, 3, 1, SPECIAL_NONE}, e3m2 = {6, 3, 2, 3, SPECIAL_NONE},
                         e2m1 = {4, 2, 1, 1, SPECIAL_NONE}, half = {16, 5, 10, 15, SPECIAL_IEEE},
                         bfloat = {16, 8, 7, 127, SPECIAL_IEEE};

const small_float *sim_small_float(sim_format f, const chip *c) {
    const int fnuz = c->fp8 == CDNAGEN_FP8_E4M3FNUZ;
    switch (f) {
    case FORMAT_FP8: return fnuz ? &e4m3fnuz : &e4m3fn;
    case FORMAT_BF8: return fnuz ? &e5m2fnuz : &e5m2;
    case FORMAT_FP6: return &e2m3;
    case FORMAT_BF6: return &e3m2;
    case FORMAT_FP4: return &e2m1;
    case FORMAT_F16: return &half;
    case FORMAT_BF16: return &bfloat;
    default: return NULL;
    }
}

int sim_format_bits(sim_format f) {
    static const int bits[FORMAT_SELECTED] = {8, 8, 6, 6, 4, 16, 16, 32, 64, 8, 32};
    return bits[f];
}

static sim_format selected(sim_format f, int field) { return f == FORMAT_SELECTED ? (sim_format)field : f; }
sim_format sim_mfma_format_a(const sim_mfma *m, const sim_mfma_modifiers *mod) { return selected(m->a, mod->cbsz); }
sim_format sim_mfma_format_b(const sim_mfma *m, const sim_mfma_modifiers *mod) { return selected(m->b, mod->blgp); }

int sim_mfma_count(void) { return sim_mfma_row_count; }
const sim_mfma *sim_mfma_at(int index) { return &sim_mfma_rows[index]; }
const char *sim_mfma_name(const sim_mfma *m) { return m->name; }

const sim_mfma *sim_mfma_find(const char *mnemonic) {
    for (int i = 0; i < sim_mfma_row_count; i++)
        if (strcmp(sim_mfma_rows[i].name, mnemonic) == 0) return &sim_mfma_rows[i];
    return NULL;
}

sim_mfma_registers sim_mfma_operands(const sim_mfma *m, int cbsz, int blgp) {
    const int per_register = 64 * 32;
    return (sim_mfma_registers){
        .a = m->blocks * m->m * m->k * sim_format_bits(selected(m->a, cbsz)) / per_register,
        .b = m->blocks * m->n * m->k * sim_format_bits(selected(m->b, blgp)) / per_register,
        .acc = m->blocks * m->m * m->n * sim_format_bits(m->d) / per_register,
    };
}

static const char *refuse_blgp(const sim_mfma *m, int blgp) {
    switch (m->blgp) {
    case BLGP_FORMAT: return blgp > FORMAT_FP4 ? "blgp names no format: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4 exist" : NULL;
    case BLGP_LANES:
    case BLGP_NEGATE: return NULL;
    case BLGP_NONE: break;
    }
    return blgp ? "no public document says what blgp does here: only 0 runs" : NULL;
}

const char *sim_mfma_refusal(const sim_mfma *m, const chip *c, const sim_mfma_modifiers *mod) {
    if (!(m->chips >> chip_index(c) & 1)) return "this chip has no such matrix instruction";
    if (m->scaled && (!mod->scale_a || !mod->scale_b)) return "a scaled matrix instruction needs both scale operands";
    if (m->a == FORMAT_SELECTED) {
        if (mod->cbsz > FORMAT_FP4) return "cbsz names no format: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4 exist";
        if (mod->abid) return "abid must be 0 where cbsz names a format";
    } else if (mod->cbsz || mod->abid) {
        if (m->d == FORMAT_F64 || 1 << mod->cbsz > m->blocks) return "cbsz asks for more blocks than there are";
        if (mod->abid >= 1 << mod->cbsz) return "abid must be below 2^cbsz";
    }
    return refuse_blgp(m, mod->blgp);
}

sim_place sim_mfma_input(const sim_mfma *m, sim_format f, int block, int i, int k) {
    const int rows = m->m, groups = 64 / (rows * m->blocks), each = m->k / groups, bits = sim_format_bits(f);
    if (m->a == FORMAT_SELECTED && bits == 8)
        return (sim_place){k / 16 % groups * rows + i, (k / (16 * groups) * 16 + k % 16) * bits};
    return (sim_place){(k / each * m->blocks + block) * rows + i, k % each * bits};
}

sim_place sim_mfma_output(const sim_mfma *m, int block, int i, int j) {
    const int bits = sim_format_bits(m->d), height = bits == 64 ? 1 : 4; /* rows that follow each other in one lane */
    const int bands = 64 / m->n;                                         /* bands of `height` rows side by side */
    const int band_lanes = m->n * m->m / height, beside = band_lanes < 64 ? 64 / band_lanes : 1;
    const int element = block * (m->m * m->n / 64) + i / (height * bands) * height + i % height;
    return (sim_place){(i / height % bands * beside + block % beside) * m->n + j, element * bits};
}

int sim_mfma_path_runs(const sim_mfma_path *p, const sim_mfma *m, const sim_mfma_modifiers *mod) {
    const int small = m->a != FORMAT_F32 && m->d == FORMAT_F32;
    return m->blocks == 1 && small && (p->fused || m->a != FORMAT_BF16) && !(m->blgp == BLGP_LANES && mod->blgp);
}

int sim_mfma_path_here(const sim_mfma_path *p) {
    if (p == &sim_mfma_avx512) return __builtin_cpu_supports("avx512f");
    if (p == &sim_mfma_avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return 1;
}

void sim_mfma_run(const sim_mfma *m, const chip *c, const sim_mfma_modifiers *mod, const uint32_t *a, const uint32_t *b,
                  const uint32_t *c_in, uint32_t *d) {
    static const sim_mfma_path *const paths[] = {&sim_mfma_avx512, &sim_mfma_avx2, &sim_mfma_baseline};
    const sim_mfma_call call = {m, c, mod, a, b, c_in, d};
    for (int i = 0; i < 3; i++)
        if (sim_mfma_path_here(paths[i])) {
            if (!sim_mfma_path_runs(paths[i], m, mod)) break;
            paths[i]->run(&call);
            return;
        }
    sim_mfma_plain(&call);
}
