/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry format: what is sound, and that nothing else is. */
#include <string.h>

#include "tests/cache/scratch.h"

static int parse(const void *file, size_t size) {
    const char *key_text = NULL;
    const void *data = NULL;
    size_t key_text_bytes = 0, data_bytes = 0;
    return cache_entry_parse(file, size, &key_text, &key_text_bytes, &data, &data_bytes);
}

/* A copy without a byte to spare, so that a sanitizer sees any step beyond it. */
static int parse_copy(const unsigned char *file, size_t size) {
    void *copy = test_malloc(size ? size : 1);
    memcpy(copy, file, size);
    const int sound = parse(copy, size);
    test_free(copy);
    return sound;
}

static void key_is_blake3(void **state) {
    (void)state;
    /* source: the BLAKE3 paper's reference implementation, test vector of the empty input; "abc" from its b3sum */
    static const struct {
        const char *key_text, *key;
    } rows[] = {
        {"", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
        {"abc", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[CACHE_KEY_CHARS + 1];
        cache_key(rows[i].key_text, key);
        assert_string_equal(key, rows[i].key);
    }
}

static void what_is_made_parses_back(void **state) {
    (void)state;
    char data[100];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (char)i;
    for (size_t size = 0; size <= sizeof data; size += 7) {
        for (size_t length = 0; length < 40; length++) {
            char key_text[41] = "";
            memset(key_text, 'k', length);
            cache_blob *made = blob_make(key_text, data, size);
            cache_blob *read = blob_alloc(made->file_bytes);
            memcpy(read->file, made->file, made->file_bytes);
            assert_true(blob_parse(read));
            assert_int_equal(read->key_text_bytes, length);
            assert_memory_equal(read->key_text, key_text, length);
            assert_int_equal(cache_blob_size(read), size);
            assert_memory_equal(cache_blob_data(read), data, size);
            assert_int_equal((uintptr_t)cache_blob_data(read) % 16, 0);
            cache_blob_release(made);
            cache_blob_release(read);
        }
    }
}

static void every_truncation_is_damaged(void **state) {
    (void)state;
    cache_blob *b = blob_make("op|tag|shape", "some bytes of a code object", 27);
    assert_true(parse_copy(b->file, b->file_bytes));
    for (size_t size = 0; size < b->file_bytes; size++) assert_false(parse_copy(b->file, size));
    cache_blob_release(b);
}

static void every_flipped_bit_is_damaged(void **state) {
    (void)state;
    cache_blob *b = blob_make("op|tag|shape", "some bytes of a code object", 27);
    for (size_t bit = 0; bit < 8 * b->file_bytes; bit++) {
        b->file[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_false(parse_copy(b->file, b->file_bytes));
        b->file[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(parse_copy(b->file, b->file_bytes));
    cache_blob_release(b);
}

static void bytes_after_the_end_are_damage(void **state) {
    (void)state;
    cache_blob *b = blob_make("k", "data", 4);
    unsigned char longer[256] = {0};
    memcpy(longer, b->file, b->file_bytes);
    for (size_t more = 1; more < 40; more++) assert_false(parse_copy(longer, b->file_bytes + more));
    cache_blob_release(b);
}

/* Lengths whose sum wraps round to the right one; no checksum is at fault first, since lengths are checked before it. */
static void lengths_that_wrap_are_refused(void **state) {
    (void)state;
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 31, UINT64_MAX / 2, 1u << 31};
    cache_blob *b = blob_make("k", "data", 4);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t at = 16; at <= 24; at += 8) {
            uint64_t kept;
            memcpy(&kept, b->file + at, 8);
            memcpy(b->file + at, &lengths[i], 8);
            assert_false(parse_copy(b->file, b->file_bytes));
            memcpy(b->file + at, &kept, 8);
        }
    }
    cache_blob_release(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_blake3),
        cmocka_unit_test(what_is_made_parses_back),
        cmocka_unit_test(every_truncation_is_damaged),
        cmocka_unit_test(every_flipped_bit_is_damaged),
        cmocka_unit_test(bytes_after_the_end_are_damage),
        cmocka_unit_test(lengths_that_wrap_are_refused),
    };
    return cmocka_run_group_tests_name("cache entry", tests, NULL, NULL);
}
