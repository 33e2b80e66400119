/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packs: what goes in comes out, equal entries make equal bytes, and nothing damaged is ever given out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack_format.h"
#include "tests/cache/scratch.h"

enum { ENTRIES = 5 };
static const char *const texts[ENTRIES] = {"operator a\ntag x\n", "", "operator b\n", "k", "a key text without a line"};
static const char *const objects[ENTRIES] = {"first object", "of an empty key text", "", "k's", "\0\1\2 bytes"};
static const size_t sizes[ENTRIES] = {12, 20, 0, 3, 9};

static void make(cache_blob **entries) {
    for (int i = 0; i < ENTRIES; i++) {
        entries[i] = blob_make(texts[i], strlen(texts[i]), objects[i], sizes[i]);
        assert_non_null(entries[i]);
    }
}

static void release(cache_blob **entries) {
    for (int i = 0; i < ENTRIES; i++) cache_blob_release(entries[i]);
}

/* pack_of_all: a file with all of them, in a new folder.   owner of the folder: scratch_remove */
static const char *pack_of_all(char **dir) {
    cache_blob *entries[ENTRIES];
    make(entries);
    *dir = scratch_dir();
    const char *path = scratch_path("%s/p", *dir);
    assert_int_equal(pack_write(path, entries, ENTRIES), CDNAGEN_OK);
    release(entries);
    return path;
}

/* whole: a file's bytes.   owner: free */
static unsigned char *whole(const char *path, size_t *size) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *size = (size_t)st.st_size;
    unsigned char *bytes_of = malloc(*size + 1);
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, bytes_of, *size), *size);
    close(fd);
    return bytes_of;
}

static void holds(const pack *p, int i, const char *key) {
    const char *problem = "";
    cache_blob *b = pack_get(p, key, &problem);
    assert_non_null(b);
    assert_true(blob_is(b, texts[i]));
    assert_int_equal(cache_blob_size(b), sizes[i]);
    if (sizes[i]) assert_memory_equal(cache_blob_data(b), objects[i], sizes[i]);
    cache_blob_release(b);
}

static void what_goes_in_comes_out(void **state) {
    (void)state;
    char *dir;
    const char *path = pack_of_all(&dir);
    pack *p = NULL;
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_OK);
    assert_int_equal(pack_count(p), ENTRIES);
    for (int i = 0; i < ENTRIES; i++) {
        char key[CACHE_KEY_CHARS + 1];
        cache_key(texts[i], key);
        holds(p, i, key);
    }
    const char *problem = "";
    assert_null(pack_get(p, "0000000000000000000000000000000000000000000000000000000000000000", &problem));
    assert_null(problem);
    pack_close(p);
    pack_close(NULL);
    assert_int_equal(scratch_files(dir, ""), 1); /* no temporary is left */
    scratch_remove(dir);
}

static void equal_entries_make_equal_bytes(void **state) {
    (void)state;
    char *dir = scratch_dir();
    cache_blob *entries[ENTRIES], *turned[ENTRIES + 1];
    make(entries);
    for (int i = 0; i < ENTRIES; i++) turned[i] = entries[ENTRIES - 1 - i];
    turned[ENTRIES] = blob_make(texts[0], strlen(texts[0]), "another object under the same key", 33);
    assert_int_equal(pack_write(scratch_path("%s/a", dir), entries, ENTRIES), CDNAGEN_OK);
    assert_int_equal(pack_write(scratch_path("%s/b", dir), turned, ENTRIES + 1), CDNAGEN_OK);
    size_t n, m;
    unsigned char *a = whole(scratch_path("%s/a", dir), &n), *b = whole(scratch_path("%s/b", dir), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    cache_blob_release(turned[ENTRIES]);
    release(entries);
    scratch_remove(dir);
}

static void a_pack_may_be_empty(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    pack *p = NULL;
    assert_int_equal(pack_write(path, NULL, 0), CDNAGEN_OK);
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_OK);
    assert_int_equal(pack_count(p), 0);
    pack_close(p);
    scratch_remove(dir);
}

/* sound_entries: how many entries of the file can be had; each of them must be what was put in. -1: not opened. */
static int sound_entries(const char *path) {
    pack *p = NULL;
    if (pack_open(path, 0, &p)) {
        assert_non_null(strstr(cdnagen_error(), path));
        return -1;
    }
    int sound = 0;
    for (int i = 0; i < ENTRIES; i++) {
        char key[CACHE_KEY_CHARS + 1];
        const char *problem = NULL;
        cache_key(texts[i], key);
        cache_blob *b = pack_get(p, key, &problem);
        if (!b) {
            assert_non_null(strstr(problem, "damaged"));
            continue;
        }
        cache_blob_release(b);
        holds(p, i, key);
        sound++;
    }
    pack_close(p);
    return sound;
}

static void every_cut_is_noticed_and_told(void **state) {
    (void)state;
    char *dir;
    const char *path = pack_of_all(&dir), *cut = scratch_path("%s/cut", dir);
    size_t size;
    unsigned char *bytes_of = whole(path, &size);
    for (size_t n = 0; n < size; n++) {
        scratch_write(cut, bytes_of, n);
        assert_int_equal(sound_entries(cut), -1);
        assert_non_null(strstr(cdnagen_error(), n < sizeof(pack_header) ? "no pack" : "cut short"));
    }
    scratch_write(cut, bytes_of, size + 1);
    assert_int_equal(sound_entries(cut), -1);
    free(bytes_of);
    scratch_remove(dir);
}

static void every_changed_bit_is_noticed(void **state) {
    (void)state;
    char *dir;
    const char *path = pack_of_all(&dir), *changed = scratch_path("%s/changed", dir);
    size_t size;
    unsigned char *bytes_of = whole(path, &size);
    const pack_header *header = (const pack_header *)(const void *)bytes_of;
    const size_t manifest = (size_t)header->manifest_bytes;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes_of[bit / 8] ^= (unsigned char)(1 << bit % 8);
        scratch_write(changed, bytes_of, size);
        assert_int_equal(sound_entries(changed), bit / 8 < manifest ? -1 : ENTRIES - 1);
        bytes_of[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes_of);
    scratch_remove(dir);
}

/* seal: the checksum of a manifest that was changed. */
static void seal(unsigned char *bytes_of) {
    pack_header h;
    memcpy(&h, bytes_of, sizeof h);
    hash_bytes(bytes_of, (size_t)h.manifest_bytes - HASH_BYTES, bytes_of + h.manifest_bytes - HASH_BYTES);
}

/* Lies under a right checksum: a hostile or broken writer. */
static void manifests_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    char *dir;
    const char *path = pack_of_all(&dir), *changed = scratch_path("%s/changed", dir);
    size_t size;
    const size_t row = sizeof(pack_header), texts_of = 2 * HASH_BYTES, objects_of = texts_of + 8;
    const struct {
        const char *says;
        size_t at;
        uint64_t value;
    } rows[] = {
        {"lengths from byte 16", 16, UINT64_MAX},
        {"lengths from byte 16", 16, (uint64_t)1 << 60},
        {"not that of its text", 16, ENTRIES - 1},
        {"lengths from byte 16", 40, 1},
        {"version 2", 8, 2},
        {"go beyond the file", row + texts_of, UINT64_MAX},
        {"go beyond the file", row + objects_of, UINT64_MAX - 15},
        {"go beyond the file", row + objects_of, 1000},
        {"not that of its text", row + texts_of, 1},
        {"its parts end", row + (ENTRIES - 1) * sizeof(pack_row) + objects_of, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char *bytes_of = whole(path, &size);
        memcpy(bytes_of + rows[i].at, &rows[i].value, sizeof rows[i].value);
        pack_header h;
        memcpy(&h, bytes_of, sizeof h);
        if (h.manifest_bytes <= size) seal(bytes_of);
        scratch_write(changed, bytes_of, size);
        assert_int_equal(sound_entries(changed), -1);
        if (!strstr(cdnagen_error(), rows[i].says) && !strstr(cdnagen_error(), "go beyond the file"))
            fail_msg("row %zu: %s", i, cdnagen_error());
        free(bytes_of);
    }
    scratch_remove(dir);
}

static void swap(unsigned char *a, unsigned char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const unsigned char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Rows, texts and objects of two entries in another order, everything else as it should be. */
static void keys_out_of_order_are_refused(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    cache_blob *two[2] = {blob_make("one", 3, "1st", 3), blob_make("two", 3, "2nd", 3)};
    size_t size;
    assert_int_equal(pack_write(path, two, 2), CDNAGEN_OK);
    unsigned char *bytes_of = whole(path, &size), *const rows = bytes_of + sizeof(pack_header),
                  *const words = rows + 2 * sizeof(pack_row), *const object = bytes_of + size - 6;
    swap(rows, rows + sizeof(pack_row), sizeof(pack_row));
    swap(words, words + 3, 3);
    swap(object, object + 3, 3);
    seal(bytes_of);
    scratch_write(path, bytes_of, size);
    pack *p = NULL;
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "the key at byte 128 is out of order"));
    free(bytes_of);
    for (int i = 0; i < 2; i++) cache_blob_release(two[i]);
    scratch_remove(dir);
}

static void a_pack_that_shrinks_while_it_is_open_is_told(void **state) {
    (void)state;
    char *dir;
    const char *path = pack_of_all(&dir), *problem = NULL;
    pack *p = NULL;
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_OK);
    assert_int_equal(truncate(path, 100), 0);
    char key[CACHE_KEY_CHARS + 1];
    cache_key(texts[0], key);
    assert_null(pack_get(p, key, &problem));
    assert_string_equal(problem, "is cut short");
    pack_close(p);
    scratch_remove(dir);
}

static void files_that_are_no_packs_of_ours(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    pack *p = NULL;
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "No such file"));
    assert_int_equal(pack_open(dir, 0, &p), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "no regular file"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pack_open(path, 0, &p), CDNAGEN_IO);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pack_write(path, NULL, 0), CDNAGEN_OK);
    if (!geteuid()) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(pack_open(path, 0, &p), CDNAGEN_IO);
        assert_non_null(strstr(cdnagen_error(), "belongs to user 65534"));
    }
    assert_int_equal(pack_write(scratch_path("%s/none/p", dir), NULL, 0), CDNAGEN_IO);
    scratch_remove(dir);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    cache_blob *entries[ENTRIES];
    make(entries);
    char key[CACHE_KEY_CHARS + 1];
    cache_key(texts[0], key);
    const long live = mem_live();
    long k = 1;
    for (int done = 0; !done && k < 100; k++) {
        pack *p = NULL;
        cache_blob *b = NULL;
        const char *problem = NULL;
        mem_fail_at(k);
        const cdnagen_status wrote = pack_write(path, entries, ENTRIES);
        const cdnagen_status opened = wrote ? wrote : pack_open(path, 0, &p);
        if (!opened) b = pack_get(p, key, &problem);
        mem_fail_at(0);
        assert_true(opened == CDNAGEN_OK || opened == CDNAGEN_NO_MEMORY);
        if (!opened && !b) assert_string_equal(problem, "");
        done = b != NULL;
        cache_blob_release(b);
        pack_close(p);
        assert_int_equal(mem_live(), live);
        assert_int_equal(scratch_files(dir, ""), scratch_exists(path)); /* no temporary is left */
    }
    assert_in_range(k, 8, 98);
    release(entries);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(equal_entries_make_equal_bytes),
        cmocka_unit_test(a_pack_may_be_empty),
        cmocka_unit_test(every_cut_is_noticed_and_told),
        cmocka_unit_test(every_changed_bit_is_noticed),
        cmocka_unit_test(manifests_that_contradict_themselves_are_refused),
        cmocka_unit_test(keys_out_of_order_are_refused),
        cmocka_unit_test(a_pack_that_shrinks_while_it_is_open_is_told),
        cmocka_unit_test(files_that_are_no_packs_of_ours),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("packs", tests, NULL, NULL);
}
