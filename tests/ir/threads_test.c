/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Different kernels compiled on several threads at once are, byte for byte, those that one thread makes; and a compile
 * leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <malloc.h>
#include <pthread.h>

#include "runtime/compile.h" /* before cmocka, which names a macro fail */

#include <cmocka.h>

enum { THREADS = 3, ROUNDS = 3 };
static const char *const tags[THREADS] = {"mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma",
                                          "mqa_logits:mfma32x32x64_bkv64", "mqa_logits:mfma16x16x128_bkv64_w2_lds3_rs"};

static cdnagen_status generate(const char *tag, bytes *object) {
    target t;
    plan p;
    TRY(target_parse("gfx950", &t));
    TRY(plan_make(tag, "heads=32 dim=128 clean=1", &t, 0, &p));
    compile *c = NULL;
    TRY(compile_emit(&p, &c));
    cdnagen_status status = compile_verify(c);
    if (status == CDNAGEN_OK) status = compile_optimise(c);
    if (status == CDNAGEN_OK) status = compile_codegen(c);
    if (status == CDNAGEN_OK) status = compile_link(c, object);
    compile_free(c);
    return status;
}

typedef struct work {
    const char *tag;
    bytes made[ROUNDS];
    cdnagen_status status;
} work;

static void *run(void *p) {
    work *const w = p;
    for (int i = 0; i < ROUNDS && w->status == CDNAGEN_OK; i++) w->status = generate(w->tag, &w->made[i]);
    return NULL;
}

static void threads_make_the_same_bytes(void **state) {
    (void)state;
    work works[THREADS] = {{0}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        works[i].tag = tags[i];
        assert_int_equal(pthread_create(&threads[i], NULL, run, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        bytes alone = {0};
        assert_int_equal(works[i].status, CDNAGEN_OK);
        assert_int_equal(generate(tags[i], &alone), CDNAGEN_OK);
        for (int r = 0; r < ROUNDS; r++) {
            assert_int_equal(works[i].made[r].size, alone.size);
            assert_memory_equal(works[i].made[r].data, alone.data, alone.size);
            bytes_free(&works[i].made[r]);
        }
        bytes_free(&alone);
    }
}

/* Not even in pools of LLVM and lld, which no leak checker looks into. */
static void a_compile_leaves_nothing_in_use(void **state) {
    (void)state;
    enum { WARM = 8, MEASURED = 24, BYTES_MOST = 8192 /* of malloc's own caches */ };
    size_t before = 0;
    for (int i = 0; i < WARM + MEASURED; i++) {
        bytes object = {0};
        if (i == WARM) before = mallinfo2().uordblks;
        assert_int_equal(generate(tags[0], &object), CDNAGEN_OK);
        bytes_free(&object);
    }
    assert_in_range(mallinfo2().uordblks, 0, before + BYTES_MOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_make_the_same_bytes),
                                       cmocka_unit_test(a_compile_leaves_nothing_in_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
