/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/memory.c: counting, failing on request, text and arena. */
#include "tests/core/cmocka_tests.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

static void allocations_are_zeroed_and_counted(void **state) {
    (void)state;
    const long before = mem_live();
    unsigned char *p = mem_alloc(1000);
    assert_non_null(p);
    for (int i = 0; i < 1000; i++) assert_int_equal(p[i], 0);
    assert_int_equal(mem_live(), before + 1);
    p = mem_realloc(p, 5000);
    assert_int_equal(mem_live(), before + 1);
    void *q = mem_realloc(NULL, 10);
    void *empty = mem_alloc(0);
    assert_non_null(empty);
    assert_int_equal(mem_live(), before + 3);
    char *copy = mem_strdup("copy");
    assert_string_equal(copy, "copy");
    mem_free(copy);
    mem_free(p);
    mem_free(q);
    mem_free(empty);
    mem_free(NULL);
    assert_int_equal(mem_live(), before);
}

static void the_kth_allocation_fails_once(void **state) {
    (void)state;
    for (long k = 1; k <= 5; k++) {
        mem_fail_at(k);
        for (long i = 1; i <= 8; i++) {
            void *p = i & 1 ? mem_alloc(8) : mem_realloc(NULL, 8);
            assert_int_equal(p == NULL, i == k);
            mem_free(p);
        }
    }
    mem_fail_at(1);
    mem_fail_at(0);
    void *p = mem_alloc(8);
    assert_non_null(p);
    mem_fail_at(1);
    assert_null(mem_realloc(p, 16)); /* and p is still there */
    mem_free(p);
}

enum { THREADS = 4, TURNS = 20000 };

static void *allocate_often(void *failures) {
    for (int i = 0; i < TURNS; i++) {
        void *p = mem_alloc(16);
        *(int *)failures += !p;
        mem_free(p);
    }
    return NULL;
}

static void threads_share_one_count_and_one_failure(void **state) {
    (void)state;
    const long before = mem_live();
    pthread_t threads[THREADS];
    int failures[THREADS] = {0}, sum = 0;
    mem_fail_at(THREADS * TURNS / 2);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, allocate_often, &failures[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += failures[i];
    }
    assert_int_equal(sum, 1);
    assert_int_equal(mem_live(), before);
}

static void text_grows_to_any_length(void **state) {
    (void)state;
    text t = {0};
    text_add(&t, "%s", "");
    assert_string_equal(t.data, "");
    char expected[8000] = "";
    for (int i = 0; i < 1000; i++) {
        text_add(&t, "%d,", i);
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d,", i);
    }
    assert_false(t.failed);
    assert_string_equal(t.data, expected);
    assert_int_equal(t.length, strlen(expected));
    text_add_bytes(&t, "\0x", 2);
    assert_int_equal(t.length, strlen(expected) + 2);
    assert_memory_equal(t.data + t.length - 2, "\0x", 3);
    text_free(&t);
    assert_null(t.data);
    text_free(&t);
}

static void text_growth_at_every_length(void **state) {
    (void)state;
    for (size_t first = 0; first < 400; first++) {
        char words[400];
        memset(words, 'w', sizeof words);
        text t = {0};
        text_add_bytes(&t, words, first);
        for (size_t more = 1; more < 4; more++) {
            text_add_bytes(&t, words, 1);
            assert_true(t.capacity > t.length);
            assert_int_equal(strlen(t.data), first + more);
        }
        text_free(&t);
    }
}

static void text_failure_is_sticky_and_leaks_nothing(void **state) {
    (void)state;
    const long before = mem_live();
    for (long k = 1; k <= 6; k++) {
        text t = {0};
        mem_fail_at(k);
        for (int i = 0; i < 100; i++) text_add(&t, "a longer piece of text number %d; ", i);
        mem_fail_at(0);
        assert_true(t.failed);
        const size_t length = t.length;
        text_add(&t, "more");
        text_add_bytes(&t, "more", 4);
        assert_int_equal(t.length, length);
        text_free(&t);
        assert_int_equal(mem_live(), before);
    }
    text huge = {0};
    text_add_bytes(&huge, "x", SIZE_MAX - 1);
    assert_true(huge.failed);
}

static void arena_is_aligned_zeroed_and_distinct(void **state) {
    (void)state;
    const long before = mem_live();
    arena a = {0};
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = arena_alloc(&a, i * 7);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t j = 0; j < i * 7; j++) assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], (int)i & 255, i * 7);
    }
    unsigned char *large = arena_alloc(&a, 1 << 20);
    assert_non_null(large);
    memset(large, 1, 1 << 20);
    assert_string_equal(arena_format(&a, "%s-%d", "name", 42), "name-42");
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < i * 7; j++) assert_int_equal(blocks[i][j], i & 255);
    assert_false(a.failed);
    arena_free(&a);
    arena_free(&a);
    assert_int_equal(mem_live(), before);
}

static void arena_exhaustion_is_noted(void **state) {
    (void)state;
    const long before = mem_live();
    arena a = {0};
    assert_non_null(arena_alloc(&a, 10));
    mem_fail_at(1);
    assert_null(arena_alloc(&a, 1 << 20));
    assert_true(a.failed);
    assert_null(arena_alloc(&a, SIZE_MAX));
    arena_free(&a);
    assert_false(a.failed);
    mem_fail_at(1);
    assert_null(arena_format(&a, "x"));
    assert_true(a.failed);
    arena_free(&a);
    assert_int_equal(mem_live(), before);
}

static void bytes_are_freed(void **state) {
    (void)state;
    const long before = mem_live();
    bytes b = {mem_alloc(4), 4};
    bytes_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
    bytes_free(&b);
    assert_int_equal(mem_live(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_and_counted),
        cmocka_unit_test(the_kth_allocation_fails_once),
        cmocka_unit_test(threads_share_one_count_and_one_failure),
        cmocka_unit_test(text_grows_to_any_length),
        cmocka_unit_test(text_growth_at_every_length),
        cmocka_unit_test(text_failure_is_sticky_and_leaks_nothing),
        cmocka_unit_test(arena_is_aligned_zeroed_and_distinct),
        cmocka_unit_test(arena_exhaustion_is_noted),
        cmocka_unit_test(bytes_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
