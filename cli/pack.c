/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen pack, unpack, verify: a cache as one file, back again, and what is in either.
 * Only pack holds all objects at once. */
#include "cache/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/codeobj.h"

/* seen: of a walk over roots, at the head of what its visitor is given. */
typedef struct seen {
    int bad, no_memory; /* an entry was not sound; memory ran out */
} seen;

static void note_problem(void *user, const char *path, const char *what) {
    seen *s = user;
    s->bad = 1;
    fprintf(stderr, "cdnagen: %s %s\n", path, what);
}

static cdnagen_status walk(const char *root, int trust_all, void (*take)(void *user, cache_blob *entry), seen *user) {
    const cache_visitor visitor = {note_problem, take, user, trust_all};
    cache_census census;
    TRY(cache_walk(root, &visitor, &census));
    return user->no_memory ? fail_no_memory() : CDNAGEN_OK;
}

/* walk_named: a root that the user named, which must be there. */
static cdnagen_status walk_named(const char *root, int trust_all, void (*take)(void *user, cache_blob *entry),
                                 seen *user) {
    if (access(root, R_OK)) return fail(CDNAGEN_IO, "cannot read %s: %s", root, strerror(errno));
    return walk(root, trust_all, take, user);
}

/* another: room for one more of `count` items of `size` bytes; 0 if memory ran out. */
static int another(void **items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return 1;
    const size_t wanted = *capacity ? 2 * *capacity : 64;
    void *const more = mem_realloc(*items, wanted * size);
    if (!more) return 0;
    *items = more;
    *capacity = wanted;
    return 1;
}

/* ---- pack ---- */

/* collection: the sound entries of some roots. */
typedef struct collection {
    seen seen;
    void *entries; /* of cache_blob * */
    size_t count, capacity;
} collection;

static void collect(void *user, cache_blob *entry) {
    collection *c = user;
    if (c->seen.no_memory) return;
    if (!another(&c->entries, c->count, &c->capacity, sizeof(cache_blob *))) {
        c->seen.no_memory = 1;
        return;
    }
    cache_blob_retain(entry);
    ((cache_blob **)c->entries)[c->count++] = entry;
}

static cdnagen_status collect_default_roots(collection *c) {
    const char *why = "";
    char *roots = cache_default_roots(&why);
    if (!roots)
        return fail(CDNAGEN_BAD_ARGUMENT, "pack what? Name a cache directory; there is no default one: %s", why);
    cdnagen_status status = CDNAGEN_OK;
    char *root;
    for (size_t i = 0; !status && (root = cache_root(roots, i)); i++) {
        status = walk(root, cache_default_trust(), collect, &c->seen);
        mem_free(root);
    }
    mem_free(roots);
    return status;
}

static cdnagen_status pack_roots(const cli *options, collection *c) {
    if (!options->word_count)
        return fail(CDNAGEN_BAD_ARGUMENT, "pack needs the file to write and may be given cache directories and packs");
    if (options->word_count == 1) TRY(collect_default_roots(c));
    for (size_t i = 1; i < options->word_count; i++)
        TRY(walk_named(options->words[i], cache_default_trust(), collect, &c->seen));
    TRY(pack_write(options->words[0], c->entries, c->count));
    cache_census census;
    TRY(cache_walk(options->words[0], &(cache_visitor){.report = note_problem, .user = c}, &census));
    printf("%s: %" PRIu64 " entries, %" PRIu64 " bytes of code objects\n", options->words[0], census.entries,
           census.bytes);
    return CDNAGEN_OK;
}

int pack_command(const cli *options) {
    collection c = {.count = 0};
    const cdnagen_status status = pack_roots(options, &c);
    for (size_t i = 0; i < c.count; i++) cache_blob_release(((cache_blob **)c.entries)[i]);
    mem_free(c.entries);
    return status ? fail_exit(status) : c.seen.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}

/* ---- unpack ---- */

/* filling: entries on their way into a directory, one at a time. */
typedef struct filling {
    seen seen;
    cache *to;
    int failed; /* one could not be written */
    size_t count;
} filling;

static void note_warning(void *user, cdnagen_log_level level, const char *line) {
    if (level != CDNAGEN_LOG_WARNING) return;
    *(int *)user = 1;
    fprintf(stderr, "cdnagen: %s\n", line);
}

static void put(void *user, cache_blob *entry) {
    filling *f = user;
    if (f->seen.no_memory || f->failed) return;
    size_t size;
    text key_text = {0};
    const char *const words = cache_blob_key_text(entry, &size);
    text_add_bytes(&key_text, words, size);
    cache_blob *const b =
        key_text.failed ? NULL : cache_put(f->to, key_text.data, cache_blob_data(entry), cache_blob_size(entry));
    if (!b) f->seen.no_memory = 1;
    f->count += b != NULL;
    cache_blob_release(b);
    text_free(&key_text);
}

static cdnagen_status unpack(const cli *options, filling *f) {
    if (options->word_count != 2)
        return fail(CDNAGEN_BAD_ARGUMENT, "unpack needs two words: the pack, and the directory to fill");
    const char *const dir = options->words[1];
    if (strchr(dir, ':'))
        return fail(CDNAGEN_BAD_ARGUMENT, "directory %s has a ':' in its name, which separates the roots of a cache",
                    dir);
    /* What has been put is not asked for: no memory for it. */
    const cache_options to = {.roots = dir,
                              .memory_bytes = 1,
                              .trust_all = cache_default_trust(),
                              .log = note_warning,
                              .log_user = &f->failed};
    TRY(cache_open(&to, &f->to));
    const cdnagen_status status = walk_named(options->words[0], cache_default_trust(), put, &f->seen);
    cache_close(f->to);
    TRY(status);
    if (f->failed) return fail(CDNAGEN_IO, "not all entries could be written to %s", dir);
    printf("%s: %zu entries\n", dir, f->count);
    return CDNAGEN_OK;
}

int unpack_command(const cli *options) {
    filling f = {.count = 0};
    const cdnagen_status status = unpack(options, &f);
    return status ? fail_exit(status) : f.seen.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}

/* ---- verify ---- */

/* fact: the rest of the key text's line that begins with `name` and a blank, as a new string; "" if there is none. */
static char *fact(const char *key_text, size_t size, const char *name) {
    const size_t n = strlen(name);
    text found = {0};
    for (const char *at = key_text, *const end = key_text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if ((size_t)(stop - at) > n && !memcmp(at, name, n) && at[n] == ' ') {
            text_add_bytes(&found, at + n + 1, (size_t)(stop - at) - n - 1);
            break;
        }
        at = stop + 1;
    }
    if (!found.data) text_add(&found, "%s", "");
    return found.data ? found.data : mem_strdup("");
}

static const char *const facts[] = {"operator", "tag", "shape", "target", "generator", "llvm"};
enum { OPERATOR, TAG, SHAPE, TARGET, FACTS = sizeof facts / sizeof *facts };

/* Whether the object is code for the target that the key text names. */
static int fits(const cache_blob *b, const char *target_words) {
    codeobj o;
    target t;
    return codeobj_open(cache_blob_data(b), cache_blob_size(b), &o) == CDNAGEN_OK &&
           target_parse(target_words, &t) == CDNAGEN_OK && o.chip == t.chip;
}

/* row: what is shown of an entry. */
typedef struct row {
    text key_text, line; /* no line where there is an object */
    json_t *object;
} row;

/* listing: rows of all entries, so that they can be shown in order of their key texts. */
typedef struct listing {
    seen seen;
    int as_json;
    void *rows;
    size_t count, capacity;
} listing;

static const char *or_none(const char *fact_of_key) { return fact_of_key ? fact_of_key : "?"; }

/* describe: as a line or as an object; 0 if the code is not for its target. */
static int describe(const cache_blob *b, int as_json, row *out) {
    size_t size;
    const char *const words = cache_blob_key_text(b, &size);
    char key[CACHE_KEY_CHARS + 1], hash[CACHE_KEY_CHARS + 1], *f[FACTS];
    cache_hash(words, size, key);
    cache_hash(cache_blob_data(b), cache_blob_size(b), hash);
    for (int i = 0; i < FACTS; i++) f[i] = fact(words, size, facts[i]);
    const int sound = f[TARGET] && fits(b, f[TARGET]);
    *out = (row){.object = NULL};
    text_add_bytes(&out->key_text, words, size);
    if (as_json) {
        out->object =
            json_pack("{s:s, s:s, s:I, s:b, s:o*}", "key", key, "object_blake3", hash, "object_bytes",
                      (json_int_t)cache_blob_size(b), "code_for_target", sound, "key_text", json_stringn(words, size));
        for (int i = 0; i < FACTS; i++)
            if (f[i]) json_object_set_new(out->object, facts[i], json_string(f[i]));
    } else {
        text_add(&out->line, "%.16s  %s  %s:%s  %s  %zu bytes%s\n", key, or_none(f[TARGET]), or_none(f[OPERATOR]),
                 or_none(f[TAG]), or_none(f[SHAPE]), cache_blob_size(b), sound ? "" : "  NOT CODE FOR THIS TARGET");
    }
    for (int i = 0; i < FACTS; i++) mem_free(f[i]);
    return sound;
}

static void list(void *user, cache_blob *entry) {
    listing *l = user;
    if (!another(&l->rows, l->count, &l->capacity, sizeof(row))) l->seen.no_memory = 1;
    if (l->seen.no_memory) return;
    row *const r = (row *)l->rows + l->count++;
    l->seen.bad |= !describe(entry, l->as_json, r);
    l->seen.no_memory = r->key_text.failed || r->line.failed;
}

static int by_key_text(const void *a, const void *b) {
    const text *const x = &((const row *)a)->key_text, *const y = &((const row *)b)->key_text;
    const int order = memcmp(x->data, y->data, x->length < y->length ? x->length : y->length);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

static cdnagen_status verify(const cli *options, listing *l) {
    if (!options->word_count) return fail(CDNAGEN_BAD_ARGUMENT, "verify what? Name packs or cache directories");
    for (size_t i = 0; i < options->word_count; i++)
        TRY(walk_named(options->words[i], 1, list, &l->seen)); /* nothing is loaded */
    if (l->count) qsort(l->rows, l->count, sizeof(row), by_key_text);
    json_t *const objects = l->as_json ? json_array() : NULL;
    for (row *r = l->rows; r < (row *)l->rows + l->count; r++) {
        if (!l->as_json)
            fputs(r->line.data, stdout);
        else if (json_array_append(objects, r->object)) {
            json_decref(objects);
            return fail_no_memory();
        }
    }
    if (l->as_json) return print_object(json_pack("{s:b, s:o}", "sound", !l->seen.bad, "entries", objects));
    printf("%zu entries, %s\n", l->count, l->seen.bad ? "NOT ALL SOUND" : "all sound");
    return CDNAGEN_OK;
}

int verify_command(const cli *options) {
    listing l = {.as_json = options->json};
    const cdnagen_status status = verify(options, &l);
    for (row *r = l.rows; r && r < (row *)l.rows + l.count; r++) {
        text_free(&r->key_text);
        text_free(&r->line);
        json_decref(r->object);
    }
    mem_free(l.rows);
    return status ? fail_exit(status) : l.seen.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}
