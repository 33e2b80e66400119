/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen_kernel and the cache: tiers, directories, damage, one compile a key, the time of a hit. */
#include "tests/runtime/pipeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/cache.h"
#include "core/clock.h"

static void tiers_memory_then_disk(void **state) {
    (void)state;
    const char *dir = scratch_make();
    cdnagen *ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_MEMORY);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, "dim=128 heads=64"), CDNAGEN_TIER_MEMORY);
    cdnagen_free_context(ctx);
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_DISK);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_MEMORY);
    cdnagen_free_context(ctx);
    assert_int_equal(fake.linked, 1);
    scratch_remove();
}

static void cache_directory_is_the_option_then_the_environment(void **state) {
    (void)state;
    static const struct row {
        int option; /* 0: NULL, 1: "", 2: the directory */
        int variable;
        unsigned entries;
    } rows[] = {{0, 1, 1}, {1, 1, 0}, {2, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline_clean(NULL);
        const char *dir = scratch_make();
        if (rows[i].variable) setenv("CDNAGEN_CACHE_DIR", dir, 1);
        cdnagen *ctx = pipeline_context(rows[i].option == 2 ? dir
                                        : rows[i].option    ? ""
                                                            : NULL,
                                        0, CDNAGEN_SPILLS_ALLOW);
        unsetenv("CDNAGEN_CACHE_DIR"); /* read once, at creation */
        assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
        cdnagen_free_context(ctx);
        cache_census census;
        assert_int_equal(cache_walk(dir, NULL, &census), CDNAGEN_OK);
        assert_int_equal(census.entries, rows[i].entries);
        scratch_remove();
    }
}

static void no_log(void *user, cdnagen_log_level level, const char *line) { (void)user, (void)level, (void)line; }

static void limit_and_trust_are_the_option_then_the_environment(void **state) {
    (void)state;
    static const struct row {
        unsigned mode; /* of the directory */
        size_t disk_bytes;
        int trust_all;
        const char *variable, *value;
        unsigned entries;
    } rows[] = {
        {0700, 0, 0, NULL, NULL, 1},
        {0700, 100, 0, NULL, NULL, 0},
        {0700, 0, 0, "CDNAGEN_CACHE_BYTES", "100", 0},
        {0700, 1 << 20, 0, "CDNAGEN_CACHE_BYTES", "100", 1},
        {0700, 0, 0, "CDNAGEN_CACHE_BYTES", "1M", 1},
        {0777, 0, 0, NULL, NULL, 0},
        {0777, 0, 1, NULL, NULL, 1},
        {0777, 0, 0, "CDNAGEN_CACHE_TRUST", "all", 1},
        {0777, 0, 0, "CDNAGEN_CACHE_TRUST", "own", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline_clean(NULL);
        const char *dir = scratch_make();
        assert_int_equal(chmod(dir, rows[i].mode), 0);
        const cdnagen_options options = {.size = sizeof options,
                                         .device = "none",
                                         .target = "gfx950",
                                         .cache_dir = dir,
                                         .log = no_log,
                                         .disk_bytes = rows[i].disk_bytes,
                                         .trust_all = rows[i].trust_all};
        cdnagen *ctx = NULL;
        if (rows[i].variable) setenv(rows[i].variable, rows[i].value, 1);
        assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
        if (rows[i].variable) unsetenv(rows[i].variable); /* read once, at creation */
        assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
        assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_MEMORY);
        cdnagen_free_context(ctx);
        cache_census census;
        assert_int_equal(cache_walk(dir, NULL, &census), CDNAGEN_OK);
        assert_int_equal(census.entries, rows[i].entries);
        scratch_remove();
    }
}

/* A read-only image, a full disk, a file where the directory should be: the kernel comes all the same. */
static void a_cache_that_cannot_be_written_costs_a_warning(void **state) {
    (void)state;
    cdnagen *ctx = pipeline_context("/dev/null/cache", 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_MEMORY);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, "heads=32 dim=128"), CDNAGEN_TIER_NONE);
    assert_int_equal(pipeline_warnings, 1);
    cdnagen_free_context(ctx);
}

static void no_cache_compiles_each_time(void **state) {
    (void)state;
    const char *dir = scratch_make();
    cdnagen *ctx = pipeline_context(dir, 1, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    setenv("CDNAGEN_CACHE", "off", 1);
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    unsetenv("CDNAGEN_CACHE");
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    assert_int_equal(fake.linked, 4);
    scratch_remove();
}

static void cache_only_refuses_a_miss_and_names_it(void **state) {
    (void)state;
    const char *dir = scratch_make();
    setenv("CDNAGEN_CACHE_ONLY", "1", 1);
    cdnagen *ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel = NULL;
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_CACHE_MISS);
    assert_error_says("tag mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma");
    assert_error_says("target gfx950");
    assert_int_equal(fake.emitted, 0);
    cdnagen_free_context(ctx);
    unsetenv("CDNAGEN_CACHE_ONLY");
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    setenv("CDNAGEN_CACHE_ONLY", "1", 1);
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_DISK);
    cdnagen_free_context(ctx);
    scratch_remove();
}

/* A framework's own store, which keeps what it is told under the key. */
typedef struct shelf {
    char key[65];
    unsigned char kept[1 << 16];
    size_t size;
} shelf;

static int take(void *user, const char *key, void (*accept)(void *to, const void *data, size_t size), void *to) {
    const shelf *s = user;
    if (strcmp(s->key, key) != 0) return 0;
    accept(to, s->kept, s->size);
    return 1;
}

static void give(void *user, const char *key, const void *data, size_t size) {
    shelf *s = user;
    assert_true(size <= sizeof s->kept);
    strcpy(s->key, key);
    memcpy(s->kept, data, size);
    s->size = size;
}

static void a_store_of_the_callers_serves_other_contexts(void **state) {
    (void)state;
    shelf s = {.key = ""};
    const cdnagen_options options = {.size = sizeof options,
                                     .target = "gfx950",
                                     .device = "none",
                                     .cache_dir = "",
                                     .store_get = take,
                                     .store_put = give,
                                     .store_user = &s};
    cdnagen_options only = options;
    only.cache_only = 1;
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    assert_int_equal(cdnagen_create_context(&only, &ctx), CDNAGEN_OK);
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_CACHE_MISS);
    cdnagen_free_context(ctx);
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    cdnagen_free_context(ctx);
    assert_int_equal(cdnagen_create_context(&only, &ctx), CDNAGEN_OK);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_STORE);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_MEMORY);
    cdnagen_free_context(ctx);
    assert_int_equal(fake.linked, 1);
}

static void a_damaged_entry_is_compiled_again(void **state) {
    (void)state;
    for (scratch_wound wound = FLIP_A_BIT; wound <= EMPTY; wound++) {
        pipeline_clean(NULL);
        const char *dir = scratch_make();
        for (int round = 0; round < 3; round++) {
            cdnagen *ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
            assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape),
                             round == 2 ? CDNAGEN_TIER_DISK : CDNAGEN_TIER_NONE);
            cdnagen_free_context(ctx);
            if (round == 0) assert_int_equal(scratch_damage(wound), 1);
        }
        assert_int_equal(fake.linked, 2);
        scratch_remove();
    }
}

/* Sound bytes under the right key that are not the kernel: another generator, or a hand in the cache directory. */
static void a_cached_object_of_another_kernel_is_compiled_again(void **state) {
    (void)state;
    const char *dir = scratch_make();
    cdnagen *ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info = {.size = sizeof info};
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
    cache *c;
    const cache_options options = {.roots = dir};
    assert_int_equal(cache_open(&options, &c), CDNAGEN_OK);
    cache_blob_release(cache_put(c, info.key_text, "not a code object", 17));
    cache_close(c);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_NONE);
    assert_non_null(strstr(pipeline_warning, "a cached object is not used"));
    assert_int_equal(pipeline_warnings, 1);
    cdnagen_free_context(ctx);
    ctx = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    assert_int_equal(pipeline_tier(ctx, pipeline_tag, pipeline_shape), CDNAGEN_TIER_DISK);
    cdnagen_free_context(ctx);
    scratch_remove();
}

typedef struct worker {
    cdnagen *ctx;
    cdnagen_kernel *kernel;
    cdnagen_status status;
} worker;
static void *generate(void *argument) {
    worker *w = argument;
    w->status = gen_kernel(w->ctx, pipeline_tag, pipeline_shape, &w->kernel);
    return NULL;
}

static void many_threads_compile_one_kernel_once(void **state) {
    (void)state;
    enum { THREADS = 8 };
    const char *dir = scratch_make();
    fake.milliseconds = 50;
    cdnagen *shared = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW),
            *other = pipeline_context(dir, 0, CDNAGEN_SPILLS_ALLOW);
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.ctx = i % 2 ? shared : other};
        assert_int_equal(pthread_create(&threads[i], NULL, generate, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].status, CDNAGEN_OK);
        cdnagen_free_kernel(workers[i].kernel);
    }
    assert_int_equal(fake.linked, 1);
    cdnagen_free_context(shared);
    cdnagen_free_context(other);
    scratch_remove();
}

static void a_memory_hit_takes_microseconds(void **state) {
    (void)state;
    const int batches = 10, calls = 2000;
    cdnagen *ctx = pipeline_context("", 0, CDNAGEN_SPILLS_ALLOW);
    cdnagen_kernel *kernel;
    assert_int_equal(gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel), CDNAGEN_OK);
    cdnagen_free_kernel(kernel);
    double us = 0; /* of the batch that was disturbed least */
    for (int batch = 0; batch < batches; batch++) {
        const double start = clock_ms();
        for (int i = 0; i < calls; i++) {
            gen_kernel(ctx, pipeline_tag, pipeline_shape, &kernel);
            cdnagen_free_kernel(kernel);
        }
        const double of_batch = (clock_ms() - start) * 1e3 / calls;
        if (!batch || of_batch < us) us = of_batch;
    }
    print_message("gen_kernel on a memory hit, with its free: %.3f us at best\n", us);
    assert_true(us < 20); /* the aim is 2; a loaded machine with sanitizers is slower */
    cdnagen_free_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tiers_memory_then_disk, pipeline_clean),
        cmocka_unit_test_setup(cache_directory_is_the_option_then_the_environment, pipeline_clean),
        cmocka_unit_test_setup(limit_and_trust_are_the_option_then_the_environment, pipeline_clean),
        cmocka_unit_test_setup(a_cache_that_cannot_be_written_costs_a_warning, pipeline_clean),
        cmocka_unit_test_setup(no_cache_compiles_each_time, pipeline_clean),
        cmocka_unit_test_setup(cache_only_refuses_a_miss_and_names_it, pipeline_clean),
        cmocka_unit_test_setup(a_store_of_the_callers_serves_other_contexts, pipeline_clean),
        cmocka_unit_test_setup(a_damaged_entry_is_compiled_again, pipeline_clean),
        cmocka_unit_test_setup(a_cached_object_of_another_kernel_is_compiled_again, pipeline_clean),
        cmocka_unit_test_setup(many_threads_compile_one_kernel_once, pipeline_clean),
        cmocka_unit_test_setup(a_memory_hit_takes_microseconds, pipeline_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
