/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What emission makes: loops, ifs, waits, DMA, tiles; and what each verb refuses. */
#include "tests/ir/kernel.h"

static int occurrences(const char *text_at, const char *word) {
    int n = 0;
    for (const char *at = text_at; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

static void a_loop_carries_its_values(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    val sum = e_f32(e, 0), product = e_f32(e, 1);
    E_FOR(i, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1), &sum, &product) {
        sum = e_fadd(e, sum, e_bitcast(e, i, F32), 0);
        product = e_fmul(e, product, sum, 0);
    }
    store_out(e, e_fadd(e, sum, product, 0));
    text listing = assembly(e);
    assert_int_equal(occurrences(listing.data, "s_cbranch"), 2); /* the guard and the back edge */
    assert_non_null(strstr(listing.data, "v_mul_f32"));
    text_free(&listing);
}

static void loops_nest(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    val sum = e_i32(e, 0);
    E_FOR(i, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1), &sum) {
        E_FOR(j, e, i, e_arg(e, ARG_COUNT), e_i32(e, 3), &sum) { sum = e_xor(e, sum, e_mul(e, j, i)); }
    }
    store_out(e, e_bitcast(e, sum, F32));
    text listing = assembly(e);
    assert_true(occurrences(listing.data, "s_cbranch") >= 4);
    text_free(&listing);
}

static void a_value_that_leaves_its_loop_uncarried_is_refused(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    val last = e_f32(e, 0);
    E_FOR0(i, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1)) { last = e_bitcast(e, e_addi(e, i, 7), F32); }
    store_out(e, last);
    assert_refused(e, "does not dominate");
}

static void a_carried_value_keeps_its_type(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    val x = e_i32(e, 0);
    E_FOR(i, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1), &x) { x = e_sext(e, i); }
    assert_refused(e, "a carried value changed its type");
}

/* Where the code of an if stands next to what follows it. */
static void code_of_what_is_rare_is_laid_out_aside(void **state) {
    (void)state;
    for (int odds = E_EITHER; odds <= E_RARELY; odds++) {
        ir *const e = open_kernel("gfx950");
        E_IF_ODDS(e, e_not(e, e_less(e, e_arg(e, ARG_COUNT), e_i32(e, 5))), (e_odds)odds) store_out(e, e_f32(e, 2));
        store_out(e, e_f32(e, 4));
        text listing = assembly(e);
        const char *const inside = strstr(listing.data, ", 2.0"), *const after = strstr(listing.data, ", 4.0");
        assert_non_null(inside);
        assert_non_null(after);
        assert_int_equal(inside > after, odds == E_RARELY);
        text_free(&listing);
    }
}

static void waits_have_the_counts_that_were_asked(void **state) {
    (void)state;
    static const struct {
        int vector_memory, lds;
        const char *expected;
    } waits[] = {{12, WAIT_ANY, "s_waitcnt vmcnt(12)\n"},
                 {63, 0, "s_waitcnt lgkmcnt(0)\n"},
                 {40, 3, "s_waitcnt vmcnt(40) lgkmcnt(3)\n"},
                 {0, WAIT_ANY, "s_waitcnt vmcnt(0)\n"}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        ir *const e = open_kernel("gfx950");
        /* 41 stores and 4 LDS reads are outstanding, so that no count is dropped as already met */
        for (int s = 0; s < 41; s++) store_out(e, e_f32(e, s));
        e_wait(e, waits[i].vector_memory, waits[i].lds);
        store_out(e, e_f32(e, 99));
        text listing = assembly(e);
        if (!strstr(listing.data, waits[i].expected)) fail_msg("no %s in\n%s", waits[i].expected, listing.data);
        text_free(&listing);
    }
}

static void a_wait_beyond_its_field_is_refused(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    e_wait(e, VMCNT_MAX + 1, WAIT_ANY);
    assert_refused(e, "e_wait: count beyond the field");
}

static void lds_reads_do_not_wait_for_dma(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 65536));
    const lds ring = e_lds(e, "ring", 4096, 128);
    const val lane = e_muli(e, e_workitem(e), 16);
    for (int i = 0; i < 3; i++) e_lds_dma(e, in, lane, e_i32(e, i * 1024), ring, e_i32(e, i * 1024), 16);
    e_wait(e, 2, WAIT_ANY);
    const val first = e_lds_load(e, ring, VEC(4, F32), lane, 0);
    store_out(e, e_element(e, first, 3));
    text listing = assembly(e);
    assert_int_equal(occurrences(listing.data, "buffer_load_dwordx4"), 3);
    assert_int_equal(occurrences(listing.data, " lds\n"), 3);
    assert_non_null(strstr(listing.data, "ds_read"));
    assert_non_null(strstr(listing.data, "vmcnt(2)"));
    assert_null(strstr(listing.data, "vmcnt(0)"));
    text_free(&listing);
}

static void a_product_is_one_mfma_a_step(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 65536));
    const atom *const a = atom_find(32, 32, 64);
    tile rows = t_rows(e, a, 64, 128), cols = t_cols(e, a, 128, 32);
    const val lane = e_muli(e, e_workitem(e), 32);
    for (int i = 0; i < 4; i++) rows.v[i] = e_buffer_load(e, in, VEC(8, I32), lane, i * 2048);
    for (int i = 0; i < 2; i++) cols.v[i] = e_buffer_load(e, in, VEC(8, I32), lane, 8192 + i * 2048);
    const tile sums = t_mma(e, &rows, &cols, 0);
    assert_int_equal(sums.outer, 2);
    store_out(e, e_fadd(e, e_element(e, sums.v[0], 0), e_element(e, sums.v[1], 15), 0));
    text listing = assembly(e);
    assert_int_equal(occurrences(listing.data, "v_mfma_f32_32x32x64_f8f6f4"), 4);
    assert_null(strstr(listing.data, "accvgpr"));
    text_free(&listing);
}

/* A pair of floats is one instruction where no product casts its shadow: there LLVM takes pairs apart. */
static void pairs_are_converted_and_multiplied_packed(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 65536));
    const val four = e_buffer_load(e, in, VEC(4, F32), e_muli(e, e_workitem(e), 16), 0);
    const val low = e_slice(e, four, 0, 2), high = e_slice(e, four, 2, 2);
    store_out(e, e_bitcast(e, e_bf16(e, e_fma(e, low, high, high)), F32));
    text listing = assembly(e);
    assert_int_equal(occurrences(listing.data, "v_pk_fma_f32"), 1);
    assert_int_equal(occurrences(listing.data, "v_cvt_pk_bf16_f32"), 1);
    text_free(&listing);
}

static void lds_is_read_and_written_in_words_of_16_bytes(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 65536));
    const lds ring = e_lds(e, "ring", 4096, 128);
    const val lane = e_muli(e, e_workitem(e), 16);
    e_lds_store(e, ring, e_buffer_load(e, in, VEC(4, I32), lane, 0), lane, 0);
    e_wait(e, WAIT_ANY, 0);
    e_barrier(e);
    store_out(e, e_bitcast(e, e_element(e, e_lds_load(e, ring, VEC(8, I32), lane, 1024), 7), F32));
    text listing = assembly(e);
    assert_int_equal(occurrences(listing.data, "ds_write_b128"), 1);
    assert_true(occurrences(listing.data, "ds_read_b") > 0);
    text_free(&listing);
}

static void an_array_of_values_is_carried(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    val x[LOOP_CARRIED_MAX];
    carried_values carried = {0};
    for (int i = 0; i < LOOP_CARRIED_MAX; i++) x[i] = e_f32(e, i);
    e_carry(e, &carried, x, LOOP_CARRIED_MAX);
    E_FOR_ALL(i, e, e_i32(e, 0), e_arg(e, ARG_COUNT), e_i32(e, 1), carried) {
        const val factor = e_bitcast(e, i, F32);
        for (int j = 0; j < LOOP_CARRIED_MAX; j++) x[j] = e_fmul(e, x[j], factor, 0);
    }
    for (int j = 1; j < LOOP_CARRIED_MAX; j++) x[0] = e_fadd(e, x[0], x[j], 0);
    store_out(e, x[0]);
    text listing = assembly(e);
    assert_true(occurrences(listing.data, "v_mul_f32") + 2 * occurrences(listing.data, "v_pk_mul_f32") >=
                LOOP_CARRIED_MAX);
    text_free(&listing);
}

static void priorities_and_groups_reach_the_code(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    e_setprio(e, 1);
    store_out(e, e_f32(e, 1));
    e_sched_group(e, SCHED_VMEM_READ, 1);
    e_sched_group(e, SCHED_LDS_READ, 1);
    e_sched_group(e, SCHED_LDS_WRITE, 1);
    e_setprio(e, 0);
    text listing = assembly(e);
    const char *const up = strstr(listing.data, "s_setprio 1"), *const store = strstr(listing.data, "buffer_store"),
                      *const down = strstr(listing.data, "s_setprio 0");
    assert_true(up && store && down && up < down);
    text_free(&listing);
}

static void rows_of_sums_follow_the_atom(void **state) {
    (void)state;
    const atom *const wide = atom_find(32, 32, 64), *const narrow = atom_find(16, 16, 128);
    assert_int_equal(t_sum_row(wide, 0, 3), 3);
    assert_int_equal(t_sum_row(wide, 0, 4), 8);
    assert_int_equal(t_sum_row(wide, 1, 15), 32 + 24 + 3);
    assert_int_equal(t_sum_row(narrow, 2, 3), 32 + 3);
}

static val add_mixed(ir *e) { return e_add(e, e_i32(e, 1), e_i64(e, 1)); }
static val fma_mixed(ir *e) { return e_fma(e, e_f32(e, 1), e_f32(e, 1), e_i32(e, 1)); }
static val not_a_condition(ir *e) { return e_not(e, e_i32(e, 1)); }
static val select_by_number(ir *e) { return e_select(e, e_i32(e, 1), e_f32(e, 1), e_f32(e, 2)); }
static val element_beyond(ir *e) { return e_element(e, e_zero(e, VEC(4, F32)), 4); }
static val load_written(ir *e) { return e_load_uniform(e, e_ptr(e, e_arg(e, ARG_OUT), I32, 0), e_i32(e, 0)); }
static val argument_beyond(ir *e) { return e_arg(e, ARG_COUNT + 1); }
static val lds_beyond(ir *e) { return e_lds_load(e, e_lds(e, "small", 64, 16), F32, e_i32(e, 0), 64); }
static val unknown_operation(ir *e) { return e_op(e, "no_such_row", NULL, 0); }
static val too_few_operands(ir *e) { return e_op(e, "fma", NULL, 0); }
static val odd_tile(ir *e) { return t_rows(e, atom_find(32, 32, 64), 48, 64).v[0]; }
static val product_of(ir *e, tile rows, tile cols) {
    for (int i = 0; i < 8; i++) rows.v[i] = cols.v[i] = e_zero(e, VEC(8, I32));
    return t_mma(e, &rows, &cols, 0).v[0];
}
static val two_atoms(ir *e) {
    return product_of(e, t_rows(e, atom_find(32, 32, 64), 32, 128), t_cols(e, atom_find(16, 16, 128), 128, 16));
}
static val two_extents(ir *e) {
    const atom *const a = atom_find(32, 32, 64);
    return product_of(e, t_rows(e, a, 32, 128), t_cols(e, a, 64, 32));
}
static val two_rows(ir *e) {
    const atom *const a = atom_find(32, 32, 64);
    return product_of(e, t_rows(e, a, 32, 64), t_rows(e, a, 32, 64));
}

static void wrong_pairings_are_refused_by_name(void **state) {
    (void)state;
    static const struct {
        val (*make)(ir *e);
        const char *sentence;
    } cases[] = {
        {add_mixed, "e_add: both operands must be integers of one type"},
        {fma_mixed, "e_fma: both operands must be floats of one type"},
        {not_a_condition, "e_not: the operand must be I1"},
        {select_by_number, "e_select: the condition must be I1"},
        {element_beyond, "e_element: no such element"},
        {load_written, "e_load_uniform: the kernel writes there"},
        {argument_beyond, "e_arg: no such argument"},
        {lds_beyond, "e_lds_load: offset outside the buffer"},
        {unknown_operation, "'no_such_row' is not in the intrinsic table"},
        {too_few_operands, "fma takes 3 operands, 0 given"},
        {odd_tile, "t_rows: rows and k must be multiples of the atom's"},
        {two_atoms, "t_mma: both operands must be laid out for one atom"},
        {two_extents, "t_mma: the inner extents differ"},
        {two_rows, "t_mma: operands must be rows and columns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir *const e = open_kernel("gfx950");
        cases[i].make(e);
        e_fail(e, "a later error"); /* the first one is kept */
        e_barrier(e);
        store_out(e, e_f32(e, 1));
        assert_refused(e, cases[i].sentence);
    }
}

static void operations_of_another_chip_are_refused(void **state) {
    (void)state;
    ir *e = open_kernel("gfx942");
    const atom *const a = atom_find(32, 32, 64);
    product_of(e, t_rows(e, a, 32, 64), t_cols(e, a, 64, 32));
    assert_refused(e, "does not exist on gfx942");

    e = open_kernel("gfx942");
    const buffer in = e_buffer(e, e_ptr(e, e_arg(e, ARG_IN), I8, 1), e_i32(e, 4096));
    e_lds_dma(e, in, e_i32(e, 0), e_i32(e, 0), e_lds(e, "ring", 4096, 128), e_i32(e, 0), 16);
    assert_refused(e, "wider than this chip's LDS DMA");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_carries_its_values),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(a_value_that_leaves_its_loop_uncarried_is_refused),
        cmocka_unit_test(a_carried_value_keeps_its_type),
        cmocka_unit_test(code_of_what_is_rare_is_laid_out_aside),
        cmocka_unit_test(waits_have_the_counts_that_were_asked),
        cmocka_unit_test(a_wait_beyond_its_field_is_refused),
        cmocka_unit_test(lds_reads_do_not_wait_for_dma),
        cmocka_unit_test(a_product_is_one_mfma_a_step),
        cmocka_unit_test(pairs_are_converted_and_multiplied_packed),
        cmocka_unit_test(lds_is_read_and_written_in_words_of_16_bytes),
        cmocka_unit_test(an_array_of_values_is_carried),
        cmocka_unit_test(priorities_and_groups_reach_the_code),
        cmocka_unit_test(rows_of_sums_follow_the_atom),
        cmocka_unit_test(wrong_pairings_are_refused_by_name),
        cmocka_unit_test(operations_of_another_chip_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
