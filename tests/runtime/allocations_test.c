/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every exported function with each of its allocations failing in turn, on the real compiler and simulator: it says
 * that memory ran out, or does without it, loses nothing, and works when it is called again. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"
#include "core/memory.h"
#include "tests/runtime/scratch.h"

enum { ROWS = 16, GROUPS = 2, N = 128, K = 128, HEADS = 16, DIM = 32, BUFFER_BYTES = 1 << 16, TRIALS_MAX = 4000 };

static const char *folder;   /* of the cache: what is launched was compiled before */
static cdnagen *owner;       /* of the operands */
static void *input, *output; /* device memory; zeros are what every operator takes */

/* trial: what a call starts from and what it made. */
typedef struct trial {
    cdnagen *ctx, *made_ctx;
    cdnagen_kernel *kernel, *made;
    void *memory;
} trial;

typedef enum caching {
    WARM, /* a directory that has what was asked for before */
    COLD, /* a directory of this trial's own */
    NONE
} caching;

typedef struct call {
    const char *name; /* of the function; several rows of one are several ways through it */
    cdnagen_status (*run)(trial *t);
    const char *tag, *shape; /* of a kernel that is there before; NULL: none is */
    caching caching;
} call;

static cdnagen *context(caching c) {
    static int trials;
    char directory[128];
    snprintf(directory, sizeof directory, "%s/%d", folder, c == COLD ? ++trials : 0);
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "sim",
                                     .target = "gfx950",
                                     .sim_mode = "late check=all threads=1",
                                     .cache_dir = directory,
                                     .no_cache = c == NONE};
    cdnagen *ctx = NULL;
    if (cdnagen_create_context(&options, &ctx)) fail_msg("%s", cdnagen_error());
    return ctx;
}

/* ---- kernels ---- */

static const char mqa_tag[] = "mqa_logits:mfma16x16x128_bkv16_hfma", mqa_shape[] = "heads=16 dim=32";
static const char gemm_tag[] = "gemm_blockscale:mfma16x16x128_t16x128x128_4w", gemm_shape[] = "";
static const char grouped_tag[] = "gemm_grouped:mfma16x16x128_t16x64x128", grouped_shape[] = "";

static cdnagen_status generate(trial *t) { return gen_kernel(t->ctx, mqa_tag, mqa_shape, &t->made); }
static cdnagen_status generate_routed(trial *t) {
    return gen_kernel(t->ctx, "gemm_grouped:auto", "groups=2 m=16 n=128 k=128", &t->made);
}
static cdnagen_status prepare(trial *t) { return cdnagen_prepare(t->ctx, mqa_tag, mqa_shape); }
static cdnagen_status supports(trial *t) {
    (void)t;
    return cdnagen_supports("gemm_blockscale:auto", "m=16 n=128 k=128", "gfx950");
}
static cdnagen_status generate_mqa(trial *t) {
    const cdnagen_mqa_logits_shape shape = {.size = sizeof shape, .heads = HEADS, .dim = DIM, .clean = 1};
    return cdnagen_gen_mqa_logits(t->ctx, mqa_tag, &shape, &t->made);
}
static cdnagen_status generate_gemm(trial *t) {
    const cdnagen_gemm_blockscale_shape shape = {.size = sizeof shape};
    return cdnagen_gen_gemm_blockscale(t->ctx, gemm_tag, &shape, &t->made);
}
static cdnagen_status generate_grouped(trial *t) {
    const cdnagen_gemm_grouped_shape shape = {.size = sizeof shape};
    return cdnagen_gen_gemm_grouped(t->ctx, grouped_tag, &shape, &t->made);
}
static cdnagen_status info(trial *t) {
    cdnagen_kernel_info i = {.size = sizeof i};
    return cdnagen_get_kernel_info(t->kernel, &i);
}
static cdnagen_status words_of(trial *t, cdnagen_text which) {
    const char *words;
    return cdnagen_get_kernel_text(t->kernel, which, &words);
}
static cdnagen_status ir_text(trial *t) { return words_of(t, CDNAGEN_TEXT_IR); }
static cdnagen_status isa_text(trial *t) { return words_of(t, CDNAGEN_TEXT_ISA); }
static cdnagen_status free_kernel(trial *t) {
    cdnagen_free_kernel(t->kernel);
    t->kernel = NULL;
    return CDNAGEN_OK;
}

/* ---- contexts and device memory ---- */

static cdnagen_status create_context(trial *t) {
    const cdnagen_options options = {.size = sizeof options, .device = "sim", .target = "gfx950", .cache_dir = folder};
    return cdnagen_create_context(&options, &t->made_ctx);
}
static cdnagen_status free_context(trial *t) {
    cdnagen_free_context(t->ctx);
    t->ctx = NULL;
    return CDNAGEN_OK;
}
static cdnagen_status shut_down(trial *t) {
    (void)t;
    const cdnagen_status s = cdnagen_device_name(NULL, &(const char *){NULL});
    cdnagen_shutdown();
    return s;
}
static cdnagen_status device_name(trial *t) { return cdnagen_device_name(t->ctx, &(const char *){NULL}); }
static cdnagen_status status_name(trial *t) {
    (void)t;
    return strcmp(cdnagen_status_name(CDNAGEN_NO_MEMORY), "CDNAGEN_NO_MEMORY") ? CDNAGEN_FAULT : CDNAGEN_OK;
}
static cdnagen_status error(trial *t) {
    (void)t;
    return cdnagen_error() ? CDNAGEN_OK : CDNAGEN_FAULT;
}
static cdnagen_status version(trial *t) {
    (void)t;
    return *cdnagen_version() ? CDNAGEN_OK : CDNAGEN_FAULT;
}
static cdnagen_status allocate(trial *t) { return cdnagen_alloc(t->ctx, 100, &t->memory); }
static cdnagen_status free_memory(trial *t) {
    void *fresh;
    const cdnagen_status s = cdnagen_alloc(t->ctx, 100, &fresh);
    return s ? s : cdnagen_free_memory(t->ctx, fresh);
}
static cdnagen_status to_device(trial *t) {
    static const char zeros[16];
    return cdnagen_copy_to_device(t->ctx, input, zeros, sizeof zeros);
}
static cdnagen_status to_host(trial *t) {
    char back[16];
    return cdnagen_copy_to_host(t->ctx, back, output, sizeof back);
}
static cdnagen_status synchronize(trial *t) { return cdnagen_synchronize(t->ctx, NULL); }

/* ---- launches: a kernel that is stopped says so at the next synchronisation ---- */

static cdnagen_status finish(trial *t, cdnagen_status launched) {
    const cdnagen_status ended = cdnagen_synchronize(t->ctx, NULL);
    return launched ? launched : ended;
}

#define IN {input, BUFFER_BYTES}
#define OUT {output, BUFFER_BYTES}

static cdnagen_status launch_mqa(trial *t) {
    const cdnagen_mqa_logits_args args = {.size = sizeof args,
                                          .q = IN,
                                          .kv = IN,
                                          .kv_scales = IN,
                                          .weights = IN,
                                          .cu_starts = IN,
                                          .cu_ends = IN,
                                          .logits = OUT,
                                          .seq = 2,
                                          .seq_kv = ROWS};
    return finish(t, cdnagen_launch_mqa_logits(t->kernel, &args, NULL));
}
static cdnagen_status launch_gemm(trial *t) {
    const cdnagen_gemm_blockscale_args args = {
        .size = sizeof args, .a = IN, .b = IN, .a_scales = IN, .b_scales = IN, .c = OUT, .m = ROWS, .n = N, .k = K};
    return finish(t, cdnagen_launch_gemm_blockscale(t->kernel, &args, NULL));
}
static cdnagen_status launch_grouped(trial *t) {
    const cdnagen_gemm_grouped_args args = {.size = sizeof args,
                                            .a = IN,
                                            .b = IN,
                                            .a_scales = IN,
                                            .b_scales = IN,
                                            .c = OUT,
                                            .extents = IN,
                                            .groups = GROUPS,
                                            .m = ROWS,
                                            .n = N,
                                            .k = K};
    return finish(t, cdnagen_launch_gemm_grouped(t->kernel, &args, NULL));
}
static cdnagen_status gemm_workspace(trial *t) {
    return cdnagen_gemm_blockscale_workspace(t->kernel, ROWS, N, &(size_t){0});
}
static cdnagen_status grouped_workspace(trial *t) {
    return cdnagen_gemm_grouped_workspace(t->kernel, GROUPS, ROWS, N, &(size_t){0});
}
static cdnagen_status pack_b(trial *t) {
    (void)t;
    static unsigned char rows[16 * 32], packed[16 * 32];
    return cdnagen_pack_b(rows, 0, 16, 32, packed);
}

/* ---- forms: of m, n and k alike but for the number of dimensions ---- */

#define TENSOR(place, what, dimensions, ...)                                                                           \
    &(const cdnagen_tensor){.ptr = place, .type = CDNAGEN_TYPE_##what, .rank = dimensions, .size = {__VA_ARGS__}}
#define XQ TENSOR(input, E4M3FN, 2, ROWS, K)
#define XQ_SLABS TENSOR(input, E4M3FN, 3, GROUPS, ROWS, K)
#define WQ TENSOR(input, E4M3FN, 3, GROUPS, N, K)
#define X_SCALE TENSOR(input, F32, 1, ROWS)
#define X_SCALE_SLABS TENSOR(input, F32, 2, GROUPS, ROWS)
#define W_SCALE TENSOR(input, F32, 2, GROUPS, N)
#define W_SCALE_BLOCKS TENSOR(input, F32, 3, GROUPS, K / 128, N / 128)
#define SIZES TENSOR(input, I64, 1, GROUPS)
#define OFFSETS TENSOR(input, I32, 1, GROUPS)
#define RESULT TENSOR(output, BF16, 2, ROWS, N)
#define RESULT_SLABS TENSOR(output, BF16, 3, GROUPS, ROWS, N)

static cdnagen_status output_of(trial *t) {
    (void)t;
    return cdnagen_grouped_output(CDNAGEN_GROUPED_STACKED, XQ, WQ, SIZES, &(cdnagen_tensor){0});
}
static cdnagen_status stacked(trial *t) {
    return finish(t, cdnagen_rowwise_grouped_stacked(t->ctx, XQ, WQ, X_SCALE, W_SCALE, SIZES, RESULT, NULL));
}
static cdnagen_status stacked_preshuffle(trial *t) {
    return finish(t, cdnagen_rowwise_grouped_stacked_preshuffle(t->ctx, XQ, WQ, X_SCALE, W_SCALE, SIZES, RESULT, NULL));
}
static cdnagen_status dynamic(trial *t) {
    return finish(
        t, cdnagen_rowwise_grouped_dynamic(t->ctx, XQ_SLABS, WQ, X_SCALE_SLABS, W_SCALE, SIZES, 1, RESULT_SLABS, NULL));
}
static cdnagen_status dynamic_preshuffle(trial *t) {
    return finish(t, cdnagen_rowwise_grouped_dynamic_preshuffle(t->ctx, XQ_SLABS, WQ, X_SCALE_SLABS, W_SCALE, SIZES, 1,
                                                                RESULT_SLABS, NULL));
}
static cdnagen_status mm(trial *t) {
    return finish(t, cdnagen_rowwise_grouped_mm(t->ctx, XQ, WQ, X_SCALE, W_SCALE, OFFSETS, RESULT, NULL));
}
static cdnagen_status mm_preshuffle(trial *t) {
    return finish(t, cdnagen_rowwise_grouped_mm_preshuffle(t->ctx, XQ_SLABS, WQ, X_SCALE_SLABS, W_SCALE, NULL,
                                                           RESULT_SLABS, NULL));
}
static cdnagen_status groupwise(trial *t) {
    return finish(t, cdnagen_groupwise_grouped(t->ctx, XQ, WQ, X_SCALE, W_SCALE_BLOCKS, SIZES, RESULT, NULL));
}
static cdnagen_status groupwise_preshuffle(trial *t) {
    return finish(t,
                  cdnagen_groupwise_grouped_preshuffle(t->ctx, XQ, WQ, X_SCALE, W_SCALE_BLOCKS, SIZES, RESULT, NULL));
}

static const call calls[] = {
    {"cdnagen_status_name", status_name, NULL, NULL, WARM},
    {"cdnagen_error", error, NULL, NULL, WARM},
    {"cdnagen_version", version, NULL, NULL, WARM},
    {"gen_kernel", generate, NULL, NULL, NONE},
    {"gen_kernel", generate, NULL, NULL, COLD},
    {"gen_kernel", generate, NULL, NULL, WARM},
    {"gen_kernel", generate_routed, NULL, NULL, WARM},
    {"cdnagen_prepare", prepare, NULL, NULL, WARM},
    {"cdnagen_supports", supports, NULL, NULL, WARM},
    {"cdnagen_free_kernel", free_kernel, mqa_tag, mqa_shape, WARM},
    {"cdnagen_create_context", create_context, NULL, NULL, WARM},
    {"cdnagen_free_context", free_context, NULL, NULL, WARM},
    {"cdnagen_shutdown", shut_down, NULL, NULL, WARM},
    {"cdnagen_device_name", device_name, NULL, NULL, WARM},
    {"cdnagen_gen_mqa_logits", generate_mqa, NULL, NULL, WARM},
    {"cdnagen_launch_mqa_logits", launch_mqa, mqa_tag, mqa_shape, WARM},
    {"cdnagen_gen_gemm_blockscale", generate_gemm, NULL, NULL, WARM},
    {"cdnagen_launch_gemm_blockscale", launch_gemm, gemm_tag, gemm_shape, WARM},
    {"cdnagen_gemm_blockscale_workspace", gemm_workspace, gemm_tag, gemm_shape, WARM},
    {"cdnagen_pack_b", pack_b, NULL, NULL, WARM},
    {"cdnagen_gen_gemm_grouped", generate_grouped, NULL, NULL, WARM},
    {"cdnagen_launch_gemm_grouped", launch_grouped, grouped_tag, grouped_shape, WARM},
    {"cdnagen_gemm_grouped_workspace", grouped_workspace, grouped_tag, grouped_shape, WARM},
    {"cdnagen_grouped_output", output_of, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_stacked", stacked, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_stacked_preshuffle", stacked_preshuffle, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_dynamic", dynamic, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_dynamic_preshuffle", dynamic_preshuffle, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_mm", mm, NULL, NULL, WARM},
    {"cdnagen_rowwise_grouped_mm_preshuffle", mm_preshuffle, NULL, NULL, WARM},
    {"cdnagen_groupwise_grouped", groupwise, NULL, NULL, WARM},
    {"cdnagen_groupwise_grouped_preshuffle", groupwise_preshuffle, NULL, NULL, WARM},
    {"cdnagen_alloc", allocate, NULL, NULL, WARM},
    {"cdnagen_free_memory", free_memory, NULL, NULL, WARM},
    {"cdnagen_copy_to_device", to_device, NULL, NULL, WARM},
    {"cdnagen_copy_to_host", to_host, NULL, NULL, WARM},
    {"cdnagen_synchronize", synchronize, NULL, NULL, WARM},
    {"cdnagen_get_kernel_info", info, mqa_tag, mqa_shape, WARM},
    {"cdnagen_get_kernel_text", ir_text, mqa_tag, mqa_shape, WARM},
    {"cdnagen_get_kernel_text", isa_text, mqa_tag, mqa_shape, WARM},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- trials ---- */

/* Whether the n-th allocation was asked for, and so failed, before this. */
static int has_failed(long n) {
    for (long i = 0; i < n; i++) {
        void *const p = mem_alloc(1);
        if (!p) return 0;
        mem_free(p);
    }
    return 1;
}

/* What a simulated device says of the host's memory comes as HIP's error, or as a kernel's that was stopped. */
static int says_memory(cdnagen_status s) {
    if (s == CDNAGEN_NO_MEMORY) return 1;
    return (s == CDNAGEN_HIP || s == CDNAGEN_FAULT) && strstr(cdnagen_error(), "emory") != NULL;
}

/* The call with its n-th allocation failing and, on what that left, once more; 0 where it makes no n. */
static int attempt(const call *c, long n) {
    trial t = {.ctx = context(c->caching)};
    if (c->tag && gen_kernel(t.ctx, c->tag, c->shape, &t.kernel)) fail_msg("%s: %s", c->name, cdnagen_error());
    mem_fail_at(n);
    const cdnagen_status s = c->run(&t);
    const int failed = has_failed(n);
    mem_fail_at(0);
    if (s && (!failed || !says_memory(s))) fail_msg("%s, allocation %ld: %d, %s", c->name, n, s, cdnagen_error());
    if (s && (t.made || t.made_ctx || t.memory)) fail_msg("%s, allocation %ld: its out-parameter changed", c->name, n);
    if (s && c->run(&t)) fail_msg("%s after allocation %ld had failed: %s", c->name, n, cdnagen_error());
    cdnagen_free_memory(t.ctx ? t.ctx : owner, t.memory);
    cdnagen_free_kernel(t.made);
    cdnagen_free_kernel(t.kernel);
    cdnagen_free_context(t.made_ctx);
    cdnagen_free_context(t.ctx);
    return failed;
}

static void every_call_survives_every_failed_allocation(void **state) {
    (void)state;
    for (const call *c = calls; c < calls + CALLS; c++) {
        attempt(c, TRIALS_MAX); /* what stays for the life of the process is there from now on */
        const long live = mem_live();
        long n = 1;
        while (attempt(c, n)) {
            if (mem_live() != live) fail_msg("%s, allocation %ld: %ld are lost", c->name, n, mem_live() - live);
            if (++n == TRIALS_MAX) fail_msg("%s makes %d allocations", c->name, TRIALS_MAX);
        }
        print_message("%-44s %4ld allocations\n", c->name, n - 1);
    }
}

/* The context and device that calls without one share, and the simulator's first opening. Run first. */
static void the_default_context_survives_every_failed_allocation(void **state) {
    (void)state;
    const char *name;
    for (long n = 1;; n++) {
        mem_fail_at(n);
        const cdnagen_status s = cdnagen_device_name(NULL, &name);
        const int failed = has_failed(n);
        mem_fail_at(0);
        if (!s) break;
        assert_true(failed);
        if (!says_memory(s)) fail_msg("allocation %ld: %d, %s", n, s, cdnagen_error());
    }
    assert_string_equal(name, "simulator (gfx950)");
}

static void every_exported_function_is_called(void **state) {
    (void)state;
    FILE *const f = fopen(ABI_FILE, "r");
    char line[256], name[128];
    int functions = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "function %127s", name) != 1) continue;
        int rows = 0;
        for (int i = 0; i < CALLS; i++) rows += !strcmp(calls[i].name, name);
        if (!rows) fail_msg("%s is exported and not called here", name);
        functions++;
    }
    fclose(f);
    assert_true(functions >= 34);
}

static int open_all(void **state) {
    (void)state;
    folder = scratch_make();
    setenv("CDNAGEN_DEVICE", "sim", 1);
    setenv("CDNAGEN_TARGET", "gfx950", 1);
    setenv("CDNAGEN_CACHE_DIR", folder, 1);
    return !folder;
}

static int open_operands(void **state) {
    (void)state;
    static const char zeros[BUFFER_BYTES];
    owner = context(WARM);
    assert_int_equal(cdnagen_alloc(owner, BUFFER_BYTES, &input), CDNAGEN_OK);
    assert_int_equal(cdnagen_alloc(owner, BUFFER_BYTES, &output), CDNAGEN_OK);
    assert_int_equal(cdnagen_copy_to_device(owner, input, zeros, BUFFER_BYTES), CDNAGEN_OK);
    return cdnagen_copy_to_device(owner, output, zeros, BUFFER_BYTES);
}

static int close_all(void **state) {
    (void)state;
    cdnagen_free_memory(owner, input);
    cdnagen_free_memory(owner, output);
    cdnagen_free_context(owner);
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exported_function_is_called),
        cmocka_unit_test(the_default_context_survives_every_failed_allocation),
        cmocka_unit_test_setup(every_call_survives_every_failed_allocation, open_operands),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
