/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who may decide which code is loaded: roots, folders, entries and packs that others can write are left alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

enum { PLAIN = 12345, OTHER = 65534 };

/* What is altered in a sound root: its directory, "v1", the key's folder, the entry, or a pack in its place. */
typedef enum part { ROOT, FORMAT, FOLDER, ENTRY, PACK } part;

typedef struct row {
    const char *name;
    part part;
    unsigned owner, mode, user; /* whose it becomes, its mode, who asks */
    const char *why;            /* words of the warning; NULL: it is used; "": a miss without a warning */
} row;

static const row rows[] = {
    {"root's directory, asked by root", ROOT, 0, 0755, 0, NULL},
    {"root's directory", ROOT, 0, 0755, PLAIN, NULL},
    {"own directory", ROOT, PLAIN, 0700, PLAIN, NULL},
    {"own directory, shared with a group", ROOT, PLAIN, 0775, PLAIN, NULL},
    {"own directory that all can write", ROOT, PLAIN, 0777, PLAIN, "of user 12345 has mode 0777"},
    {"root's directory that all can write", ROOT, 0, 0777, PLAIN, "of user 0 has mode 0777"},
    {"a directory as /tmp", ROOT, 0, 01777, PLAIN, "of user 0 has mode 1777"},
    {"another's directory", ROOT, OTHER, 0755, PLAIN, "belongs to user 65534 and neither to this user, 12345, nor"},
    {"another's directory, asked by root", ROOT, OTHER, 0755, 0, "belongs to user 65534 and neither to this user, 0,"},
    {"another's that all can write", ROOT, OTHER, 0777, PLAIN, "belongs to user 65534"},
    {"v1 of another", FORMAT, OTHER, 0755, PLAIN, "/v1 belongs to user 65534"},
    {"v1 that all can write", FORMAT, 0, 0777, PLAIN, "/v1 of user 0 has mode 0777"},
    {"a folder of another", FOLDER, OTHER, 0755, PLAIN, "/v1/<2 hex> belongs to user 65534"},
    {"a folder that all can write", FOLDER, 0, 0757, PLAIN, "/v1/<2 hex> of user 0 has mode 0757"},
    {"an entry that a group's member wrote", ENTRY, OTHER, 0664, PLAIN, NULL},
    {"an entry that all can write", ENTRY, 0, 0666, PLAIN, ""},
    {"root's pack", PACK, 0, 0644, PLAIN, NULL},
    {"own pack, shared with a group", PACK, PLAIN, 0664, PLAIN, NULL},
    {"another's pack", PACK, OTHER, 0644, PLAIN, "belongs to user 65534"},
    {"a pack that all can write", PACK, 0, 0666, PLAIN, "of user 0 has mode 0666"},
};

/* A case is made by root, and the run of another user reports by its exit code. */
typedef struct trial {
    const row *row;
    const char *root;
    int trust_all;
} trial;

#define CHECK(n, condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition)) return n;                                                                                    \
    } while (0)

static int ask(void *argument) {
    const trial *t = argument;
    log_book book = {0};
    cdnagen_cache_tier tier;
    cache *c = scratch_open_with((cache_options){.roots = t->root, .trust_all = t->trust_all}, &book);
    cache_blob *b = cache_get(c, TEXT, &tier);
    const char *const why = t->trust_all ? NULL : t->row->why;
    CHECK(1, !b == !!why);
    CHECK(2, !b || (cache_blob_size(b) == 4 && !memcmp(cache_blob_data(b), "data", 4)));
    cache_blob_release(b);
    cache_lock_handle *lock = cache_lock(c, "new");
    cache_blob_release(cache_put(c, "new", "more", 4));
    cache_unlock(lock);
    cache_close(c);
    if (!why || !*why) return 0;
    CHECK(3, book.warnings == 1);
    CHECK(4, strstr(book.last_warning, why) && strstr(book.last_warning, t->root));
    CHECK(5, strstr(book.last_warning, "chmod o-w") && strstr(book.last_warning, "CDNAGEN_CACHE_TRUST=all"));
    return 0;
}

static void make_root(const row *r, char *root) {
    if (r->part == PACK) {
        cache_blob *b = blob_make(TEXT, strlen(TEXT), "data", 4);
        assert_int_equal(pack_write(root, &b, 1), CDNAGEN_OK);
        cache_blob_release(b);
    } else {
        assert_int_equal(mkdir(root, 0755), 0);
        cache *c = scratch_open(root, NULL);
        cache_blob_release(cache_put(c, TEXT, "data", 4));
        cache_close(c);
    }
    const char *const entry = scratch_entry(root, TEXT);
    const char *const paths[] = {root, scratch_path("%s/v1", root), scratch_path("%.*s", (int)strlen(root) + 6, entry),
                                 entry, root};
    assert_int_equal(chown(paths[r->part], r->owner, r->owner), 0);
    assert_int_equal(chmod(paths[r->part], r->mode), 0);
}

static void what_others_can_write_is_left_alone(void **state) {
    (void)state;
    if (geteuid()) {
        print_message("needs root, to act as other users\n");
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *dir = scratch_dir();
        const trial t = {&rows[i], scratch_path("%s/root", dir), 0}, trusting = {&rows[i], t.root, 1};
        assert_int_equal(chmod(dir, 0755), 0);
        make_root(&rows[i], (char *)t.root);
        const int files = scratch_files(dir, ""), result = in_child(ask, (void *)&t, rows[i].user);
        if (result) fail_msg("%s: check %d failed", rows[i].name, result);
        if (rows[i].why && *rows[i].why) assert_int_equal(scratch_files(dir, ""), files); /* nothing was written */
        const int trusted = in_child(ask, (void *)&trusting, rows[i].user);
        if (trusted) fail_msg("%s, trusted: check %d failed", rows[i].name, trusted);
        scratch_remove(dir);
    }
}

/* A root of user PLAIN's with an entry, in a folder that becomes `mode` and `owner`'s. */
static void make_root_in(const char *folder, unsigned owner, unsigned mode) {
    const row r = {.part = ROOT, .owner = PLAIN, .mode = 0755};
    assert_int_equal(mkdir(folder, 0755), 0);
    make_root(&r, (char *)scratch_path("%s/root", folder));
    assert_int_equal(chown(folder, owner, owner), 0);
    assert_int_equal(chmod(folder, mode), 0);
}

static void make_link(const char *path, const char *to, unsigned owner) {
    assert_int_equal(symlink(to, path), 0);
    assert_int_equal(lchown(path, owner, owner), 0);
}

/* All of these end at a sound root of the one who asks. */
static void a_way_that_others_can_turn_is_not_taken(void **state) {
    (void)state;
    static const char exchange[] = "every user can exchange it", theirs[] = "belongs to user 65534 and neither to this";
    static const row ways[] = {
        {.name = "plain/root"},
        {.name = "plain/./../plain//root/"},
        {.name = "sticky/root"},
        {.name = "theirs/root"}, /* whom its user chose */
        {.name = "plain/link"},
        {.name = "plain/whole"},
        {.name = "sticky/own"},
        {.name = "open/root", .why = exchange},
        {.name = "open/absent", .why = exchange},
        {.name = "open/link", .why = exchange},
        {.name = "plain/to_open", .why = exchange},
        {.name = "open/../plain/root", .why = exchange},
        {.name = "sticky/theirs/root", .why = theirs},
        {.name = "sticky/link", .why = theirs},
        {.name = "plain/to_link", .why = theirs},
        {.name = "plain/loop", .why = ""},
    };
    if (geteuid()) {
        print_message("needs root, to act as other users\n");
        skip();
    }
    char *dir = scratch_dir();
    assert_int_equal(chmod(dir, 0755), 0);
    make_root_in(scratch_path("%s/plain", dir), 0, 0755);
    make_root_in(scratch_path("%s/open", dir), 0, 0777);
    make_root_in(scratch_path("%s/theirs", dir), OTHER, 0755);
    make_root_in(scratch_path("%s/sticky", dir), 0, 01777);
    make_root_in(scratch_path("%s/sticky/theirs", dir), OTHER, 0755);
    make_link(scratch_path("%s/plain/link", dir), "../sticky/own", 0);
    make_link(scratch_path("%s/plain/whole", dir), scratch_path("%s/plain/root", dir), OTHER);
    make_link(scratch_path("%s/plain/to_open", dir), "../open/root", PLAIN);
    make_link(scratch_path("%s/plain/to_link", dir), "../sticky/link", PLAIN);
    make_link(scratch_path("%s/plain/loop", dir), "loop", PLAIN);
    make_link(scratch_path("%s/open/link", dir), scratch_path("%s/plain/root", dir), PLAIN);
    make_link(scratch_path("%s/sticky/own", dir), "../plain/root", PLAIN);
    make_link(scratch_path("%s/sticky/link", dir), "../plain/root", OTHER);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const trial t = {&ways[i], scratch_path("%s/%s", dir, ways[i].name), 0};
        const int files = scratch_files(dir, ""), result = in_child(ask, (void *)&t, PLAIN);
        if (result) fail_msg("%s: check %d failed", ways[i].name, result);
        if (ways[i].why) assert_int_equal(scratch_files(dir, ""), files);
    }
    scratch_remove(dir);
}

static void take_one(void *user, cache_blob *entry) {
    (void)entry;
    ++*(int *)user;
}

/* What a pack is made of becomes trusted with the pack. */
static void entries_are_not_taken_from_what_others_can_write(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *const packed = scratch_path("%s/pack", dir);
    cache *c = scratch_open(dir, NULL);
    cache_blob *b = cache_put(c, TEXT, "data", 4);
    assert_int_equal(pack_write(packed, &b, 1), CDNAGEN_OK);
    cache_blob_release(b);
    cache_close(c);
    const char *const altered[] = {dir, scratch_path("%s/v1", dir), packed};
    for (size_t i = 0; i < 3; i++) {
        const char *const root = i == 2 ? packed : dir;
        struct stat st;
        cache_census census;
        int taken = 0;
        cache_visitor v = {.take = take_one, .user = &taken};
        assert_int_equal(stat(altered[i], &st), 0);
        assert_int_equal(chmod(altered[i], 0777), 0);
        assert_int_equal(cache_walk(root, &v, &census), CDNAGEN_IO);
        assert_non_null(strstr(cdnagen_error(), "has mode 0777: every user can write to it"));
        assert_non_null(strstr(cdnagen_error(), root));
        assert_int_equal(taken, 0);
        v.trust_all = 1;
        assert_int_equal(cache_walk(root, &v, &census), CDNAGEN_OK);
        assert_int_equal(taken, 1);
        assert_int_equal(cache_walk(root, &(cache_visitor){0}, &census), CDNAGEN_OK); /* to look is safe */
        assert_int_equal(chmod(altered[i], st.st_mode & 07777), 0);
        v.trust_all = 0;
        assert_int_equal(cache_walk(root, &v, &census), CDNAGEN_OK);
        assert_int_equal(taken, 2);
    }
    int taken = 0;
    cache_census census;
    cache_visitor v = {.take = take_one, .user = &taken};
    assert_int_equal(chmod(scratch_entry(dir, TEXT), 0666), 0);
    assert_int_equal(cache_walk(dir, &v, &census), CDNAGEN_OK);
    assert_int_equal(taken, 0);
    assert_int_equal(census.damaged, 1);
    v.trust_all = 1;
    assert_int_equal(cache_walk(dir, &v, &census), CDNAGEN_OK);
    assert_int_equal(taken, 1);
    scratch_remove(dir);
}

static void what_is_new_goes_past_a_root_that_others_can_write(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *const shared = scratch_path("%s/open", dir), *const own = scratch_path("%s/own", dir),
                      *const roots = scratch_path("%s:%s", shared, own);
    assert_int_equal(mkdir(shared, 0777), 0);
    assert_int_equal(chmod(shared, 0777), 0);
    log_book book = {0};
    cache *c = scratch_open(roots, &book);
    cache_blob_release(cache_put(c, TEXT, "data", 4));
    cache_close(c);
    assert_int_equal(scratch_files(shared, ""), 0);
    assert_int_equal(scratch_files(own, ""), 1);
    assert_int_equal(cache_writable_root(roots), 1);
    setenv("CDNAGEN_CACHE_TRUST", "all", 1);
    assert_int_equal(cache_writable_root(roots), 0);
    unsetenv("CDNAGEN_CACHE_TRUST");
    scratch_remove(dir);
}

/* A umask of 0 must not make an entry that every user can change. */
static void a_umask_of_zero_lets_nobody_in(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *const packed = scratch_path("%s/pack", dir);
    assert_int_equal(chmod(dir, 0755), 0);
    struct stat st;
    const mode_t before = umask(0);
    cache *c = scratch_open(dir, NULL);
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_int_equal(stat(scratch_path("%s.lock", scratch_entry(dir, TEXT)), &st), 0);
    assert_int_equal(st.st_mode & S_IWOTH, 0);
    cache_blob *b = cache_put(c, TEXT, "data", 4);
    cache_unlock(lock);
    assert_int_equal(pack_write(packed, &b, 1), CDNAGEN_OK);
    cache_blob_release(b);
    cache_close(c);
    umask(before);
    const char *const made[] = {scratch_path("%s/v1", dir), scratch_entry(dir, TEXT), packed};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(made[i], &st), 0);
        assert_int_equal(st.st_mode & S_IWOTH, 0);
    }
    const trial t = {&rows[0], dir, 0};
    assert_int_equal(ask((void *)&t), 0);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_can_write_is_left_alone),
        cmocka_unit_test(a_way_that_others_can_turn_is_not_taken),
        cmocka_unit_test(entries_are_not_taken_from_what_others_can_write),
        cmocka_unit_test(what_is_new_goes_past_a_root_that_others_can_write),
        cmocka_unit_test(a_umask_of_zero_lets_nobody_in),
    };
    return cmocka_run_group_tests_name("cache trust", tests, NULL, NULL);
}
