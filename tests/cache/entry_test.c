/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry format: what is sound, and that nothing else is. */
#include <llvm-c/blake3.h>
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
    /* source: BLAKE3, test_vectors.json (empty input); "abc" as b3sum prints it */
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
            cache_blob *made = blob_make(key_text, strlen(key_text), data, size);
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
    cache_blob *b = blob_make("op|tag|shape", 12, "some bytes of a code object", 27);
    assert_true(parse_copy(b->file, b->file_bytes));
    for (size_t size = 0; size < b->file_bytes; size++) assert_false(parse_copy(b->file, size));
    cache_blob_release(b);
}

static void every_flipped_bit_is_damaged(void **state) {
    (void)state;
    cache_blob *b = blob_make("op|tag|shape", 12, "some bytes of a code object", 27);
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
    cache_blob *b = blob_make("k", 1, "data", 4);
    unsigned char longer[256] = {0};
    memcpy(longer, b->file, b->file_bytes);
    for (size_t more = 1; more < 40; more++) assert_false(parse_copy(longer, b->file_bytes + more));
    cache_blob_release(b);
}

/* seal: make the checksum right again, so that what a test changed is judged for itself. */
static void seal(cache_blob *b) {
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    llvm_blake3_hasher_update(&hasher, b->file, b->file_bytes - LLVM_BLAKE3_OUT_LEN);
    llvm_blake3_hasher_finalize(&hasher, b->file + b->file_bytes - LLVM_BLAKE3_OUT_LEN, LLVM_BLAKE3_OUT_LEN);
}

static void a_header_that_lies_is_refused_whatever_the_checksum(void **state) {
    (void)state;
    /* The sound header of key text "k" and data "data" is {1, 1, 4}: 32 bytes, the key text and zeros up to 48, the
     * data up to 52, the checksum. */
    static const struct {
        const char *name;
        uint64_t version, key_text_bytes, data_bytes;
    } rows[] = {
        {"version 0", 0, 1, 4},
        {"version 2", 2, 1, 4},
        {"key text of 100", 1, 100, 4},
        {"key text over all of the data", 1, 20, 0},
        {"key text over part of the checksum", 1, 32, 0},
        {"data 1 too long", 1, 1, 5},
        {"data 1 too short", 1, 1, 3},
        {"data wraps", 1, 1, UINT64_MAX},
        {"key text wraps, data from 32 on", 1, UINT64_MAX, 20},
        {"key text wraps, data from 16 on", 1, UINT64_MAX - 15, 36},
        {"key text wraps, data from 0 on", 1, UINT64_MAX - 31, 52},
        {"key text half way round", 1, UINT64_MAX / 2, 20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cache_blob *b = blob_make("k", 1, "data", 4);
        assert_int_equal(b->file_bytes, 52 + LLVM_BLAKE3_OUT_LEN);
        memcpy(b->file + 8, &rows[i].version, 3 * sizeof(uint64_t));
        seal(b);
        if (parse_copy(b->file, b->file_bytes)) fail_msg("%s", rows[i].name);
        cache_blob_release(b);
    }
    cache_blob *b = blob_make("k", 1, "data", 4);
    seal(b);
    assert_true(parse_copy(b->file, b->file_bytes));
    cache_blob_release(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_blake3),
        cmocka_unit_test(what_is_made_parses_back),
        cmocka_unit_test(every_truncation_is_damaged),
        cmocka_unit_test(every_flipped_bit_is_damaged),
        cmocka_unit_test(bytes_after_the_end_are_damage),
        cmocka_unit_test(a_header_that_lies_is_refused_whatever_the_checksum),
    };
    return cmocka_run_group_tests_name("cache entry", tests, NULL, NULL);
}
