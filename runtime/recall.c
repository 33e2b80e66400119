/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A set-associative table of texts. */
#include "runtime/recall.h"

#include <string.h>

#include "core/memory.h"
#include "runtime/prepared.h"

/* FNV-1a over both texts, each with its NUL: "a" + "bc" is not "ab" + "c". */
static uint64_t hash_text(uint64_t hash, const char *words) {
    do hash = (hash ^ (unsigned char)*words) * 0x100000001b3u;
    while (*words++);
    return hash;
}

static uint64_t hash_both(const char *tag, const char *shape) {
    const uint64_t hash = hash_text(hash_text(0xcbf29ce484222325u, tag), shape);
    return hash ^ (hash >> 32);
}

static recall_slot *find(recall *r, uint64_t hash, const char *tag, const char *shape) {
    recall_slot *set = r->slots[hash % r->sets];
    for (int i = 0; i < RECALL_WAYS; i++)
        if (set[i].kernel && set[i].hash == hash && !strcmp(set[i].tag, tag) && !strcmp(set[i].shape, shape))
            return &set[i];
    return NULL;
}

cdnagen_status recall_init(recall *r, int kernels) {
    r->sets = ((size_t)kernels + RECALL_WAYS - 1) / RECALL_WAYS;
    r->slots = mem_alloc(r->sets * sizeof *r->slots);
    return r->slots ? CDNAGEN_OK : fail_no_memory();
}

static void empty(recall_slot *slot) {
    prepared_release(slot->kernel);
    mem_free(slot->tag);
    *slot = (recall_slot){0};
}

void recall_clear(recall *r) {
    for (size_t set = 0; r->slots && set < r->sets; set++)
        for (int way = 0; way < RECALL_WAYS; way++) empty(&r->slots[set][way]);
}

void recall_free(recall *r) {
    pthread_mutex_destroy(&r->lock);
    mem_free(r->slots);
}

prepared *recall_find(recall *r, const char *tag, const char *shape) {
    const uint64_t hash = hash_both(tag, shape);
    pthread_mutex_lock(&r->lock);
    const recall_slot *slot = find(r, hash, tag, shape);
    prepared *kernel = slot ? slot->kernel : NULL;
    if (kernel) prepared_retain(kernel);
    pthread_mutex_unlock(&r->lock);
    return kernel;
}

static recall_slot *place(recall *r, uint64_t hash) {
    recall_slot *set = r->slots[hash % r->sets];
    for (int i = 0; i < RECALL_WAYS; i++)
        if (!set[i].kernel) return &set[i];
    return &set[r->turn++ % RECALL_WAYS];
}

void recall_add(recall *r, const char *tag, const char *shape, prepared *kernel) {
    const size_t tag_bytes = strlen(tag) + 1, shape_bytes = strlen(shape) + 1;
    char *words = mem_alloc(tag_bytes + shape_bytes);
    if (!words) return;
    memcpy(words, tag, tag_bytes);
    memcpy(words + tag_bytes, shape, shape_bytes);
    recall_slot fresh = {hash_both(tag, shape), words, words + tag_bytes, kernel};
    prepared_retain(kernel);
    pthread_mutex_lock(&r->lock);
    if (!find(r, fresh.hash, tag, shape)) {
        recall_slot *slot = place(r, fresh.hash);
        const recall_slot old = *slot;
        *slot = fresh;
        fresh = old;
    }
    pthread_mutex_unlock(&r->lock);
    empty(&fresh);
}
