/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The forms of grouped GEMM that take tensors: what each means, the sizes of its output, and every contract's
 * refusal. */
#include "tests/gen/grouped_testing.h"

enum fp8_types {
    FP8 = CDNAGEN_TYPE_E4M3FN,
    F32 = CDNAGEN_TYPE_F32,
    BF16 = CDNAGEN_TYPE_BF16,
    I32 = CDNAGEN_TYPE_I32,
    I64 = CDNAGEN_TYPE_I64
};

static cdnagen_tensor tensor(int type, int rank, int64_t a, int64_t b, int64_t c) {
    static uintptr_t place;
    place += 0x10000000;
    return (cdnagen_tensor){.ptr = (void *)place, .type = type, .rank = rank, .size = {a, b, c}};
}

/* operands: one call's tensors, by value, so that a test can change one. */
typedef struct operands {
    cdnagen_tensor xq, wq, x_scale, w_scale, extents, out;
    int has_extents;
} operands;

enum { G = 4, M = 96, N = 256, K = 384, MM_2D3D = 0, MM_3D3D, MM_3D2D, MM_2D2D };

/* good: a call of the form; mm: of one of its four kinds. */
static operands good(cdnagen_grouped_form form, int kind) {
    const int is_mm = form == CDNAGEN_GROUPED_MM || form == CDNAGEN_GROUPED_MM_PRESHUFFLE;
    const int is_dynamic = form == CDNAGEN_GROUPED_DYNAMIC || form == CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE;
    const int is_block = form == CDNAGEN_GROUPED_GROUPWISE || form == CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE;
    operands o = {.has_extents = 1};
    o.extents = tensor(is_mm ? I32 : I64, 1, G, 0, 0);
    o.wq = tensor(FP8, 3, G, N, K);
    o.w_scale = is_block ? tensor(F32, 3, G, K / 128, N / 128) : tensor(F32, 2, G, N, 0);
    if (is_dynamic || (is_mm && kind == MM_3D3D)) {
        o.xq = tensor(FP8, 3, G, M, K);
        o.x_scale = tensor(F32, 2, G, M, 0);
        o.out = tensor(BF16, 3, G, M, N);
        o.has_extents = is_dynamic;
    } else if (is_mm && kind == MM_3D2D) {
        o.xq = tensor(FP8, 3, G, M, K);
        o.wq = tensor(FP8, 2, N, K, 0);
        o.x_scale = tensor(F32, 2, G, M, 0);
        o.w_scale = tensor(F32, 1, N, 0, 0);
        o.out = tensor(BF16, 2, M, N, 0);
    } else if (is_mm && kind == MM_2D2D) {
        o.xq = tensor(FP8, 2, M, K, 0);
        o.wq = tensor(FP8, 2, N, K, 0);
        o.x_scale = tensor(F32, 1, G * M, 0, 0);
        o.w_scale = tensor(F32, 1, G * N, 0, 0);
        o.out = tensor(BF16, 3, G, M, N);
    } else {
        o.xq = tensor(FP8, 2, M, K, 0);
        o.x_scale = tensor(F32, 1, is_block ? M * K / 128 : M, 0, 0);
        o.out = tensor(BF16, 2, M, N, 0);
    }
    return o;
}

static cdnagen_status bind(cdnagen_grouped_form form, const operands *o, grouped_shape *s,
                           cdnagen_gemm_grouped_args *a) {
    const grouped_call call = {form,    &o->xq, &o->wq, &o->x_scale, &o->w_scale, o->has_extents ? &o->extents : NULL,
                               &o->out, 0};
    return grouped_form_bind(&call, CDNAGEN_FP8_E4M3FN, s, a);
}

/* every form and kind, and what it means */
static const struct meaning {
    cdnagen_grouped_form form;
    int kind;
    const char *words;
} meanings[] = {
    {CDNAGEN_GROUPED_STACKED, 0, "layout=sizes"},
    {CDNAGEN_GROUPED_STACKED_PRESHUFFLE, 0, "layout=sizes b=preshuffled"},
    {CDNAGEN_GROUPED_DYNAMIC, 0, "layout=padded"},
    {CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE, 0, "layout=padded b=preshuffled"},
    {CDNAGEN_GROUPED_MM, MM_2D3D, "layout=offsets"},
    {CDNAGEN_GROUPED_MM, MM_3D3D, "layout=batched"},
    {CDNAGEN_GROUPED_MM, MM_3D2D, "layout=n_offsets"},
    {CDNAGEN_GROUPED_MM, MM_2D2D, "layout=k_offsets empty_k=leave"},
    {CDNAGEN_GROUPED_MM_PRESHUFFLE, MM_2D3D, "layout=offsets b=preshuffled"},
    {CDNAGEN_GROUPED_MM_PRESHUFFLE, MM_3D3D, "layout=batched b=preshuffled"},
    {CDNAGEN_GROUPED_GROUPWISE, 0, "layout=sizes scale=block"},
    {CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE, 0, "layout=sizes scale=block b=preshuffled"},
};

/* What a form says is a launch that the kernel's own checks take, with just the bytes that it needs. */
static void forms_are_launches(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(meanings); i++) {
        const struct meaning *const w = &meanings[i];
        const operands o = good(w->form, w->kind);
        grouped_shape s;
        cdnagen_gemm_grouped_args a;
        if (bind(w->form, &o, &s, &a)) fail_msg("%s: %s", w->words, cdnagen_error());
        char words[160];
        snprintf(words, sizeof words, "%s groups=%d m=%d n=%d k=%d", w->words, G, M, N, K);
        const grouped_shape right = shape_of(words);
        assert_memory_equal(&s, &right, sizeof s);
        static const char *const ids[] = {"gfx942", "gfx950"};
        for (int c = 0; c < 2; c++) {
            const target t = target_of(ids[c]);
            grouped_shape kernel = s;
            grouped_variant v;
            plan p;
            launch l;
            if (grouped_form_route(&t, &kernel, &v) || plan_from_structs(&gemm_grouped_family, &v, &kernel, &t, &p) ||
                grouped_bind(&p, NULL, &a, &l))
                fail_msg("%s on %s: %s", w->words, ids[c], cdnagen_error());
            assert_true(!v.split_k && l.grid[0] > 0);
        }
    }
}

static void outputs(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(meanings); i++) {
        const struct meaning *const w = &meanings[i];
        const operands o = good(w->form, w->kind);
        cdnagen_tensor out;
        if (grouped_form_output(w->form, &o.xq, &o.wq, o.has_extents ? &o.extents : NULL, &out))
            fail_msg("%s: %s", w->words, cdnagen_error());
        assert_true(out.rank == o.out.rank && out.type == BF16 && !out.ptr && out.stride[out.rank - 1] == 1);
        for (int d = 0; d < out.rank; d++) assert_int_equal(out.size[d], o.out.size[d]);
        assert_int_equal(out.stride[out.rank - 2], N);
    }
    cdnagen_tensor out;
    expect_error("form", grouped_form_output((cdnagen_grouped_form)8, NULL, NULL, NULL, &out), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"form 8", NULL});
}

/* break_: one contract of a good call. */
typedef struct break_ {
    cdnagen_grouped_form form;
    int kind;
    size_t offset; /* of an int64_t, or of an int32_t if `narrow` */
    int64_t value;
    int narrow;
    const char *says[3];
} break_;

#define SIZE(tensor, d) offsetof(operands, tensor.size) + 8 * (d)
#define STRIDE(tensor, d) offsetof(operands, tensor.stride) + 8 * (d)
#define PTR(tensor) offsetof(operands, tensor.ptr)
#define TYPE(tensor) offsetof(operands, tensor.type)
#define RANK(tensor) offsetof(operands, tensor.rank)
#define STACKED CDNAGEN_GROUPED_STACKED
#define DYNAMIC CDNAGEN_GROUPED_DYNAMIC
#define MM CDNAGEN_GROUPED_MM
#define WISE CDNAGEN_GROUPED_GROUPWISE
static const break_ breaks[] = {
    {STACKED, 0, TYPE(xq), CDNAGEN_TYPE_E4M3FNUZ, 1, {"rowwise_grouped_stacked: xq is e4m3fnuz", "FP8 is e4m3fn"}},
    {STACKED, 0, TYPE(wq), CDNAGEN_TYPE_BF16, 1, {"wq is bf16", "e4m3fn"}},
    {STACKED, 0, TYPE(x_scale), CDNAGEN_TYPE_BF16, 1, {"x_scale is bf16; it must be f32"}},
    {STACKED, 0, TYPE(w_scale), 99, 1, {"w_scale has type 99"}},
    {STACKED, 0, TYPE(extents), I32, 1, {"m_sizes is i32; it must be i64"}},
    {STACKED, 0, TYPE(out), CDNAGEN_TYPE_F16, 1, {"out is f16; it must be bf16"}},
    {STACKED, 0, RANK(xq), 3, 1, {"xq has rank 3; it must be 2", "[m, k]"}},
    {STACKED, 0, RANK(wq), 2, 1, {"wq has rank 2; it must be 3"}},
    {STACKED, 0, RANK(wq), 4, 1, {"wq has rank 4; it must be 1 to 3"}},
    {STACKED, 0, RANK(extents), 2, 1, {"m_sizes has rank 2; it must be 1"}},
    {STACKED, 0, SIZE(xq, 1), 400, 0, {"wq has K 384, xq has 400"}},
    {STACKED, 0, SIZE(xq, 0), -1, 0, {"size 0 of xq is -1"}},
    {STACKED, 0, SIZE(extents, 0), 5, 0, {"m_sizes has 5 groups, wq has 4"}},
    {STACKED, 0, SIZE(x_scale, 0), 95, 0, {"x_scale has 95 elements; it must have 96"}},
    {STACKED, 0, SIZE(w_scale, 1), 255, 0, {"w_scale has 1020 elements; it must have 1024"}},
    {STACKED, 0, SIZE(out, 0), 97, 0, {"out has sizes [97, 256]; it must have [96, 256]"}},
    {STACKED, 0, STRIDE(out, 0), 512, 0, {"out of sizes [96, 256]", "stride 512 in dimension 0", "contiguous, 256"}},
    {STACKED, 0, STRIDE(xq, 1), 2, 0, {"xq of sizes [96, 384]", "stride 2"}},
    {STACKED, 0, STRIDE(extents, 0), 2, 0, {"m_sizes of sizes [4]", "stride 2"}},
    {STACKED, 0, PTR(xq), 0, 0, {"rowwise_grouped_stacked: xq.ptr is NULL"}},
    {STACKED, 0, PTR(wq), 0x1008, 0, {"wq.ptr 0x1008", "16 bytes"}},
    {STACKED, 0, PTR(x_scale), 0x1002, 0, {"x_scale.ptr 0x1002", "4 bytes"}},
    {STACKED, 0, PTR(w_scale), 0, 0, {"w_scale.ptr is NULL"}},
    {STACKED, 0, PTR(extents), 0x1004, 0, {"m_sizes.ptr 0x1004", "8 bytes"}},
    {STACKED, 0, PTR(out), 0x1004, 0, {"rowwise_grouped_stacked: out.ptr 0x1004", "8 bytes"}},
    {MM, MM_2D3D, PTR(extents), 0x1002, 0, {"rowwise_grouped_mm: offsets.ptr 0x1002", "4 bytes"}},
    {DYNAMIC, 0, SIZE(xq, 0), 3, 0, {"xq has 3 groups, wq has 4"}},
    {DYNAMIC, 0, SIZE(extents, 0), 3, 0, {"zero_start_index_m has 3 groups, wq has 4"}},
    {DYNAMIC, 0, TYPE(extents), I32, 1, {"zero_start_index_m is i32; it must be i64"}},
    {DYNAMIC, 0, SIZE(out, 1), 95, 0, {"out has sizes [4, 95, 256]; it must have [4, 96, 256]"}},
    {DYNAMIC, 0, STRIDE(out, 0), 99999, 0, {"out of sizes [4, 96, 256]"}},
    {MM, MM_2D3D, offsetof(operands, has_extents), 0, 1, {"rowwise_grouped_mm: offsets is NULL"}},
    {MM, MM_3D3D, offsetof(operands, has_extents), 1, 1, {"offsets must be NULL", "3D-3D"}},
    {MM, MM_3D2D, offsetof(operands, has_extents), 0, 1, {"offsets is NULL"}},
    {MM, MM_2D2D, offsetof(operands, has_extents), 0, 1, {"offsets is NULL"}},
    {MM, MM_2D3D, TYPE(extents), I64, 1, {"offsets is i64; it must be i32"}},
    {MM, MM_2D3D, RANK(xq), 1, 1, {"xq has rank 1; it must be 2 or 3"}},
    {MM, MM_3D3D, STRIDE(out, 1), 512, 0, {"out of sizes [4, 96, 256]", "contiguous"}},
    {MM, MM_3D2D, STRIDE(out, 0), 512, 0, {"out of sizes [96, 256]", "contiguous"}},
    {MM, MM_2D2D, STRIDE(out, 0), 1, 0, {"out of sizes [4, 96, 256]", "contiguous"}},
    {MM, MM_3D2D, SIZE(extents, 0), 3, 0, {"offsets has 3 groups, xq has 4"}},
    {MM, MM_3D2D, SIZE(w_scale, 0), 255, 0, {"w_scale has 255 elements; it must have 256"}},
    {MM, MM_2D2D, SIZE(x_scale, 0), 96, 0, {"x_scale has 96 elements; it must have 384"}},
    {MM, MM_2D2D, SIZE(out, 0), 3, 0, {"out has sizes [3, 96, 256]; it must have [4, 96, 256]"}},
    {WISE, 0, SIZE(x_scale, 0), 96, 0, {"groupwise_grouped: x_scale has 96 elements; it must have 288"}},
    {WISE, 0, SIZE(w_scale, 1), 4, 0, {"w_scale has 32 elements; it must have 24", "[groups, k / 128, n / 128]"}},
};

static void each_broken_contract_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(breaks); i++) {
        const break_ *const b = &breaks[i];
        operands o = good(b->form, b->kind);
        const int32_t narrow = (int32_t)b->value;
        /* A stride that is given says something only among the others. */
        for (cdnagen_tensor *t = &o.xq; t <= &o.out; t++)
            for (int64_t d = t->rank - 1, dense = 1; d >= 0; dense *= t->size[d--]) t->stride[d] = dense;
        if (b->narrow)
            memcpy((char *)&o + b->offset, &narrow, sizeof narrow);
        else
            memcpy((char *)&o + b->offset, &b->value, sizeof b->value);
        /* Sizes that changed are contiguous again. */
        const int is_stride = (b->offset % sizeof(cdnagen_tensor)) >= offsetof(cdnagen_tensor, stride);
        for (cdnagen_tensor *t = &o.xq; t <= &o.out && !is_stride; t++) memset(t->stride, 0, sizeof t->stride);
        grouped_shape s;
        cdnagen_gemm_grouped_args a;
        char what[80];
        snprintf(what, sizeof what, "row %zu, %s", i, b->says[0]);
        const char *const says[] = {b->says[0], b->says[1], b->says[2], NULL};
        expect_error(what, bind(b->form, &o, &s, &a), CDNAGEN_BAD_ARGUMENT, says);
    }
}

/* Lengths that change several tensors at once. */
static void lengths_are_refused(void **state) {
    (void)state;
    static const struct {
        cdnagen_grouped_form form;
        int kind;
        int64_t n, k;
        const char *says[3];
    } rows[] = {
        {STACKED, 0, 196, 384, {"rowwise_grouped_stacked: n=196 must be divisible by 8"}},
        {STACKED, 0, 256, 392, {"k=392 must be divisible by 16"}},
        {MM, MM_2D2D, 256, 1000, {"k=1000 must be divisible by 16"}},
        {MM, MM_3D2D, 1004, 256, {"n=1004 must be divisible by 8"}},
        {WISE, 0, 256, 240, {"groupwise_grouped: k=240 must be divisible by 128", "scale_block_k"}},
        {WISE, 0, 256, 144, {"k=144", "scale_block_k"}},
        {WISE, 0, 192, 256, {"n=192 must be divisible by 128", "scale_block_n"}},
        {CDNAGEN_GROUPED_STACKED_PRESHUFFLE, 0, 72, 128, {"preshuffled wq", "n 72 k 128"}},
        {CDNAGEN_GROUPED_MM_PRESHUFFLE, MM_3D3D, 256, 192, {"preshuffled wq", "n 256 k 192"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        operands o = good(rows[i].form, rows[i].kind);
        o.xq.size[o.xq.rank - 1] = o.wq.size[o.wq.rank - 1] = rows[i].k;
        o.wq.size[o.wq.rank - 2] = rows[i].n;
        grouped_shape s;
        cdnagen_gemm_grouped_args a;
        const char *const says[] = {rows[i].says[0], rows[i].says[1], NULL};
        expect_error(rows[i].says[0], bind(rows[i].form, &o, &s, &a), CDNAGEN_BAD_ARGUMENT, says);
    }
}

static void preshuffled_weights_need_groups_of_their_own(void **state) {
    (void)state;
    static const struct {
        int kind;
        const char *says;
    } rows[] = {{MM_3D2D, "3D-2D groups along N"}, {MM_2D2D, "2D-2D groups along K"}};
    for (int i = 0; i < 2; i++) {
        const operands o = good(CDNAGEN_GROUPED_MM_PRESHUFFLE, rows[i].kind);
        grouped_shape s;
        cdnagen_gemm_grouped_args a;
        cdnagen_tensor out;
        const char *const says[] = {rows[i].says, "plain wq", NULL};
        expect_error(rows[i].says, bind(CDNAGEN_GROUPED_MM_PRESHUFFLE, &o, &s, &a), CDNAGEN_BAD_ARGUMENT, says);
        expect_error(rows[i].says, grouped_form_output(CDNAGEN_GROUPED_MM_PRESHUFFLE, &o.xq, &o.wq, &o.extents, &out),
                     CDNAGEN_BAD_ARGUMENT, says);
    }
}

/* A chip's own FP8 kind, and no other: a name's mismatch would be off by a factor of two. */
static void fp8_is_the_chips_own(void **state) {
    (void)state;
    operands o = good(STACKED, 0);
    grouped_shape s;
    cdnagen_gemm_grouped_args a;
    const grouped_call call = {STACKED, &o.xq, &o.wq, &o.x_scale, &o.w_scale, &o.extents, &o.out, 0};
    expect_error("gfx942", grouped_form_bind(&call, CDNAGEN_FP8_E4M3FNUZ, &s, &a), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"xq is e4m3fn", "FP8 is e4m3fnuz", NULL});
    o.xq.type = CDNAGEN_TYPE_E4M3FNUZ;
    expect_error("wq", grouped_form_bind(&call, CDNAGEN_FP8_E4M3FNUZ, &s, &a), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"wq is e4m3fn", NULL});
    o.wq.type = CDNAGEN_TYPE_E4M3FNUZ;
    assert_int_equal(grouped_form_bind(&call, CDNAGEN_FP8_E4M3FNUZ, &s, &a), CDNAGEN_OK);
}

/* Strides of dimensions of one element, and of tensors without any, mean nothing. */
static void strides_that_do_not_matter(void **state) {
    (void)state;
    operands o = good(MM, MM_3D3D);
    o.xq.size[0] = o.wq.size[0] = o.out.size[0] = o.x_scale.size[0] = o.w_scale.size[0] = 1;
    o.xq.stride[0] = 7, o.xq.stride[1] = K, o.xq.stride[2] = 1;
    grouped_shape s;
    cdnagen_gemm_grouped_args a;
    if (bind(MM, &o, &s, &a)) fail_msg("%s", cdnagen_error());
    assert_int_equal(a.a.bytes, M * K);
    o.xq.size[1] = o.out.size[1] = o.x_scale.size[1] = 0;
    o.xq.stride[1] = 5;
    if (bind(MM, &o, &s, &a)) fail_msg("%s", cdnagen_error());
}

/* The output is nobody else's memory; where nothing is multiplied the rest need not be there. */
static void memory_of_the_output(void **state) {
    (void)state;
    grouped_shape s;
    cdnagen_gemm_grouped_args a;
    static const char *const names[] = {"xq", "wq", "x_scale", "w_scale", "m_sizes"};
    for (int i = 0; i < 5; i++) {
        operands o = good(STACKED, 0);
        (&o.xq)[i].ptr = (char *)o.out.ptr + 64;
        char says[40];
        snprintf(says, sizeof says, "overlaps %s ", names[i]);
        expect_error(names[i], bind(STACKED, &o, &s, &a), CDNAGEN_BAD_ARGUMENT,
                     (const char *const[]){"rowwise_grouped_stacked: out at", says, NULL});
    }
    operands o = good(STACKED, 0);
    o.xq.size[1] = o.wq.size[2] = 0;
    o.xq.ptr = o.wq.ptr = o.x_scale.ptr = o.w_scale.ptr = o.extents.ptr = NULL;
    assert_int_equal(bind(STACKED, &o, &s, &a), CDNAGEN_OK);
    o.out.ptr = NULL;
    expect_error("out", bind(STACKED, &o, &s, &a), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"rowwise_grouped_stacked: out.ptr is NULL", NULL});
}

static void the_zeroing_flag_reaches_the_launch(void **state) {
    (void)state;
    const operands o = good(DYNAMIC, 0);
    for (int keep = 0; keep < 2; keep++) {
        const grouped_call call = {DYNAMIC, &o.xq, &o.wq, &o.x_scale, &o.w_scale, &o.extents, &o.out, keep};
        grouped_shape s;
        cdnagen_gemm_grouped_args a;
        assert_int_equal(grouped_form_bind(&call, CDNAGEN_FP8_E4M3FN, &s, &a), CDNAGEN_OK);
        assert_int_equal(a.keep_padding, keep);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_launches),
        cmocka_unit_test(outputs),
        cmocka_unit_test(each_broken_contract_is_refused),
        cmocka_unit_test(lengths_are_refused),
        cmocka_unit_test(preshuffled_weights_need_groups_of_their_own),
        cmocka_unit_test(fp8_is_the_chips_own),
        cmocka_unit_test(strides_that_do_not_matter),
        cmocka_unit_test(memory_of_the_output),
        cmocka_unit_test(the_zeroing_flag_reaches_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
