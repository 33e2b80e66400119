/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From words to a plan: what every operator shares. The operator itself decides through its family functions. */
#include "gen/family.h"

#include <assert.h>
#include <string.h>

enum { KERNEL_FIELDS = 1u << FIELD_KERNEL, ALL_FIELDS = 1u << FIELD_KERNEL | 1u << FIELD_HOST | 1u << FIELD_WORKLOAD };

typedef void printer(const field_table *table, const void *s, unsigned uses, text *out);

/* The canonical text of a struct in a plan's array of fixed size. */
static cdnagen_status print_text(printer *print, const field_table *table, const void *s, unsigned uses, size_t room,
                                 char *out) {
    text words = {0};
    print(table, s, uses, &words);
    cdnagen_status status = CDNAGEN_OK;
    if (words.failed)
        status = fail_no_memory();
    else if (words.length >= room)
        status = fail(CDNAGEN_LIMIT, "%s: the canonical %s has %zu characters and at most %zu fit",
                      table->operator_name, table->what, words.length, room - 1);
    else if (words.length)
        memcpy(out, words.data, words.length + 1);
    text_free(&words);
    return status;
}

/* operator_tag_facts in the characters of a C identifier: "heads=64 dim=128" reads "heads64_dim128". */
static cdnagen_status make_symbol(plan *p) {
    text words = {0};
    text_add(&words, "%s", p->family->name);
    if (*p->kernel_tag) text_add(&words, "_%s", p->kernel_tag);
    if (*p->facts) text_add(&words, "_%s", p->facts);
    cdnagen_status status = words.failed ? fail_no_memory() : CDNAGEN_OK;
    size_t length = 0;
    for (size_t i = 0; i < words.length && !status; i++) {
        const char c = words.data[i];
        if (c == '=') continue;
        if (length == SYMBOL_MAX - 1)
            status = fail(CDNAGEN_LIMIT, "the symbol %s is longer than the %d characters that fit", words.data,
                          SYMBOL_MAX - 1);
        else
            p->symbol[length++] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }
    text_free(&words);
    return status;
}

cdnagen_status plan_from_structs(const family *f, const void *variant, const void *shape, const target *t, plan *out) {
    if (!f || !variant || !shape || !t || !out)
        return fail(CDNAGEN_BAD_ARGUMENT, "plan_from_structs: family, variant, shape, target and out must not be NULL");
    assert(f->tag.struct_bytes <= VARIANT_BYTES_MAX && f->shape.struct_bytes <= SHAPE_BYTES_MAX);
    plan p = {.family = f, .target = *t};
    memcpy(p.variant, variant, f->tag.struct_bytes);
    memcpy(p.shape, shape, f->shape.struct_bytes);
    TRY(fields_check(&f->tag, p.variant));
    TRY(fields_check(&f->shape, p.shape));
    if (f->complete) f->complete(p.variant, p.shape);
    TRY(f->check(&p.target, p.variant, p.shape));
    TRY(print_text(tag_print, &f->tag, p.variant, ALL_FIELDS, sizeof p.tag, p.tag));
    TRY(print_text(tag_print, &f->tag, p.variant, KERNEL_FIELDS, sizeof p.kernel_tag, p.kernel_tag));
    TRY(print_text(shape_print, &f->shape, p.shape, ALL_FIELDS, sizeof p.shape_text, p.shape_text));
    TRY(print_text(shape_print, &f->shape, p.shape, KERNEL_FIELDS, sizeof p.facts, p.facts));
    TRY(make_symbol(&p));
    TRY(f->make_plan(&p));
    *out = p;
    return CDNAGEN_OK;
}

/* The operator that "op:rest" names; *rest is what follows the colon. */
static cdnagen_status find_operator(const char *tag, const family **out, const char **rest) {
    const size_t length = strcspn(tag, ":");
    const family *f = family_find(tag, length);
    if (f && tag[length]) {
        *out = f;
        *rest = tag + length + 1;
        return CDNAGEN_OK;
    }
    text known = {0};
    for (const family *const *each = families; *each; each++)
        text_add(&known, "%s%s", each > families ? ", " : "", (*each)->name);
    const cdnagen_status status =
        known.failed ? fail_no_memory()
        : f ? fail(CDNAGEN_BAD_TAG, "tag '%.160s' has no fields: write %s:FIELDS or %s:auto", tag, f->name, f->name)
        : tag[length]
            ? fail(CDNAGEN_BAD_TAG, "tag '%.160s' character 1: unknown operator '%.*s'; known: %s", tag,
                   (int)(length < 64 ? length : 64), tag, known.data)
            : fail(CDNAGEN_BAD_TAG, "tag '%.160s' names no operator: write OPERATOR:FIELDS or OPERATOR:auto; known: %s",
                   tag, known.data);
    text_free(&known);
    return status;
}

cdnagen_status plan_make(const char *tag, const char *shape, const target *t, int route_rank, plan *out) {
    if (!tag || !shape || !t || !out)
        return fail(CDNAGEN_BAD_ARGUMENT, "the tag, the shape, the target and the out-parameter must not be NULL");
    const family *f = NULL;
    const char *fields = "";
    TRY(find_operator(tag, &f, &fields));
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX] = {0};
    _Alignas(16) unsigned char words[SHAPE_BYTES_MAX] = {0};
    const int automatic = !strcmp(fields, "auto");
    if (!automatic) TRY(tag_parse(&f->tag, fields, variant));
    TRY(shape_parse(&f->shape, shape, words));
    if (automatic) TRY(f->route(t, words, route_rank, variant));
    return plan_from_structs(f, variant, words, t, out);
}
