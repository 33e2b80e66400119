/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emitted kernels run on the simulator of each chip: conversions bit by bit, every width of loads and stores, the
 * counter that workgroups of a launch share, sums across lanes, fp8 bytes of the other kind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fp8.h"
#include "tests/ir/kernel.h"
#include "tests/sim/gpu.h"

static const char *const chip_names[] = {"gfx950", "gfx942"};
static const char *const modes[] = {"threads=1 check=all", "late poison threads=1"};
enum { CHIPS = 2, MODES = 2 };

typedef void body(ir *e);

static hip_module generate(const char *chip_name, const char *mode, body *emit) {
    bytes object = {0};
    ir *const e = open_kernel(chip_name);
    emit(e);
    if (finish(e, &object) != CDNAGEN_OK) fail_msg("%s: %s", chip_name, cdnagen_error());
    gpu_chip = chip_name;
    gpu_open(mode);
    hip_module module;
    assert_int_equal(gpu->module_load_data(&module, object.data), HIP_SUCCESS);
    bytes_free(&object);
    ir_free(e);
    return module;
}

/* Groups of one wave on `in`; `out` is zeros before. */
static void run(hip_module module, unsigned groups, const void *in, size_t in_bytes, void *out, size_t out_bytes) {
    const uint64_t from = gpu_buffer(in, in_bytes), to = gpu_buffer(NULL, out_bytes);
    const hip_error error =
        gpu_launch(module, "test", (gpu_grid){.groups = groups, .threads = 64}, 3, from, to, (uint64_t)groups);
    if (error != HIP_SUCCESS) fail_msg("HIP %d: %s", error, gpu->last_fault());
    gpu_read(out, to, out_bytes);
    assert_int_equal(gpu->free((void *)(uintptr_t)from), HIP_SUCCESS);
    assert_int_equal(gpu->free((void *)(uintptr_t)to), HIP_SUCCESS);
}

/* ---- conversions ---- */

/* A group converts 256 values, four a lane: `out` has all as bf16 pairs, then as f16 pairs, then one by one. */
static void convert_body(ir *e) {
    const val group = e_muli(e, e_workgroup(e, 0), 64), item = e_add(e, group, e_workitem(e));
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), F32, 1), e_i32(e, INT32_MAX));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), I8, 0), e_i32(e, INT32_MAX));
    const val four = e_buffer_load(e, in, VEC(4, F32), e_muli(e, item, 16), 0), at = e_muli(e, item, 32);
    e_buffer_store(e, out, e_bf16(e, four), at, 0);
    e_buffer_store(e, out, e_f16(e, four), at, 8);
    for (int i = 0; i < 4; i++) {
        const val one = e_element(e, four, i);
        e_buffer_store(e, out, e_bf16(e, one), at, 16 + 2 * i);
        e_buffer_store(e, out, e_f16(e, one), at, 24 + 2 * i);
    }
}

static float value_of(uint32_t pattern) {
    float f;
    memcpy(&f, &pattern, 4);
    return f;
}

/* Of the 16-bit floats of `mantissa` bits whose values ascend with their patterns, the one next to x; of two the even
 * one. */
static uint32_t nearest(double x, int mantissa, int bias, uint32_t infinity) {
    const double magnitude = fabs(x);
    uint32_t low = 0, high = infinity; /* value(low) <= magnitude; infinity stands for the next power of two */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        const int exponent = (int)(middle >> mantissa);
        const double fraction = middle & ((1u << mantissa) - 1);
        const double value = exponent ? ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)
                                      : ldexp(fraction, 1 - bias - mantissa);
        *(value <= magnitude ? &low : &high) = middle;
    }
    const uint32_t ends[] = {low, high};
    double distance[2];
    for (int i = 0; i < 2; i++) {
        const int exponent = (int)(ends[i] >> mantissa);
        const double fraction = ends[i] & ((1u << mantissa) - 1);
        const double value = exponent ? ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)
                                      : ldexp(fraction, 1 - bias - mantissa);
        distance[i] = fabs(value - magnitude);
    }
    const uint32_t rounded = distance[0] < distance[1] || (!(distance[1] < distance[0]) && !(low & 1)) ? low : high;
    return rounded | (signbit(x) ? 0x8000u : 0);
}
static int is_nan(uint32_t pattern, uint32_t infinity) { return (pattern & 0x7fff) > infinity; }

static void check_conversion(const char *what, uint32_t pattern, uint32_t got, int mantissa, int bias,
                             uint32_t infinity) {
    const float x = value_of(pattern);
    if (isnan(x) ? is_nan(got, infinity) : got == nearest((double)x, mantissa, bias, infinity)) return;
    fail_msg("%s of %08x is %04x, not %04x", what, pattern, got,
             isnan(x) ? infinity + 1 : nearest((double)x, mantissa, bias, infinity));
}

/* Every upper half with lower halves around the tie of bf16, and every value that f16 tells apart with those around its
 * ties: infinities, NaNs whose payload is in either half, and subnormals of all three formats are among them. */
static void conversions_round_to_nearest_even(void **state) {
    (void)state;
    static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0x2fff};
    enum { LOWER = sizeof lower / sizeof *lower, COUNT = 65536 * LOWER };
    uint32_t *const in = malloc(COUNT * sizeof *in);
    uint16_t *const out = malloc(COUNT * 8);
    assert_non_null(in);
    assert_non_null(out);
    for (uint32_t i = 0; i < COUNT; i++) in[i] = i / LOWER << 16 | lower[i % LOWER];
    for (int c = 0; c < CHIPS; c++) {
        const hip_module module = generate(chip_names[c], "threads=2", convert_body);
        run(module, COUNT / 256, in, COUNT * sizeof *in, out, COUNT * 8);
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint16_t *const of_lane = out + i / 4 * 16;
            for (uint32_t single = 0; single < 2; single++) {
                check_conversion("bf16", in[i], of_lane[8 * single + i % 4], 7, 127, 0x7f80);
                check_conversion("f16", in[i], of_lane[8 * single + 4 + i % 4], 10, 15, 0x7c00);
            }
        }
    }
    free(in);
    free(out);
}

/* ---- widths ---- */

/* Each lane moves 2, 4, 8, 12 and 16 bytes, all but the 12 through LDS too, where the wave's other half reads them. */
static const type widths[] = {I16, I32, VEC(2, F32), VEC(4, I16), VEC(3, I32), VEC(4, I32)};
enum { WIDTHS = sizeof widths / sizeof *widths, PLACE = 16, LANE_PLACE = WIDTHS * PLACE };

static void width_body(ir *e) {
    const val lane = e_workitem(e), other = e_xor(e, lane, e_i32(e, 32));
    const val at = e_muli(e, lane, LANE_PLACE), from = e_muli(e, other, LANE_PLACE);
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 64 * LANE_PLACE));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), I8, 0), e_i32(e, 64 * LANE_PLACE));
    const lds places = e_lds(e, "places", 64 * LANE_PLACE, 16);
    for (int i = 0; i < WIDTHS; i++) {
        const val x = e_buffer_load(e, in, widths[i], at, i * PLACE);
        if (TYPE_LENGTH(widths[i]) == 3)
            e_buffer_store(e, out, x, from, i * PLACE);
        else
            e_lds_store(e, places, x, at, i * PLACE);
    }
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    for (int i = 0; i < WIDTHS; i++)
        if (TYPE_LENGTH(widths[i]) != 3)
            e_buffer_store(e, out, e_lds_load(e, places, widths[i], from, i * PLACE), at, i * PLACE);
}

static void loads_and_stores_move_as_many_bytes_as_their_values_have(void **state) {
    (void)state;
    static const int moved[WIDTHS] = {2, 4, 8, 8, 12, 16};
    unsigned char in[64 * LANE_PLACE], out[64 * LANE_PLACE];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 7 + i / 251 + 1);
    for (int c = 0; c < CHIPS * MODES; c++) {
        const hip_module module = generate(chip_names[c / MODES], modes[c % MODES], width_body);
        run(module, 1, in, sizeof in, out, sizeof out);
        for (int lane = 0; lane < 64; lane++)
            for (int byte = 0; byte < LANE_PLACE; byte++) {
                const int given = in[(lane ^ 32) * LANE_PLACE + byte];
                const int expected = byte % PLACE < moved[byte / PLACE] ? given : 0;
                if (out[lane * LANE_PLACE + byte] != expected)
                    fail_msg("%s: lane %d, byte %d is %02x, not %02x", chip_names[c / MODES], lane, byte,
                             out[lane * LANE_PLACE + byte], expected);
            }
    }
}

static val lds_store_beyond(ir *e) {
    e_lds_store(e, e_lds(e, "small", 64, 16), e_f32(e, 0), e_i32(e, 0), 64);
    return e_f32(e, 0);
}
static val lds_store_of_12(ir *e) {
    e_lds_store(e, e_lds(e, "small", 64, 16), e_zero(e, VEC(3, I32)), e_i32(e, 0), 0);
    return e_f32(e, 0);
}
static val store_of_24(ir *e) {
    const buffer b = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), I8, 0), e_i32(e, 64));
    e_buffer_store(e, b, e_zero(e, VEC(6, I32)), e_i32(e, 0), 0);
    return e_f32(e, 0);
}
static val bf16_of_integer(ir *e) { return e_bf16(e, e_i32(e, 0)); }
static val slice_beyond(ir *e) { return e_slice(e, e_zero(e, VEC(4, F32)), 3, 2); }
static val priority_beyond(ir *e) {
    e_setprio(e, 4);
    return e_f32(e, 0);
}
static val add_to_constant(ir *e) { return e_atomic_add(e, e_ptr(e, e_arg(e, ARG_IN), I32, 1), e_i32(e, 1)); }
static val dma_of_8(ir *e) {
    const buffer b = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 64));
    e_lds_dma(e, b, e_i32(e, 0), e_i32(e, 0), e_lds(e, "small", 64, 16), e_i32(e, 0), 8);
    return e_f32(e, 0);
}
static val sum_of_another_atom(ir *e) {
    tile rows = t_rows(e, atom_find(16, 16, 128), 16, 128), cols = t_cols(e, atom_find(16, 16, 128), 128, 16);
    rows.v[0] = cols.v[0] = e_zero(e, VEC(8, I32));
    return t_mma_atom(e, &rows, 0, &cols, 0, t_no_sums(e, atom_find(32, 32, 64)));
}

static void what_has_no_instruction_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        val (*make)(ir *e);
        const char *sentence;
    } cases[] = {
        {lds_store_beyond, "e_lds_store: offset outside the buffer"},
        {lds_store_of_12, "e_lds_store: the value must have 2, 4, 8, 16 or 32 bytes"},
        {store_of_24, "e_buffer_store: the value must have 2 bytes or 1 to 4 words"},
        {bf16_of_integer, "e_bf16: the operand must be F32"},
        {slice_beyond, "e_slice: no such elements"},
        {priority_beyond, "e_setprio: the priority must be 0 to 3"},
        {add_to_constant, "e_atomic_add: the place and the addend must be I32, and the place not constant"},
        {dma_of_8, "e_lds_dma: 4 or 16 bytes a lane"},
        {sum_of_another_atom, "t_mma: the sum is no value of the atom's sums"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir *const e = open_kernel("gfx950");
        cases[i].make(e);
        assert_refused(e, cases[i].sentence);
    }
}

/* ---- sums from given ones ---- */

static void chained_body(ir *e) {
    const atom *const a = atom_find(16, 16, 32);
    tile rows = t_rows(e, a, 32, 64), cols = t_cols(e, a, 64, 16);
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 4096));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), F32, 0), e_i32(e, 8192));
    const val lane = e_muli(e, e_workitem(e), 8);
    for (int i = 0; i < 4; i++) rows.v[i] = e_bitcast(e, e_buffer_load(e, in, VEC(2, I32), lane, i * 512), I64);
    for (int i = 0; i < 2; i++) cols.v[i] = e_bitcast(e, e_buffer_load(e, in, VEC(2, I32), lane, 2048 + i * 512), I64);
    const tile once = t_mma(e, &rows, &cols, 0);
    const val twice = t_mma_atom(e, &rows, 1, &cols, 0, once.v[1]);
    e_buffer_store(e, out, once.v[1], e_muli(e, e_workitem(e), 16), 0);
    e_buffer_store(e, out, twice, e_muli(e, e_workitem(e), 16), 1024);
}

static void a_product_is_added_to_the_sum_that_it_is_given(void **state) {
    (void)state;
    unsigned char in[4096];
    float out[512];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(0x30 + i * 5 % 16); /* 0.5 to 1.875 */
    run(generate("gfx950", modes[0], chained_body), 1, in, sizeof in, out, sizeof out);
    for (int i = 0; i < 256; i++) {
        assert_true(out[i] > 0);
        assert_float_equal(out[256 + i], 2 * out[i], 0); /* exact: few bits */
    }
}

/* ---- workgroups ---- */

/* Each group stores its number and counts itself; the last one copies what all have stored. */
static void last_body(ir *e) {
    const val lane = e_workitem(e), group = e_workgroup(e, 0), own = e_muli(e, lane, 4);
    const ptr count = e_ptr(e, e_arg(e, ARG_OUT), I32, 0);
    const buffer out = e_buffer(e, count, e_i32(e, 1 << 20));
    const lds arrived = e_lds(e, "arrived", 4, 4);
    e_buffer_store(e, out, group, e_add(e, own, e_muli(e, group, 256)), 1024);
    e_release(e);
    e_barrier(e);
    E_IF(e, e_equal(e, lane, e_i32(e, 0))) {
        const val before = e_atomic_add(e, count, e_i32(e, 1));
        e_lds_store(e, arrived, before, e_i32(e, 0), 0);
    }
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    const val before = e_uniform(e, e_lds_load(e, arrived, I32, e_i32(e, 0), 0));
    E_IF(e, e_equal(e, before, e_addi(e, e_arg(e, ARG_COUNT), -1))) {
        e_acquire(e);
        val sum = e_i32(e, 0);
        E_FOR(g, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1), &sum) {
            sum = e_add(e, sum, e_buffer_load(e, out, I32, e_add(e, own, e_muli(e, g, 256)), 1024));
        }
        e_buffer_store(e, out, sum, own, 512);
    }
}

static void the_last_group_sees_what_the_others_stored(void **state) {
    (void)state;
    enum { GROUPS_OF = 33 };
    uint32_t out[256 + 64 * GROUPS_OF];
    for (int c = 0; c < CHIPS; c++) {
        ir *const e = open_kernel(chip_names[c]);
        last_body(e);
        text listing = assembly(e);
        /* written back from this XCD's L2 before the count, and dropped from it after */
        const char *const back = strstr(listing.data, "buffer_wbl2 sc1"),
                          *const add = strstr(listing.data, "global_atomic_add"),
                          *const drop = strstr(listing.data, "buffer_inv sc1");
        assert_non_null(back);
        assert_non_null(add);
        assert_non_null(drop);
        assert_true(back < add && add < drop);
        assert_non_null(strstr(back, "s_waitcnt vmcnt(0)"));
        assert_true(strstr(back, "s_waitcnt vmcnt(0)") < add);
        text_free(&listing);
        for (int m = 0; m < MODES; m++) {
            run(generate(chip_names[c], modes[m], last_body), GROUPS_OF, "", 1, out, sizeof out);
            assert_int_equal(out[0], GROUPS_OF);
            for (int lane = 0; lane < 64; lane++) assert_int_equal(out[128 + lane], GROUPS_OF * (GROUPS_OF - 1) / 2);
        }
    }
}

/* ---- lanes ---- */

enum { LANE_SUMS = 5 };

/* Of a and b, 64 floats each: both sums of each with the other, of a with itself, and whether any lane's a is 63. */
static void lanes_body(ir *e) {
    const val lane = e_muli(e, e_workitem(e), 4);
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), F32, 1), e_i32(e, 512));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), F32, 0), e_i32(e, LANE_SUMS * 256));
    const val a = e_buffer_load(e, in, F32, lane, 0), b = e_buffer_load(e, in, F32, lane, 256);
    e_buffer_store(e, out, e_sum_swap16(e, a, b, 0), lane, 0);
    e_buffer_store(e, out, e_sum_swap32(e, a, b, 0), lane, 256);
    e_buffer_store(e, out, e_sum_swap16(e, a, a, 0), lane, 512);
    e_buffer_store(e, out, e_sum_swap32(e, a, a, 0), lane, 768);
    const val is_last = e_equal(e, e_bitcast(e, a, I32), e_bitcast(e, e_f32(e, 63), I32)), any = e_any(e, is_last);
    e_buffer_store(e, out, e_select(e, any, e_f32(e, 1), e_f32(e, 0)), lane, 1024);
}

static void lanes_add_what_lies_across(void **state) {
    (void)state;
    float in[128], out[LANE_SUMS * 64];
    for (int l = 0; l < 64; l++) in[l] = (float)l, in[64 + l] = (float)(1000 * (l + 1));
    for (int c = 0; c < CHIPS; c++)
        for (int m = 0; m < MODES; m++)
            for (int has_last = 0; has_last < 2; has_last++) {
                in[63] = has_last ? 63 : 62.5f;
                run(generate(chip_names[c], modes[m], lanes_body), 1, in, sizeof in, out, sizeof out);
                for (int l = 0; l < 64; l++) {
                    const float *const of16 = in + (l & 16 ? 64 : 0), *const of32 = in + (l & 32 ? 64 : 0);
                    const float want[LANE_SUMS] = {of16[l] + of16[l ^ 16], of32[l] + of32[l ^ 32], in[l] + in[l ^ 16],
                                                   in[l] + in[l ^ 32], (float)has_last};
                    for (int i = 0; i < LANE_SUMS; i++)
                        if (out[64 * i + l] != want[i])
                            fail_msg("%s sum %d lane %d: %g, not %g", chip_names[c], i, l, (double)out[64 * i + l],
                                     (double)want[i]);
                }
            }
}

/* ---- fp8 ---- */

/* Four words a lane; behind them a word that says whether one of their bytes was NaN; then the words with their
 * NaNs. */
static void fnuz_body(ir *e) {
    const val lane = e_workitem(e), from = e_muli(e, lane, 16), to = e_muli(e, lane, 36);
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I32, 1), e_i32(e, 1024));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), I32, 0), e_i32(e, 2304));
    val nans = e_i32(e, 0);
    const val fn = e_buffer_load(e, in, VEC(4, I32), from, 0);
    e_buffer_store(e, out, e_fnuz_from_fn(e, fn, &nans), to, 0);
    e_buffer_store(e, out, e_fnuz_or_nan(e, fn), to, 20);
    e_buffer_store(e, out, e_select(e, e_saw_nan(e, nans), e_i32(e, 1), e_i32(e, 0)), to, 16);
}

/* Every byte in every place of a word, beside others that change with it. */
static void fnuz_bytes_have_half_the_value_of_fn_bytes(void **state) {
    (void)state;
    enum { WORDS = 256 };
    uint8_t in[WORDS][4], out[WORDS / 4][36];
    for (int i = 0; i < WORDS; i++) {
        const uint8_t bytes_of[] = {(uint8_t)i, (uint8_t)(37 * i + 11), (uint8_t)~i, (uint8_t)(91 * i + 5)};
        memcpy(in[i], bytes_of, 4);
    }
    for (int c = 0; c < CHIPS; c++) {
        run(generate(chip_names[c], modes[1], fnuz_body), 1, in, sizeof in, out, sizeof out);
        int clean_lanes = 0;
        for (int lane = 0; lane < WORDS / 4; lane++) {
            uint32_t saw_nan;
            int has_nan = 0;
            memcpy(&saw_nan, &out[lane][16], 4);
            for (int b = 0; b < 16; b++) {
                const uint8_t fn = in[4 * lane + b / 4][b % 4], fnuz = out[lane][b];
                const float want = f32_from_e4m3fn(fn), got = 2 * f32_from_e4m3fnuz(fnuz);
                const float or_nan = 2 * f32_from_e4m3fnuz(out[lane][20 + b]);
                has_nan |= isnan(want);
                if (isnan(want) ? !isnan(or_nan) : or_nan != want)
                    fail_msg("%s 0x%02x became 0x%02x, which may be NaN", chip_names[c], fn, out[lane][20 + b]);
                if (!isnan(want) && got != want)
                    fail_msg("%s 0x%02x became 0x%02x: %g, not %g", chip_names[c], fn, fnuz, (double)got, (double)want);
            }
            clean_lanes += !has_nan;
            assert_int_equal(saw_nan, has_nan);
        }
        assert_in_range(clean_lanes, 1, WORDS / 4 - 1);
    }
}

static void relu_body(ir *e) {
    const val lane = e_muli(e, e_workitem(e), 4);
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), F32, 1), e_i32(e, 256));
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), F32, 0), e_i32(e, 256));
    e_buffer_store(e, out, e_twice_relu(e, e_buffer_load(e, in, F32, lane, 0)), lane, 0);
}

static void twice_relu_keeps_nan_of_both_signs(void **state) {
    (void)state;
    static const uint32_t bits[][2] = {{0x3f800001, 0x40000001}, {0xbf800001, 0}, {0, 0}, {0x80000000, 0},
                                       {0x00000003, 6},          {0xff7fffff, 0}, {1, 2}};
    uint32_t in[64] = {0}, out[64];
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) in[i] = bits[i][0];
    in[62] = 0x7fc00001;
    in[63] = 0xffc00001;
    for (int c = 0; c < CHIPS; c++) {
        run(generate(chip_names[c], modes[0], relu_body), 1, in, sizeof in, out, sizeof out);
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) assert_int_equal(out[i], bits[i][1]);
        assert_true(isnan(value_of(out[62])) && isnan(value_of(out[63])));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_round_to_nearest_even),
        cmocka_unit_test(loads_and_stores_move_as_many_bytes_as_their_values_have),
        cmocka_unit_test(what_has_no_instruction_is_refused_by_name),
        cmocka_unit_test(a_product_is_added_to_the_sum_that_it_is_given),
        cmocka_unit_test(the_last_group_sees_what_the_others_stored),
        cmocka_unit_test(lanes_add_what_lies_across),
        cmocka_unit_test(fnuz_bytes_have_half_the_value_of_fn_bytes),
        cmocka_unit_test(twice_relu_keeps_nan_of_both_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
