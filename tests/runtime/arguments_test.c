/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What every operator's plan says of its arguments against the note of the code object that the real compiler made:
 * where the note says otherwise, in any of them, the object is refused before anything could be loaded or launched. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <string.h>

#include "cache/cache.h"
#include "core/memory.h"
#include "runtime/inspect.h"
#include "runtime/kernel.h"
#include "tests/runtime/scratch.h"

static const struct {
    const char *tag, *shape;
} kernels[] = {
    {"mqa_logits:mfma16x16x32_bkv32_hfma", "heads=16 dim=32"},
    {"gemm_blockscale:mfma16x16x32_t16x128x128_4w", ""},
    {"gemm_grouped:mfma16x16x32_t16x64x128", "layout=offsets"},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, DAMAGED_MAX = 1 << 16 };

static char warning[1024];
static void keep_warning(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    if (level == CDNAGEN_LOG_WARNING) snprintf(warning, sizeof warning, "%s", line);
}

static cdnagen *context(const char *dir, const char *target_id, int cache_only) {
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "none",
                                     .target = target_id,
                                     .cache_dir = dir,
                                     .cache_only = cache_only,
                                     .log = keep_warning};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

/* The note is MessagePack: a key's text is followed by its value. The index-th value of the key; NULL: there are no
 * more. */
static unsigned char *value_of(unsigned char *object, size_t size, const char *key, size_t index) {
    char word[64];
    const int length = snprintf(word, sizeof word, "%c%s", (char)(0xa0 + strlen(key)), key);
    for (unsigned char *at = object; (at = memmem(at, size - (size_t)(at - object), word, (size_t)length)); index--) {
        at += length;
        if (!index) return at;
    }
    return NULL;
}

/* A number is itself below 128, else follows a byte that says its width; the last byte is its low one. */
static unsigned char *low_byte(unsigned char *number) {
    return number + (*number < 0x80 ? 0 : *number == 0xcc ? 1 : *number == 0xcd ? 2 : 4);
}

static void refuse(const plan *p, const unsigned char *object, size_t size, const char *what, size_t index) {
    resources r;
    const cdnagen_status s = inspect(p, object, size, &r);
    if (s != CDNAGEN_BAD_OBJECT) fail_msg("%s: argument %zu with another %s: %d", p->symbol, index, what, s);
    if (!strstr(cdnagen_error(), "the plan says") && !strstr(cdnagen_error(), "outside its argument segment"))
        fail_msg("%s: argument %zu with another %s: %s", p->symbol, index, what, cdnagen_error());
}

static void each_argument_is_compared(void **state) {
    (void)state;
    static unsigned char object[DAMAGED_MAX];
    for (int i = 0; i < 2 * KERNELS; i++) {
        cdnagen *const ctx = context("", chips[i % 2].name, 0);
        cdnagen_kernel *kernel = NULL;
        resources r;
        if (gen_kernel(ctx, kernels[i / 2].tag, kernels[i / 2].shape, &kernel)) fail_msg("%s", cdnagen_error());
        const plan *const p = &kernel->prepared->plan;
        const size_t size = cache_blob_size(kernel->prepared->loaded->blob);
        assert_true(size <= sizeof object);
        memcpy(object, cache_blob_data(kernel->prepared->loaded->blob), size);
        assert_int_equal(inspect(p, object, size, &r), CDNAGEN_OK);
        assert_true(p->kernarg_count >= 10);
        for (size_t a = 0; a < p->kernarg_count; a++) {
            static const char *const keys[] = {".offset", ".size", ".value_kind", ".name"};
            for (int k = 0; k < 4; k++) {
                unsigned char *const value = value_of(object, size, keys[k], a);
                assert_non_null(value);
                unsigned char *const byte = k < 2 ? low_byte(value) : value + 1; /* a word's first letter */
                const unsigned char was = *byte;
                *byte ^= k < 2 ? 4 : 1;
                refuse(p, object, size, keys[k], a);
                *byte = was;
            }
        }
        unsigned char *const total = low_byte(value_of(object, size, ".kernarg_segment_size", 0));
        *total = (unsigned char)(*total - 8);
        refuse(p, object, size, "size of them all", 0);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
    }
}

/* Under its key and with a right checksum, as a writer of another mind would leave it. */
static void a_damaged_note_in_the_cache_is_never_launched(void **state) {
    (void)state;
    static unsigned char object[DAMAGED_MAX];
    for (int i = 0; i < KERNELS; i++) {
        const char *const dir = scratch_make();
        cdnagen *ctx = context("", "gfx950", 0);
        cdnagen_kernel *kernel = NULL;
        cdnagen_kernel_info info = {.size = sizeof info};
        assert_int_equal(gen_kernel(ctx, kernels[i].tag, kernels[i].shape, &kernel), CDNAGEN_OK);
        assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
        memcpy(object, info.object, info.object_bytes);
        *low_byte(value_of(object, info.object_bytes, ".offset", 1)) ^= 4;

        const cache_options options = {.roots = dir};
        cache *c = NULL;
        assert_int_equal(cache_open(&options, &c), CDNAGEN_OK);
        cache_blob_release(cache_put(c, info.key_text, object, info.object_bytes));
        cache_close(c);

        cdnagen *const reader = context(dir, "gfx950", 1), *const writer = context(dir, "gfx950", 0);
        cdnagen_kernel *again = NULL;
        warning[0] = 0;
        assert_int_equal(gen_kernel(reader, kernels[i].tag, kernels[i].shape, &again), CDNAGEN_CACHE_MISS);
        if (!strstr(warning, "a cached object is not used") || !strstr(warning, "the plan says"))
            fail_msg("%s: the warning is \"%s\"", kernels[i].tag, warning);
        assert_null(again);
        assert_int_equal(gen_kernel(writer, kernels[i].tag, kernels[i].shape, &again), CDNAGEN_OK);
        cdnagen_kernel_info fresh = {.size = sizeof fresh};
        assert_int_equal(cdnagen_get_kernel_info(again, &fresh), CDNAGEN_OK);
        assert_int_equal(fresh.cache_tier, CDNAGEN_TIER_NONE);
        assert_int_equal(fresh.object_bytes, info.object_bytes);
        assert_memory_equal(fresh.object, info.object, info.object_bytes);
        cdnagen_free_kernel(again);
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(reader);
        cdnagen_free_context(writer);
        cdnagen_free_context(ctx);
        scratch_remove();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_argument_is_compared),
        cmocka_unit_test(a_damaged_note_in_the_cache_is_never_launched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
