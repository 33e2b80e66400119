/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every row of the instruction table: executed on edge and random operands, its result compared, and shown to be
 * compared by damaging it, and by giving it the effect of every other row with the same operand types. All rows are
 * blocks of one kernel, each between two marks; a damaged row runs alone. */
#include "sim/lanes.h"
#include "sim/loader.h"
#include "sim/wave.h"
#include "tests/sim/bits.h"
#include "tests/sim/gpu.h"
#include "tests/sim/rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const chips_under_test[] = {"gfx950", "gfx942"};
enum { CHIP_TESTS = 2, CELL_BYTES = 16, RESULT_BYTES = 32, LANE_BYTES = 4 * INPUT_WORDS };

/* Rows whose effect no register shows; each has a test of its own. */
static const struct {
    const char *name, *shown_by;
} elsewhere[] = {
    {"s_endpgm", "every launch ends; rows_test's own blocks"},
    {"s_barrier", "kernels_test: reduction_with_lds_and_barriers"},
    {"s_waitcnt", "instructions_test: late_mode_shows_missing_waits"},
    {"s_trap", "instructions_test: faults_say_what_and_where"},
};

/* ---- inputs ---- */

static uint64_t seed = 88172645463325252u;
static uint32_t random_word(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}
static uint32_t pick(const uint32_t *from, uint32_t count) { return from[random_word() % count]; }
#define PICK(table) pick(table, sizeof(table) / sizeof *(table))

static uint32_t any_word(void) {
    static const uint32_t edges[] = {0,          1,          2,          31,         0x7fffffff, 0x80000000, 0x80000001,
                                     0xffffffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x7fa00001, 0x00800000, 0x007fffff, 0x00000100, 0x7f7fffff, 0xff7fffff,
                                     0x4f000000, 0xcf000000, 0x4f800000, 0x477fe000, 0x477ff000, 0x43e00000, 0x43e80000,
                                     0x47600000, 0x37800000, 0x33000000, 0x8000ffff, 0x00ff00ff, 0x7fff8000, 0xff80ff00,
                                     0x0000ffff, 0xffff0000, 0x00010000};
    switch (random_word() % 5) {
    case 0: return PICK(edges);
    case 1: return random_word();
    case 2: return random_word() % 80;
    default: return (random_word() & 0x807fffff) | (117 + random_word() % 20) << 23; /* floats near 1 */
    }
}
static uint64_t any_pair(void) {
    static const uint32_t edges[] = {0,          0x80000000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0x3ff00000,
                                     0xbff00000, 0x3fe00000, 0x00100000, 0x000fffff, 0x7fefffff, 0x41e00000,
                                     0xc1e00000, 0x41f00000, 0x40040000, 0x7fffffff, 0xffffffff, 0x37000000,
                                     0x47efffff, 0x38000000, 0x36a00000, 0x43500000};
    static const uint32_t low_edges[] = {0, 1, 0xffffffff, 0x80000000};
    switch (random_word() % 4) {
    case 0: return (uint64_t)PICK(edges) << 32 | PICK(low_edges);
    case 1: return (uint64_t)random_word() << 32 | random_word();
    default: return (uint64_t)((random_word() & 0x800fffff) | (1013 + random_word() % 20) << 20) << 32 | random_word();
    }
}
static uint32_t any_half(void) {
    static const uint32_t edges[] = {0,      1,      0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x3c00, 0xbc00, 0x0400,
                                     0x03ff, 0x7bff, 0xfbff, 0x7fff, 0xffff, 0x3800, 0x4200, 0x000f, 0x8001};
    switch (random_word() % 4) {
    case 0: return PICK(edges);
    case 1: return random_word() & 0xffff;
    case 2: return random_word() % 20;
    default: return (random_word() & 0x83ff) | (11 + random_word() % 8) << 10;
    }
}

static row_inputs inputs[GROUPS][LANES];
static uint32_t input_words[GROUPS][LANES][INPUT_WORDS];

static void make_inputs(int fnuz) {
    for (int g = 0; g < GROUPS; g++)
        for (int l = 0; l < LANES; l++) {
            row_inputs *in = &inputs[g][l];
            for (int i = 0; i < 4; i++) in->w[i] = any_word();
            for (int i = 0; i < 3; i++) in->q[i] = any_pair();
            for (int i = 0; i < 3; i++) in->h[i] = any_half() | any_half() << 16;
            for (int i = 0; i < 4; i++) in->m[i] = any_word();
            in->select = random_word() & 0x0f0f0f0f;
            in->old[0] = any_word();
            in->old[1] = random_word();
            in->field = random_word() % 40 | (random_word() % 34) << 16;
            in->x = random_word() % 8 ? (uint64_t)random_word() << 32 | random_word() : 0;
            in->scc = random_word() & 1;
            in->carry = random_word() & 1;
            in->fnuz = fnuz;
            /* Equal operands, and memory that equals the data, turn comparisons. */
            if (l % 9 == 0 && g % 4 == 0) in->w[1] = in->w[0], in->q[1] = in->q[0], in->h[1] = in->h[0];
            if (l % 8 == 1) in->w[1] = in->w[0], in->q[1] = in->q[0], in->h[1] = in->h[0];
            if (l % 8 == 2) in->m[0] = in->w[0];
            if (l % 8 == 3) in->m[0] = in->w[1];
            if (l % 8 == 4) memcpy(in->m, &in->q[0], 8);
            if (l % 8 == 5) memcpy(in->m, &in->q[1], 8);
            if (l % 8 == 6) in->w[2] = in->w[1], in->q[2] = in->q[1], in->h[2] = in->h[1];
            uint32_t *to = input_words[g][l];
            memcpy(to, in->w, 16);
            memcpy(to + 4, in->q, 24);
            memcpy(to + 10, in->h, 12);
            to[13] = in->select;
            memcpy(to + 14, in->old, 8);
            memcpy(to + 16, in->m, 16);
            to[20] = in->field;
            memcpy(to + 21, &in->x, 8);
            to[23] = in->scc;
            to[24] = in->carry;
        }
}

/* ---- the kernel ---- */

typedef struct listing {
    char *at, *end;
} listing;
static void add(listing *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(listing *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->at, (size_t)(t->end - t->at), format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && n < t->end - t->at);
    t->at += n;
}

/* s[4:5] inputs, s[16:17] cells, s[18:19] results. v[6:7] the lane's cell and v40 its offset, v[8:9] its result. */
static const char prologue[] =
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_load_dwordx2 s[16:17], s[0:1], 0x8\ns_load_dwordx2 s[18:19], s[0:1], 0x10\n"
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf\nv_and_b32 v1, 0x3ff, v0\ns_waitcnt lgkmcnt(0)\n"
    "s_lshl_b32 s3, s2, 13\ns_add_u32 s52, s4, s3\ns_addc_u32 s53, s5, 0\nv_lshlrev_b32 v2, 7, v1\n"
    "global_load_dwordx4 v[20:23], v2, s[52:53]\nglobal_load_dwordx4 v[24:27], v2, s[52:53] offset:16\n"
    "global_load_dwordx4 v[28:31], v2, s[52:53] offset:32\nglobal_load_dwordx4 v[32:35], v2, s[52:53] offset:48\n"
    "global_load_dwordx4 v[36:39], v2, s[52:53] offset:64\nglobal_load_dwordx4 v[46:49], v2, s[52:53] offset:80\n"
    "global_load_dword v50, v2, s[52:53] offset:96\nv_lshlrev_b32 v42, 4, v1\ns_lshl_b32 s3, s2, 10\nv_add_u32 v40, "
    "s3, v42\n"
    "v_mov_b32 v3, 0\nv_mov_b32 v2, v40\nv_lshl_add_u64 v[6:7], v[2:3], 0, s[16:17]\n"
    "v_lshl_add_u64 v[8:9], v[2:3], 1, s[18:19]\nv_and_b32 v43, 0xff, v42\nv_add_u32 v44, 5, v1\nv_and_b32 v44, 63, "
    "v44\n"
    "v_lshlrev_b32 v44, 2, v44\ns_mov_b32 s8, s16\ns_mov_b32 s9, s17\ns_mov_b32 s10, -1\ns_mov_b32 s11, 0x27000\n"
    "v_mov_b32 v2, 0.5\nv_accvgpr_write_b32 a9, v2\ns_movk_i32 s54, 0x4000\ns_mov_b32 s55, 0\ns_mov_b32 s56, 0x8000\n"
    "s_mov_b32 s57, 0\ns_mov_b32 s50, 1\ns_mov_b32 s51, 2\ns_waitcnt vmcnt(0)\n"
    "v_cmp_ne_u32 s[22:23], 0, v50\nv_cmp_ne_u32 s[58:59], 0, v49\ns_branch first\nfirst:\n";
static const char advance[] = "s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dwordx4 v[8:9], v[10:13], off\n"
                              "global_store_dwordx4 v[8:9], v[14:17], off offset:16\n"
                              "v_lshl_add_u64 v[6:7], v[6:7], 0, s[54:55]\nv_add_u32 v40, s54, v40\n"
                              "v_lshl_add_u64 v[8:9], v[8:9], 0, s[56:57]\n";

static const char *const cell_out[] = {"", "global_store_dwordx4 v[6:7], v[36:39], off\ns_waitcnt vmcnt(0)\n",
                                       "scratch_store_dwordx4 off, v[36:39], off offset:16\ns_waitcnt vmcnt(0)\n",
                                       "ds_write_b128 v42, v[36:39]\ns_waitcnt lgkmcnt(0)\n"};
static const char *const cell_in[] = {"", "global_load_dwordx4 v[14:17], v[6:7], off\n",
                                      "scratch_load_dwordx4 v[14:17], off, off offset:16\n",
                                      "ds_read_b128 v[14:17], v42\n"};

/* "=v[10:11]=v[24:25], rest": an atomic whose data registers receive the old value. */
static void add_exchange(listing *t, const row_test *row) {
    int data = 0, data_last = 0, used = 0;
    const char *equals = strchr(row->code + 1, '=');
    const int pair = strncmp(row->code, "=v[10:11]", 9) == 0;
    if (sscanf(equals, "=v[%d:%d]%n", &data, &data_last, &used) != 2) {
        assert_int_equal(sscanf(equals, "=v%d%n", &data, &used), 1);
        data_last = data;
    }
    for (int i = 0; i <= data_last - data; i++) add(t, "v_mov_b32 v%d, v%d\n", 14 + i, data + i);
    add(t, "%s v[14:%d]%s\ns_waitcnt vmcnt(0)\nv_mov_b32 v10, v14\n", row->name, 14 + data_last - data, equals + used);
    if (pair) add(t, "v_mov_b32 v11, v15\n");
}

static void add_scalar(listing *t, const row_test *row) {
    add(t, ".irp L,0,9,18,27,36,45,54,63\n"
           "v_readlane_b32 s30, v20, \\L\nv_readlane_b32 s31, v21, \\L\nv_readlane_b32 s32, v24, \\L\n"
           "v_readlane_b32 s33, v25, \\L\nv_readlane_b32 s34, v26, \\L\nv_readlane_b32 s35, v27, \\L\n"
           "v_readlane_b32 s24, v34, \\L\nv_readlane_b32 s25, v35, \\L\nv_readlane_b32 s40, v46, \\L\n"
           "v_readlane_b32 s38, v47, \\L\nv_readlane_b32 s39, v48, \\L\ns_mov_b64 exec, s[38:39]\n"
           "s_bitcmp1_b64 s[58:59], \\L\n");
    if (row->plain)
        add(t, "%s", row->code);
    else
        add(t, "%s %s", row->name, row->code);
    add(t, "\ns_mov_b64 s[42:43], exec\ns_cselect_b32 s44, 1, 0\ns_mov_b64 exec, -1\n"
           "v_writelane_b32 v10, s24, \\L\nv_writelane_b32 v11, s25, \\L\nv_writelane_b32 v12, s44, \\L\n"
           "v_writelane_b32 v14, s42, \\L\nv_writelane_b32 v15, s43, \\L\n.endr\n");
}

static void add_row(listing *t, const row_test *row) {
    add(t, "s_setprio 3\nv_mov_b32 v10, v34\nv_mov_b32 v11, v35\nv_mov_b32 v12, 0\nv_mov_b32 v13, 0\nv_mov_b32 v14, 0\n"
           "v_mov_b32 v15, 0\nv_mov_b32 v16, 0\nv_mov_b32 v17, 0\ns_mov_b64 vcc, s[22:23]\ns_mov_b64 s[20:21], 0\n");
    if (row->cell == SCALARS) {
        add_scalar(t, row);
    } else {
        add(t, "%s", cell_out[row->cell]);
        if (row->plain)
            add(t, "%s\n", row->code);
        else if (*row->code == '=')
            add_exchange(t, row);
        else
            add(t, "%s %s\n", row->name, row->code);
        if (row->flags & FLAG_MASK) add(t, "v_cndmask_b32 v12, 0, 1, s[20:21]\n");
        add(t, "s_waitcnt vmcnt(0) lgkmcnt(0)\n%s", cell_in[row->cell]);
    }
    add(t, "%s", advance);
}

/* ---- running ---- */

typedef struct running {
    hip_module module;
    hip_function function;
    program *program;
    uint64_t inputs, cells, results;
    size_t tests, first; /* first: the branch to the first block */
    int test[2048];      /* index in row_tests */
    size_t block[2049];  /* its mark; the last is the kernel's end */
    uint32_t *output;
} running;

static int is_here(const row_test *row, const char *name) {
    return !(row->flags & FLAG_GFX950) || strcmp(name, "gfx950") == 0;
}

static void launch_groups(running *r, unsigned groups) {
    const hip_error error =
        gpu_launch(r->module, "k", (gpu_grid){.groups = groups, .threads = 64}, 3, r->inputs, r->cells, r->results);
    if (error != HIP_SUCCESS) fail_msg("HIP %d: %s", error, gpu->last_fault());
}

static void start(running *r, const char *name) {
    enum { TEXT = 4 << 20 };
    char *source = malloc(TEXT);
    assert_non_null(source);
    listing t = {source, source + TEXT};
    memset(r, 0, sizeof *r);
    gpu_chip = name;
    gpu_open("threads=1");
    add(&t, "%s", prologue);
    for (int i = 0; i < row_test_count; i++)
        if (is_here(&row_tests[i], name)) {
            r->test[r->tests++] = i;
            add_row(&t, &row_tests[i]);
        }
    add(&t, "s_setprio 3\n");
    r->module = gpu_assemble(source, 4096);
    free(source);
    make_inputs(strcmp(name, "gfx942") == 0);
    r->inputs = gpu_buffer(input_words, sizeof input_words);
    r->cells = gpu_buffer(NULL, r->tests * GROUPS * LANES * CELL_BYTES);
    r->results = gpu_buffer(NULL, r->tests * GROUPS * LANES * RESULT_BYTES);
    r->output = calloc(r->tests, GROUPS * LANES * RESULT_BYTES);
    assert_non_null(r->output);
    assert_int_equal(gpu->module_get_function(&r->function, r->module, "k"), HIP_SUCCESS);
    r->program = &r->function->program;
    size_t marks = 0;
    for (size_t i = 0; i < r->program->count; i++) {
        if (strcmp(r->program->code[i].text, "s_setprio 3") == 0) r->block[marks++] = i;
        if (!marks && strncmp(r->program->code[i].text, "s_branch", 8) == 0) r->first = i;
    }
    assert_int_equal(marks, r->tests + 1);
}
static void stop(running *r) {
    assert_int_equal(gpu->module_unload(r->module), HIP_SUCCESS);
    gpu->free((void *)(uintptr_t)r->inputs);
    gpu->free((void *)(uintptr_t)r->cells);
    gpu->free((void *)(uintptr_t)r->results);
    free(r->output);
}

/* ---- comparing ---- */

static int nan_half(uint32_t x) { return (x & 0x7fff) > 0x7c00; }
static int same_half(uint32_t x, uint32_t y) { return ((x ^ y) & 0xffff) == 0 || (nan_half(x) && nan_half(y)); }
static int nan_bfloat(uint32_t x) { return (x & 0x7fff) > 0x7f80; }
static int same_float(uint32_t x, uint32_t y) { return x == y || (isnan(as_float(x)) && isnan(as_float(y))); }
/* Functions that the hardware approximates: within 2 units of the last place, or 2^-20 of 1 for sine and cosine. */
static int near_float(uint32_t x, uint32_t y) {
    return same_float(x, y) || ((x ^ y) >> 31 == 0 && llabs((long long)x - (long long)y) <= 2);
}
static int near_sine(uint32_t x, uint32_t y) {
    return same_float(x, y) || fabs((double)as_float(x) - (double)as_float(y)) < 0x1p-20;
}
static int same_sine_half(uint32_t x, uint32_t y) {
    _Float16 p, q;
    memcpy(&p, &x, 2);
    memcpy(&q, &y, 2);
    return same_half(x, y) || fabsf((float)p - (float)q) < 0x1p-10f;
}
static int same_pair(const uint32_t *x, const uint32_t *y, uint64_t units) {
    uint64_t p, q;
    memcpy(&p, x, 8);
    memcpy(&q, y, 8);
    return p == q || (isnan(as_double(p)) && isnan(as_double(q))) || (p > q ? p - q : q - p) <= units;
}
static int same_words(const row_test *row, const uint32_t *x, const uint32_t *y) {
    if (memcmp(x, y, 8) == 0) return 1;
    const int second = x[1] == y[1];
    switch (row->kind) {
    case F32: return second && same_float(x[0], y[0]);
    case R32: return second && near_float(x[0], y[0]);
    case S32: return second && near_sine(x[0], y[0]);
    case P32: return same_float(x[0], y[0]) && same_float(x[1], y[1]);
    case F16: return second && x[0] >> 16 == y[0] >> 16 && same_half(x[0], y[0]);
    case R16: return second && x[0] >> 16 == y[0] >> 16 && (same_half(x[0], y[0]) || abs((int)x[0] - (int)y[0]) <= 1);
    case S16: return second && same_sine_half(x[0], y[0]);
    case P16: return second && same_half(x[0], y[0]) && same_half(x[0] >> 16, y[0] >> 16);
    case P16B:
        return second && (((x[0] ^ y[0]) & 0xffff) == 0 || (nan_bfloat(x[0]) && nan_bfloat(y[0]))) &&
               (x[0] >> 16 == y[0] >> 16 || (nan_bfloat(x[0] >> 16) && nan_bfloat(y[0] >> 16)));
    case F64: return same_pair(x, y, 0);
    case R64: return same_pair(x, y, 2);
    default:
        if (row->flags & FLAG_NANHIGH)
            return second && (x[0] & 0xffff) == (y[0] & 0xffff) && same_half(x[0] >> 16, y[0] >> 16);
        if (row->flags & FLAG_NANLOW) return second && x[0] >> 16 == y[0] >> 16 && same_half(x[0], y[0]);
        return 0;
    }
}

/* The first difference of a test, or NULL. */
static const char *difference(const running *r, size_t at, unsigned groups) {
    static char message[512];
    const row_test *row = &row_tests[r->test[at]];
    for (unsigned g = 0; g < groups; g++)
        for (int l = 0; l < LANES; l += row->cell == SCALARS ? SCALAR_STEP : 1) {
            const row_inputs *in = &inputs[g][l];
            const uint32_t *got = &r->output[((at * GROUPS + g) * LANES + (size_t)l) * (RESULT_BYTES / 4)];
            row_result want = {.d = {in->old[0], in->old[1]}};
            if (row->cell != NOTHING && row->cell != SCALARS) memcpy(want.m, in->m, sizeof want.m);
            row_want(r->test[at], in, l, &want);
            if (same_words(row, got, want.d) && memcmp(got + 2, want.d + 2, 8) == 0 &&
                same_words(row, got + 4, want.m) && memcmp(got + 6, want.m + 2, 8) == 0)
                continue;
            snprintf(
                message, sizeof message,
                "%s %s: group %u lane %d gives %08x %08x %08x %08x, %08x %08x %08x %08x, not %08x %08x %08x %08x, %08x "
                "%08x %08x %08x; w %08x %08x %08x q %016llx %016llx %016llx h %08x %08x %08x",
                row->name, row->code, g, l, got[0], got[1], got[2], got[3], got[4], got[5], got[6], got[7], want.d[0],
                want.d[1], want.d[2], want.d[3], want.m[0], want.m[1], want.m[2], want.m[3], in->w[0], in->w[1],
                in->w[2], (unsigned long long)in->q[0], (unsigned long long)in->q[1], (unsigned long long)in->q[2],
                in->h[0], in->h[1], in->h[2]);
            return message;
        }
    return NULL;
}

static void every_row_gives_what_the_isa_text_says(void **state) {
    (void)state;
    static const char *const modes[] = {"threads=1", "late poison threads=1"};
    for (int c = 0; c < CHIP_TESTS; c++) {
        running r;
        int wrong = 0;
        start(&r, chips_under_test[c]);
        for (int m = 0; m < 2; m++) {
            gpu_open(modes[m]);
            launch_groups(&r, GROUPS);
            gpu_read(r.output, r.results, r.tests * GROUPS * LANES * RESULT_BYTES);
            for (size_t i = 0; i < r.tests; i++) {
                const char *what = difference(&r, i, GROUPS);
                if (what) print_error("%s, %s: %s\n", chips_under_test[c], modes[m], what), wrong++;
            }
        }
        print_message("%s: %zu tests of rows\n", chips_under_test[c], r.tests);
        stop(&r);
        assert_int_equal(wrong, 0);
    }
}

/* ---- coverage ---- */

/* The instruction of a block that the test is about: its row with the operands that the test writes, where it writes
 * them. */
static const inst *block_row(const running *r, size_t at, const isa_row *row) {
    const char *code = row_tests[r->test[at]].code;
    const inst *first = NULL;
    for (size_t i = r->block[at] + 1; i < r->block[at + 1]; i++) {
        const inst *in = &r->program->code[i];
        const char *operands = strchr(in->text, ' ');
        if (in->row != row) continue;
        if (operands && strncmp(operands + 1, code, strcspn(code, " ") + 4) == 0) return in;
        if (!first) first = in;
    }
    return first;
}

static void every_row_of_the_table_has_a_test(void **state) {
    (void)state;
    running r;
    int missing = 0;
    start(&r, "gfx950");
    for (int i = 0; i < isa_count(); i++) {
        const isa_row *row = isa_at(i);
        int tested = 0;
        for (size_t t = 0; t < r.tests && !tested; t++)
            tested = strcmp(row_tests[r.test[t]].name, row->name) == 0 && block_row(&r, t, row);
        for (size_t e = 0; e < sizeof elsewhere / sizeof *elsewhere; e++)
            tested = tested || strcmp(elsewhere[e].name, row->name) == 0;
        if (!tested) print_error("%s is never executed and compared\n", row->name), missing++;
    }
    print_message("%d rows; not here: ", isa_count());
    for (size_t e = 0; e < sizeof elsewhere / sizeof *elsewhere; e++)
        print_message("%s (%s) ", elsewhere[e].name, elsewhere[e].shown_by);
    print_message("\n");
    stop(&r);
    assert_int_equal(missing, 0);
}

/* ---- mutation: the row's own effect, then damage ---- */

static run_function *undamaged;
static void flip_registers(wave *w, int first, int count) {
    for (int i = first; i < first + count; i++)
        for (int l = 0; l < LANES; l++) w->vgpr[i][l] ^= 0x10401041u;
}
static void damaged(wave *w, const inst *in) {
    const isa_row *row = in->row;
    const operand *o = &in->op[0];
    const int writes_memory = (row->format == F_VMEM || row->format == F_LDS) && !strstr(row->name, "load") &&
                              !strstr(row->name, "read") && !strstr(row->name, "permute") &&
                              !strstr(row->name, "swizzle");
    const int sets_scc = strncmp(row->name, "s_cmp", 5) == 0 || strncmp(row->name, "s_bitcmp", 8) == 0;
    if (strncmp(row->name, "s_set_gpr_idx", 13) == 0 || strstr(row->name, "load_lds")) return; /* nothing at all */
    if (writes_memory) flip_registers(w, 14, 4), flip_registers(w, 20, 14);
    const inst *next = w->pc;
    undamaged(w, in);
    if (writes_memory) flip_registers(w, 14, 4), flip_registers(w, 20, 14);
    if (w->pc != next) { /* a branch that was taken is not */
        w->pc = next;
        return;
    }
    if (sets_scc || (row->format == F_SCALAR && strstr(row->name, "branch"))) {
        w->scc ^= 1;
    } else if (strstr(row->name, "movreld")) {
        w->sgpr[24] ^= 0x10;
    } else if (strstr(row->name, "setreg")) {
        w->mode ^= 7;
    } else if (!in->op_count || o->kind == K_CONST || o->kind == K_NONE) {
        flip_registers(w, 10, 1);
        w->sgpr[24] ^= 1;
    } else if (o->kind == K_SGPR) {
        w->sgpr[o->index] ^= 0x40000011;
        if (row->format == F_COMPARE) w->sgpr[o->index + 1] ^= 0x10;
    } else if (!writes_memory) {
        flip_registers(w, o->index, 1);
    }
}

enum { MUTATION_GROUPS = 6 };
/* Run one block alone. Whether its test notices. */
static int notices(running *r, size_t at) {
    inst *branch = &r->program->code[r->first], *end = &r->program->code[r->block[at + 1]];
    run_function *const run = end->run;
    const uint32_t to = branch->target;
    branch->target = (uint32_t)r->block[at];
    end->run = scalar_runner(isa_find("s_endpgm")->effect);
    const hip_error error = gpu_launch(r->module, "k", (gpu_grid){.groups = MUTATION_GROUPS, .threads = 64}, 3,
                                       r->inputs, r->cells, r->results);
    branch->target = to;
    end->run = run;
    if (error != HIP_SUCCESS) return 1;
    const size_t size = (size_t)GROUPS * LANES * RESULT_BYTES;
    gpu_read(r->output + at * size / 4, r->results, size);
    return difference(r, at, MUTATION_GROUPS) != NULL;
}

static void a_damaged_result_of_any_row_is_noticed(void **state) {
    (void)state;
    running r;
    int unnoticed = 0, alarms = 0;
    start(&r, "gfx950");
    for (size_t t = 0; t < r.tests; t++) {
        const row_test *test = &row_tests[r.test[t]];
        inst *in = (inst *)(uintptr_t)block_row(&r, t, isa_find(test->name));
        assert_non_null(in);
        if (notices(&r, t)) print_error("%s alone: %s\n", test->name, difference(&r, t, MUTATION_GROUPS)), alarms++;
        undamaged = in->run;
        for (size_t i = r.block[t] + 1; i < r.block[t + 1]; i++)
            if (r.program->code[i].row == in->row && strcmp(r.program->code[i].text, in->text) == 0)
                r.program->code[i].run = damaged;
        if (!notices(&r, t)) print_error("%s %s: damage is not noticed\n", test->name, test->code), unnoticed++;
        for (size_t i = r.block[t] + 1; i < r.block[t + 1]; i++)
            if (r.program->code[i].run == damaged) r.program->code[i].run = undamaged;
    }
    stop(&r);
    assert_int_equal(unnoticed + alarms, 0);
}

static int same_types(const isa_row *x, const isa_row *y) {
    return x != y && x->format == y->format && x->carry_in == y->carry_in && x->carry_out == y->carry_out &&
           memcmp(x->type, y->type, sizeof x->type) == 0;
}
/* Rows that do the same by the text, some of them unless they clamp. */
static int are_alike(const inst *in, const char *x, const char *y) {
    if (!in->clamp && strncmp(x, "v_pk_", 5) == 0 && strncmp(x, y, 9) == 0 && (x[5] == 'a' || x[5] == 's') &&
        strlen(x) == 12)
        return 1;
    static const char *const pairs[][2] = {{"v_mov_b32", "v_accvgpr"},
                                           {"v_mad_u16", "v_mad_i16"},
                                           {"v_mad_legacy_u16", "v_mad_legacy_i16"},
                                           {"v_rcp_f32", "v_rcp_iflag_f32"},
                                           {"v_fmaak_f32", "v_fmamk_f32"},
                                           {"v_fma_f32", "v_fmaak_f32"},
                                           {"v_fma_f32", "v_fmamk_f32"},
                                           {"v_madak_f16", "v_madmk_f16"},
                                           {"v_mad_legacy_f16", "v_madak_f16"},
                                           {"v_mad_legacy_f16", "v_madmk_f16"},
                                           {"v_pk_mad_u16", "v_pk_mad_i16"},
                                           {"v_fma_mixlo_f16", "v_fma_mixhi_f16"},
                                           {"v_accvgpr", "v_accvgpr"},
                                           {"v_mul_legacy_f32", "v_mul_f32_"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (strncmp(x, pairs[i][k], strlen(pairs[i][k])) == 0 &&
                strncmp(y, pairs[i][!k], strlen(pairs[i][!k])) == 0)
                return 1;
    return strncmp(x, "v_cmp", 5) == 0 && strcmp(strchr(x + 2, '_'), strchr(y + 2, '_')) == 0;
}
static void the_effect_of_another_row_is_noticed(void **state) {
    (void)state;
    running r;
    int unnoticed = 0, tried = 0;
    const lanes_effects *effects = lanes_for_host();
    start(&r, "gfx950");
    for (size_t t = 0; t < r.tests; t++) {
        const row_test *test = &row_tests[r.test[t]];
        inst *in = (inst *)(uintptr_t)block_row(&r, t, isa_find(test->name));
        if (in->row->format != F_VECTOR && in->row->format != F_COMPARE) continue;
        lanes_effect *const own = in->effect;
        for (int i = 0; i < isa_count(); i++) {
            const isa_row *other = isa_at(i);
            if (!same_types(in->row, other) || are_alike(in, in->row->name, other->name)) continue;
            in->effect = (other->format == F_VECTOR ? effects->vector : effects->compare)[other->effect];
            tried++;
            if (!notices(&r, t))
                print_error("%s with the effect of %s is not noticed\n", test->name, other->name), unnoticed++;
        }
        in->effect = own;
    }
    print_message("%d exchanges\n", tried);
    stop(&r);
    assert_int_equal(unnoticed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_gives_what_the_isa_text_says),
        cmocka_unit_test(every_row_of_the_table_has_a_test),
        cmocka_unit_test(a_damaged_result_of_any_row_is_noticed),
        cmocka_unit_test(the_effect_of_another_row_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
