/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator where numbers are large: operands and results beyond 4 GiB, tiles that span almost 2
 * GiB, and 4096 groups. Pages that nobody touches cost nothing.
 * usage: sweep_gemm_grouped_wide [--full] */
#include "tests/sweep/grouped_runs.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fp8.h"
#include "core/random.h"

enum { K_WINDOW = 1024, AROUND = 64 };

/* wide_case: of the groups all are empty but the last, which has `live` rows, columns or elements of K; slabs of
 * layouts without extents are all live. What is multiplied is 0 but for the last K_WINDOW of a group's K. */
typedef struct wide_case {
    const char *name, *tag, *words;
    int64_t live;
    int is_long; /* only with --full */
} wide_case;

static const wide_case cases[] = {
    {"B of sizes", "t16x64x256", "layout=sizes groups=64 m=1 n=2048 k=33792", 1, 0},
    {"B of offsets, preshuffled", "t16x64x256", "layout=offsets groups=64 m=1 n=2048 k=33792 b=preshuffled", 1, 0},
    {"B of sizes in blocks", "t16x128x128", "layout=sizes groups=64 m=1 n=2048 k=33792 scale=block", 1, 0},
    {"A of padded", "t64x64x256", "layout=padded groups=1024 m=64 n=8 k=67584", 50, 0},
    {"A of n_offsets", "t64x64x256", "layout=n_offsets groups=64 m=512 n=8 k=135168", 8, 0},
    {"A and B of k_offsets, tiles of almost 2 GiB", "t64x64x128", "layout=k_offsets groups=3 m=200 n=200 k=33554416",
     272, 0},
    {"C of padded", "t128x256x128", "layout=padded groups=1024 m=128 n=16640 k=128 b=preshuffled", 17, 0},
    {"C of n_offsets, tiles of almost 2 GiB", "t128x128x128", "layout=n_offsets groups=2 m=258 n=8388600 k=16", 24, 0},
    {"C of k_offsets", "t128x128x128", "layout=k_offsets groups=64 m=512 n=66048 k=1024 empty_k=leave", 16, 0},
    {"B of batched", "t16x64x256", "layout=batched groups=64 m=1 n=2048 k=33792", 0, 1},
    {"A of sizes, tiles of almost 2 GiB", "t64x64x256", "layout=sizes groups=2 m=140 n=8 k=33554416", 140, 1},
    {"B of n_offsets, tiles of almost 2 GiB", "t16x64x256", "layout=n_offsets groups=2 m=1 n=200 k=33554416", 200, 1},
};

/* work: one case's memory. The simulator's device memory is this process's. */
typedef struct work {
    const grouped_shape *shape;
    grouped_problem lengths;
    grouped_part *parts;
    fp8_kind kind;
    size_t size[GROUPED_WORKSPACE];
    void *device[GROUPED_WORKSPACE];
    float *reference; /* zeros but for what the last group owns */
} work;

static void *zeros(size_t size) {
    void *const p = mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) fail_msg("no %zu bytes of addresses", size);
    return p;
}

static void set_extents(const work *w, int64_t live) {
    const grouped_traits *const t = &grouped_layouts[w->lengths.layout];
    if (t->extent_bytes)
        memcpy((char *)w->device[GROUPED_EXTENTS] + (w->lengths.groups - 1) * t->extent_bytes, &live,
               (size_t)t->extent_bytes); /* little-endian */
}

/* Small integers in `rows` rows, scales of powers of two: no sum is rounded. */
static void fill_side(const work *w, int is_a, const grouped_part *p, uint64_t *state) {
    static const float values[] = {1, -1, 2, -2, 1, 3, 0, -1};
    const int64_t rows = is_a ? p->rows : p->columns, first = is_a ? p->a_row : p->b_row;
    const int64_t window = p->length < K_WINDOW ? p->length : K_WINDOW, begin = p->k + p->length - window;
    uint8_t *const operand = w->device[is_a ? GROUPED_A : GROUPED_B];
    float *const scales = w->device[is_a ? GROUPED_A_SCALES : GROUPED_B_SCALES];
    const int is_packed = !is_a && w->shape->b == GEMM_B_PRESHUFFLED;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = begin; k < begin + window; k++) {
            const int64_t at =
                is_packed ? gemm_pack_offset(first + r, k, w->lengths.k) : (first + r) * w->lengths.k + k;
            operand[at] = fp8_from_f32(w->kind, values[random64(state) >> 61]);
        }
    const int is_block = w->lengths.scale == GROUPED_SCALE_BLOCK;
    const int64_t along = is_block && !is_a ? w->lengths.n / GEMM_SCALE_K : rows;
    const int64_t stride = is_a ? p->scale_rows : along, blocks = is_block ? p->length / GEMM_SCALE_K : 1;
    for (int64_t block = 0; block < blocks; block++)
        for (int64_t i = 0; i < along; i++)
            scales[(is_a ? p->a_scale : p->b_scale) + block * stride + i] = random64(state) & 1 ? 0.5f : 1;
}

static int is_live(const grouped_part *p) { return p->rows > 0 && p->columns > 0 && p->length > 0; }

static work make(cdnagen *ctx, const plan *p, const wide_case *c) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    work w = {.shape = s, .kind = p->target.chip->fp8};
    w.lengths = (grouped_problem){(grouped_layout)s->layout, (grouped_scale)s->scale, s->groups, s->m, s->n, s->k};
    const int units[GROUPED_WORKSPACE] = {1, 1, 4, 4, 2, grouped_layouts[s->layout].extent_bytes};
    int64_t elements[GROUPED_WORKSPACE];
    grouped_lengths(&w.lengths, elements);
    for (int i = 0; i < GROUPED_WORKSPACE; i++) {
        w.size[i] = (size_t)elements[i] * (size_t)units[i];
        if (cdnagen_alloc(ctx, w.size[i] + 1, &w.device[i])) fail_msg("%s", cdnagen_error());
    }
    set_extents(&w, c->live);
    w.parts = calloc((size_t)s->groups, sizeof *w.parts);
    assert_non_null(w.parts);
    grouped_parts(&w.lengths, w.device[GROUPED_EXTENTS], w.parts);
    w.reference = zeros(w.size[GROUPED_C] * 2);
    uint64_t state = 5;
    for (int64_t g = 0; g < s->groups; g++) {
        if (!is_live(&w.parts[g])) continue;
        fill_side(&w, 1, &w.parts[g], &state);
        fill_side(&w, 0, &w.parts[g], &state);
    }
    const grouped_operands in = {.lengths = w.lengths,
                                 .b_layout = (gemm_b_layout)s->b,
                                 .empty_k = GROUPED_EMPTY_K_LEAVE,
                                 .a_fp8 = w.kind,
                                 .b_fp8 = w.kind,
                                 .a = w.device[GROUPED_A],
                                 .b = w.device[GROUPED_B],
                                 .a_scales = w.device[GROUPED_A_SCALES],
                                 .b_scales = w.device[GROUPED_B_SCALES],
                                 .extents = w.device[GROUPED_EXTENTS]};
    assert_int_equal(grouped_reference(&in, w.reference), CDNAGEN_OK);
    return w;
}

static void let_go(cdnagen *ctx, work *w) {
    for (int i = 0; i < GROUPED_WORKSPACE; i++) cdnagen_free_memory(ctx, w->device[i]);
    munmap(w->reference, w->size[GROUPED_C] * 2 + 1);
    free(w->parts);
}

static void launch_case(cdnagen_kernel *kernel, cdnagen *ctx, const work *w) {
    cdnagen_buffer b[GROUPED_WORKSPACE];
    for (int i = 0; i < GROUPED_WORKSPACE; i++) b[i] = (cdnagen_buffer){w->device[i], w->size[i]};
    const cdnagen_gemm_grouped_args args = {.size = sizeof args,
                                            .a = b[GROUPED_A],
                                            .b = b[GROUPED_B],
                                            .a_scales = b[GROUPED_A_SCALES],
                                            .b_scales = b[GROUPED_B_SCALES],
                                            .c = b[GROUPED_C],
                                            .extents = b[GROUPED_EXTENTS],
                                            .groups = w->lengths.groups,
                                            .m = w->lengths.m,
                                            .n = w->lengths.n,
                                            .k = w->lengths.k,
                                            .keep_padding = w->lengths.layout == GROUPED_PADDED};
    if (cdnagen_launch_gemm_grouped(kernel, &args, NULL) || cdnagen_synchronize(ctx, NULL))
        fail_msg("%s", cdnagen_error());
}

/* Pages of a large C without a place of a group have never been touched. Before anybody looks at C. */
static void check_pages(const work *w) {
    enum { LARGE = 1 << 30 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = w->size[GROUPED_C], count = size / page;
    char *const c = w->device[GROUPED_C];
    if (size < LARGE) return;
    unsigned char *const is_there = malloc(count);
    assert_non_null(is_there);
    assert_int_equal((uintptr_t)c % page, 0);
    assert_int_equal(mincore(c, count * page, is_there), 0);
    for (int64_t g = 0; g < w->lengths.groups; g++) {
        const grouped_part *const p = &w->parts[g];
        for (int64_t row = p->c_row; is_live(p) && row < p->c_row + p->rows; row++) {
            const size_t begin = (size_t)(row * w->lengths.n + p->c_column) * 2, end = begin + (size_t)p->columns * 2;
            for (size_t i = begin / page; i <= (end - 1) / page && i < count; i++) is_there[i] = 0;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (is_there[i] & 1) fail_msg("byte %zu of C, or one of the %zu after it, was written", i * page, page);
    free(is_there);
}

/* What a group owns is right to the bit; columns about it, and the places 2 and 4 GiB before, are as they were. */
static void check_part(const work *w, const grouped_part *p, double *sum) {
    static const size_t wraps[] = {(size_t)1 << 31, (size_t)1 << 32};
    const uint16_t *const c = w->device[GROUPED_C];
    const int64_t n = w->lengths.n, from = p->c_column < AROUND ? 0 : p->c_column - AROUND;
    const int64_t to = p->c_column + p->columns + AROUND > n ? n : p->c_column + p->columns + AROUND;
    for (int64_t row = p->c_row; row < p->c_row + p->rows; row++)
        for (int64_t column = from; column < to; column++) {
            const int64_t at = row * n + column;
            const uint16_t right = w->reference[at] == 0 ? 0 : gemm_out_bits(GEMM_BF16, w->reference[at]);
            *sum += fabs((double)w->reference[at]);
            if ((uint16_t)(c[at] << 1) != (uint16_t)(right << 1) || (right && c[at] != right))
                fail_msg("[%lld, %lld] is 0x%04x, not 0x%04x", (long long)row, (long long)column, c[at], right);
            for (size_t i = 0; i < COUNT(wraps); i++)
                if ((size_t)at * 2 >= wraps[i] && w->reference[at - (int64_t)(wraps[i] / 2)] == 0 &&
                    (c[at - (int64_t)(wraps[i] / 2)] & 0x7fff))
                    fail_msg("[%lld, %lld] was written %zu bytes too low", (long long)row, (long long)column, wraps[i]);
        }
}

static int is_full;

/* Without --full each on one chip, one after the other in turn. */
static int is_run_on(size_t row, int which) { return is_full || row % CHIP_COUNT == (size_t)which; }

static void a_case(void **state) {
    const wide_case *const c = *state;
    for (int which = 0; which < CHIP_COUNT; which++) {
        if (!is_run_on((size_t)(c - cases), which)) continue;
        const kernel_row k = runs_row(which, c->tag);
        plan p;
        cdnagen *const ctx = runs_on(k.chip, "threads=2");
        cdnagen_kernel *const kernel = runs_kernel(ctx, &k, c->words, &p);
        work w = make(ctx, &p, c);
        double sum = 0;
        size_t largest = 0;
        for (int i = 0; i < GROUPED_WORKSPACE; i++) largest = w.size[i] > largest ? w.size[i] : largest;
        assert_true(largest > (size_t)1 << 32);
        launch_case(kernel, ctx, &w);
        check_pages(&w);
        for (int64_t g = 0; g < w.lengths.groups; g++)
            if (is_live(&w.parts[g])) check_part(&w, &w.parts[g], &sum);
        assert_true(sum > 1);
        let_go(ctx, &w);
        cdnagen_free_kernel(kernel);
    }
}

/* ---- groups ---- */

/* Groups that a wave's scan takes in 64 rounds, and more of them than rows, columns or K have for all. */
static const char *const many[] = {
    "layout=sizes groups=4096 m=700 n=64 k=128",
    "layout=padded groups=4096 m=3 n=8 k=16",
    "layout=batched groups=4096 m=2 n=8 k=16 data=coherent",
    "layout=offsets groups=4096 m=12000 n=8 k=16 data=coherent",
    "layout=n_offsets groups=4096 m=3 n=65536 k=16 data=coherent",
    "layout=k_offsets groups=4096 m=3 n=8 k=131072 data=coherent",
};

static void many_groups(void **state) {
    const char *const *const words = *state;
    for (int which = 0; which < CHIP_COUNT; which++) {
        const kernel_row k = runs_row(which, "t16x64x128");
        if (is_run_on((size_t)(words - many), which)) runs_graded(&k, *words, "threads=2", 1);
    }
}

int main(int argc, char **argv) {
    is_full = argc > 1 && !strcmp(argv[1], "--full");
    if (argc > 1 && !is_full) {
        fprintf(stderr, "usage: %s [--full]\n", argv[0]);
        return 2;
    }
    struct CMUnitTest tests[COUNT(cases) + COUNT(many)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (is_full || !cases[i].is_long)
            tests[count++] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
    for (size_t i = 0; i < COUNT(many); i++)
        tests[count++] = (struct CMUnitTest){many[i], many_groups, NULL, NULL, (void *)(uintptr_t)&many[i]};
    runs_open();
    const int failed = _cmocka_run_group_tests("gemm_grouped beyond 32 bits", tests, count, NULL, NULL);
    runs_close();
    return failed != 0;
}
