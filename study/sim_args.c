/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading the JSON file of `cdnagen sim --args`. */
#include "study/sim_args.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What is being read, for messages. */
typedef struct reader {
    const char *path;
    size_t number; /* of the argument, from 1 */
    const codeobj_arg *meta;
} reader;

static cdnagen_status bad(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static cdnagen_status bad(const reader *r, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const char *name = r->meta && *r->meta->name ? r->meta->name : NULL;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s: argument %zu%s%s%s: %s", r->path, r->number, name ? " (" : "",
                name ? name : "", name ? ")" : "", sentence);
}

static int is_word(const char *word, const char *words) {
    const size_t n = strlen(word);
    if (!n || strchr(word, ' ')) return 0;
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return 1;
    return 0;
}
/* foreign_key: a member of the object that is none of these, NULL if there is none.   keys: blank-separated */
static const char *foreign_key(json_t *object, const char *keys) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (!is_word(key, keys)) return key;
    return NULL;
}

/* ---- values ---- */

static cdnagen_status read_integer(const reader *r, const char *type, json_t *j, sim_arg *out) {
    if (!json_is_integer(j)) return bad(r, "\"%s\" needs an integer", type);
    const int64_t x = json_integer_value(j);
    const int64_t low = !strcmp(type, "i32") ? INT32_MIN : !strcmp(type, "u32") ? 0 : INT64_MIN;
    const int64_t high = !strcmp(type, "i32") ? INT32_MAX : !strcmp(type, "u32") ? UINT32_MAX : INT64_MAX;
    if (x < low || x > high) return bad(r, "%" PRId64 " does not fit %s", x, type);
    memcpy(out->value, &x, out->bytes);
    return CDNAGEN_OK;
}
static cdnagen_status read_real(const reader *r, const char *type, json_t *j, sim_arg *out) {
    if (!json_is_number(j)) return bad(r, "\"%s\" needs a number", type);
    const double x = json_number_value(j);
    const float f = (float)x;
    if (out->bytes == sizeof f && isinf(f)) return bad(r, "%g does not fit %s", x, type);
    memcpy(out->value, out->bytes == sizeof f ? (const void *)&f : (const void *)&x, out->bytes);
    return CDNAGEN_OK;
}

static const struct {
    const char *name;
    size_t bytes;
    cdnagen_status (*read)(const reader *, const char *, json_t *, sim_arg *);
} scalars[] = {{"i32", 4, read_integer},
               {"u32", 4, read_integer},
               {"i64", 8, read_integer},
               {"f32", 4, read_real},
               {"f64", 8, read_real}};
enum { SCALARS = sizeof scalars / sizeof *scalars };
#define KINDS "buffer i32 u32 i64 f32 f64 bytes local"

static cdnagen_status value_room(sim_arg *out, size_t size) {
    out->kind = SIM_ARG_VALUE;
    out->bytes = size;
    out->value = mem_alloc(size ? size : 1);
    return out->value ? CDNAGEN_OK : fail_no_memory();
}

static cdnagen_status read_bytes(const reader *r, json_t *j, sim_arg *out) {
    const char *hex = json_string_value(j);
    const size_t n = hex ? strlen(hex) : 1;
    if (n % 2 || strspn(hex, "0123456789abcdefABCDEF") != n)
        return bad(r, "\"bytes\" needs a string of hexadecimal digits, two a byte, lowest address first");
    TRY(value_room(out, n / 2));
    for (size_t i = 0; i < n / 2; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        out->value[i] = (unsigned char)byte;
    }
    return CDNAGEN_OK;
}

/* ---- buffers ---- */

/* read_count: a member that must be an integer from 0 or 1 on; `there` says whether it was given. */
static cdnagen_status read_count(const reader *r, json_t *object, const char *key, int64_t least, uint64_t *out,
                                 int *there) {
    json_t *j = json_object_get(object, key);
    *there = j != NULL;
    if (!j) return CDNAGEN_OK;
    if (!json_is_integer(j) || json_integer_value(j) < least)
        return bad(r, "\"%s\" needs an integer, %" PRId64 " or more", key, least);
    *out = (uint64_t)json_integer_value(j);
    return CDNAGEN_OK;
}

static cdnagen_status read_path(const reader *r, json_t *object, const char *key, char **out) {
    json_t *j = json_object_get(object, key);
    if (!j) return CDNAGEN_OK;
    if (!json_is_string(j) || !*json_string_value(j)) return bad(r, "\"%s\" needs a file's name", key);
    *out = mem_strdup(json_string_value(j));
    return *out ? CDNAGEN_OK : fail_no_memory();
}

static cdnagen_status file_size(const char *path, uint64_t *out) {
    struct stat st;
    if (stat(path, &st)) return fail(CDNAGEN_IO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return fail(CDNAGEN_IO, "cannot read %s: it is not a regular file", path);
    *out = (uint64_t)st.st_size;
    return CDNAGEN_OK;
}

/* The file's size decides, and a count must agree with it. */
static cdnagen_status count_from_file(const reader *r, sim_arg *out, int counted) {
    uint64_t size = 0;
    TRY(file_size(out->file, &size));
    if (size % out->element->bytes || !size)
        return bad(r, "%s has %" PRIu64 " bytes, which is no number of %s elements", out->file, size,
                   out->element->name);
    if (counted && size / out->element->bytes != out->count)
        return bad(r, "%s holds %" PRIu64 " %s elements, \"count\" says %" PRIu64, out->file,
                   size / out->element->bytes, out->element->name, out->count);
    out->count = size / out->element->bytes;
    return CDNAGEN_OK;
}

static cdnagen_status read_buffer(const reader *r, json_t *object, sim_arg *out) {
    static const char keys[] = "name buffer count fill seed file write";
    enum { COUNT_MAX_BITS = 40 };
    int counted, seeded;
    out->kind = SIM_ARG_BUFFER;
    const char *foreign = foreign_key(object, keys);
    if (foreign) return bad(r, "a buffer has no \"%s\"; known are: %s", foreign, keys);
    const char *type = json_string_value(json_object_get(object, "buffer"));
    out->element = type ? sim_element_find(type) : NULL;
    if (!out->element) return bad(r, "\"buffer\" needs its element type: u8, i32, f32, f16, bf16 or fp8");
    TRY(read_count(r, object, "count", 1, &out->count, &counted));
    TRY(read_count(r, object, "seed", 0, &out->seed, &seeded));
    TRY(read_path(r, object, "file", &out->file));
    TRY(read_path(r, object, "write", &out->write));
    json_t *fill = json_object_get(object, "fill");
    if (fill && out->file) return bad(r, "\"file\" and \"fill\" contradict each other");
    if (fill && !(out->fill = json_is_string(fill) ? sim_fill_find(json_string_value(fill)) : NULL))
        return bad(r, "\"fill\" is zeros, ones, iota or random");
    if (!out->file && !counted) return bad(r, "a buffer needs \"count\", its number of elements, or \"file\"");
    if (!out->file && !fill) out->fill = sim_fill_find("zeros");
    if (seeded && out->fill != sim_fill_random) return bad(r, "\"seed\" goes with \"fill\": \"random\"");
    if (out->file) TRY(count_from_file(r, out, counted));
    if (out->count > 1ull << COUNT_MAX_BITS) return bad(r, "\"count\" is beyond 2^%d", COUNT_MAX_BITS);
    out->bytes = out->count * out->element->bytes;
    return CDNAGEN_OK;
}

/* ---- arguments ---- */

static cdnagen_status read_kind(const reader *r, json_t *object, const char *kind, sim_arg *out) {
    json_t *j = json_object_get(object, kind);
    if (!strcmp(kind, "buffer")) return read_buffer(r, object, out);
    const char *foreign = foreign_key(object, KINDS " name");
    if (foreign)
        return bad(r, "\"%s\" is not known here; an argument has one of %s, and may have a name", foreign, KINDS);
    if (!strcmp(kind, "bytes")) return read_bytes(r, j, out);
    if (!strcmp(kind, "local")) {
        uint64_t size = 0;
        int there;
        TRY(read_count(r, object, kind, 1, &size, &there));
        if (size > UINT32_MAX / CODEOBJ_ARGS_MAX)
            return bad(r, "%" PRIu64 " bytes of LDS are more than any chip has", size);
        out->kind = SIM_ARG_LOCAL;
        out->bytes = size;
        return CDNAGEN_OK;
    }
    size_t i = 0;
    while (strcmp(scalars[i].name, kind)) i++;
    TRY(value_room(out, scalars[i].bytes));
    return scalars[i].read(r, kind, j, out);
}

static const char *kind_of(json_t *object, int *kinds) {
    const char *key, *found = NULL;
    json_t *value;
    *kinds = 0;
    json_object_foreach(object, key, value) if (is_word(key, KINDS)) {
        found = key;
        ++*kinds;
    }
    return found;
}

/* What the kernel's metadata says of the argument. Raw bytes are taken for anything of their size. */
static cdnagen_status check_meta(const reader *r, const sim_arg *a, const char *kind) {
    const codeobj_arg *m = r->meta;
    const int pointer = m->kind == ARG_GLOBAL_BUFFER, local = m->kind == ARG_DYNAMIC_LDS;
    if (local != (a->kind == SIM_ARG_LOCAL))
        return local ? bad(r, "the kernel takes a pointer to LDS here: {\"local\": BYTES}, not \"%s\"", kind)
                     : bad(r, "the kernel takes no pointer to LDS here, but %s of %u bytes", m->value_kind, m->size);
    if (local || !strcmp(kind, "bytes")) {
        if (!local && a->bytes != m->size)
            return bad(r, "\"bytes\" has %zu bytes, the kernel takes %u", a->bytes, m->size);
        return CDNAGEN_OK;
    }
    if (a->kind == SIM_ARG_BUFFER)
        return pointer || (m->kind == ARG_BY_VALUE && m->size == sizeof(uint64_t))
                   ? CDNAGEN_OK
                   : bad(r, "the kernel takes %s of %u bytes here, not a buffer", m->value_kind, m->size);
    if (pointer) return bad(r, "the kernel takes a pointer here: give a buffer, not \"%s\"", kind);
    if (a->bytes != m->size)
        return bad(r, "\"%s\" has %zu bytes, the kernel takes %s of %u", kind, a->bytes, m->value_kind, m->size);
    return CDNAGEN_OK;
}

static cdnagen_status read_argument(const reader *r, json_t *object, sim_arg *out) {
    int kinds = 0;
    if (!json_is_object(object))
        return bad(r, "an object is needed, such as {\"i32\": 5} or {\"buffer\": \"f32\", \"count\": 8}");
    const char *kind = kind_of(object, &kinds);
    if (kinds != 1) return bad(r, "it has %s of %s, one is needed", kinds ? "more than one" : "none", KINDS);
    const char *name = json_string_value(json_object_get(object, "name"));
    if (json_object_get(object, "name") && !name) return bad(r, "\"name\" needs a string");
    if (name && *r->meta->name && strcmp(name, r->meta->name))
        return bad(r, "the file names it \"%s\": the order of the arguments differs from the kernel's", name);
    TRY(read_kind(r, object, kind, out));
    return check_meta(r, out, kind);
}

static void list_arguments(const codeobj_kernel *k, text *out) {
    for (size_t i = 0; i < k->arg_count; i++)
        if (k->args[i].kind != ARG_HIDDEN)
            text_add(out, "%s%s%s%s, %u bytes", out->length ? "; " : "", k->args[i].name, *k->args[i].name ? ": " : "",
                     k->args[i].value_kind, k->args[i].size);
}
static cdnagen_status wrong_count(const char *path, size_t given, size_t wanted, const codeobj_kernel *k) {
    text list = {0};
    list_arguments(k, &list);
    const cdnagen_status s = fail(CDNAGEN_BAD_ARGUMENT, "%s: %zu arguments, kernel %s takes %zu%s%s", path, given,
                                  k->name, wanted, list.length ? ": " : "", list.length ? list.data : "");
    text_free(&list);
    return s;
}

static cdnagen_status read_all(const char *path, json_t *root, const codeobj_kernel *k, sim_args *out) {
    json_t *list = json_object_get(root, "args"), *lds = json_object_get(root, "lds_bytes");
    if (!json_is_object(root) || !json_is_array(list) || foreign_key(root, "args lds_bytes"))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: an object {\"args\": [...]} is needed, with \"lds_bytes\" at most beside it", path);
    if (lds && (!json_is_integer(lds) || json_integer_value(lds) < 0 || json_integer_value(lds) > INT32_MAX))
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: \"lds_bytes\" needs an integer, 0 or more", path);
    out->lds_bytes = (uint32_t)json_integer_value(lds);
    size_t wanted = 0;
    for (size_t i = 0; i < k->arg_count; i++) wanted += k->args[i].kind != ARG_HIDDEN;
    if (json_array_size(list) != wanted) return wrong_count(path, json_array_size(list), wanted, k);
    for (size_t i = 0; i < k->arg_count; i++) {
        if (k->args[i].kind == ARG_HIDDEN) continue;
        const reader r = {.path = path, .number = out->count + 1, .meta = &k->args[i]};
        sim_arg *a = &out->arg[out->count++];
        TRY(read_argument(&r, json_array_get(list, r.number - 1), a));
        for (const sim_arg *other = out->arg; a->write && other < a; other++)
            if (other->write && strcmp(a->write, other->write) == 0)
                return bad(&r, "argument %td writes to %s too; each buffer needs a file of its own",
                           other - out->arg + 1, a->write);
    }
    return CDNAGEN_OK;
}

cdnagen_status sim_args_read(const char *path, const codeobj_kernel *kernel, sim_args *out) {
    *out = (sim_args){0};
    uint64_t size = 0;
    TRY(file_size(path, &size));
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) return fail(CDNAGEN_BAD_ARGUMENT, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    const cdnagen_status status = read_all(path, root, kernel, out);
    json_decref(root);
    return status;
}

void sim_args_free(sim_args *a) {
    for (size_t i = 0; i < a->count; i++) {
        mem_free(a->arg[i].value);
        mem_free(a->arg[i].file);
        mem_free(a->arg[i].write);
    }
    *a = (sim_args){0};
}
