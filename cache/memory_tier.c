/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory tier: a hash table of blobs by key text. A hit is a hash, one compare and a count, under a short lock. */
#include <string.h>

#include "cache/tiers.h"

/* Eight bytes a step: a key text is a few hundred bytes, and a byte a step would cost more than the rest of a hit. */
uint64_t memory_tier_hash(const void *key_text, size_t size) {
    const char *p = key_text;
    uint64_t h = size, word;
    for (; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, p, size);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* find: the slot of this key text, or the free one where it belongs. The table is never full. */
static struct memory_slot *find(const memory_tier *m, uint64_t hash, const char *key_text, size_t key_text_bytes) {
    for (size_t i = (size_t)hash;; i++) {
        struct memory_slot *slot = &m->slots[i & (m->capacity - 1)];
        if (!slot->blob) return slot;
        if (slot->hash == hash && slot->blob->key_text_bytes == key_text_bytes &&
            !memcmp(slot->blob->key_text, key_text, key_text_bytes))
            return slot;
    }
}

cache_blob *memory_tier_find(memory_tier *m, uint64_t hash, const char *key_text, size_t key_text_bytes) {
    if (!m->capacity) return NULL;
    struct memory_slot *slot = find(m, hash, key_text, key_text_bytes);
    if (slot->blob) slot->asked_for = 1;
    return slot->blob;
}

static int grow(memory_tier *m) {
    memory_tier larger = {
        .capacity = m->capacity ? 2 * m->capacity : 64, .count = m->count, .bytes = m->bytes, .limit = m->limit};
    larger.slots = mem_alloc(larger.capacity * sizeof *larger.slots);
    if (!larger.slots) return 0;
    for (size_t i = 0; i < m->capacity; i++) {
        const struct memory_slot *slot = &m->slots[i];
        if (slot->blob) *find(&larger, slot->hash, slot->blob->key_text, slot->blob->key_text_bytes) = *slot;
    }
    mem_free(m->slots);
    *m = larger;
    return 1;
}

/* empty: free a slot, and move up those behind it that a search would no longer reach. */
static void empty(memory_tier *m, size_t at) {
    const size_t mask = m->capacity - 1;
    m->count--;
    m->bytes -= m->slots[at].blob->file_bytes;
    cache_blob_release(m->slots[at].blob);
    for (size_t i = (at + 1) & mask; m->slots[i].blob; i = (i + 1) & mask)
        if (((i - (size_t)m->slots[i].hash) & mask) >= ((i - at) & mask)) {
            m->slots[at] = m->slots[i];
            at = i;
        }
    m->slots[at] = (struct memory_slot){0};
}

/* make_room: forget the first that the hand finds not asked for since it last passed. */
static void make_room(memory_tier *m, size_t wanted) {
    while (m->count && m->bytes + wanted > m->limit) {
        const size_t at = m->hand & (m->capacity - 1);
        if (m->slots[at].blob && !m->slots[at].asked_for) {
            empty(m, at);
            continue;
        }
        m->slots[at].asked_for = 0;
        m->hand++;
    }
}

void memory_tier_keep(memory_tier *m, uint64_t hash, cache_blob *b) {
    if (b->file_bytes > m->limit) return;
    make_room(m, b->file_bytes);
    if (2 * (m->count + 1) > m->capacity && !grow(m)) return;
    struct memory_slot *slot = find(m, hash, b->key_text, b->key_text_bytes);
    if (slot->blob)
        m->bytes -= slot->blob->file_bytes;
    else
        m->count++;
    m->bytes += b->file_bytes;
    cache_blob_retain(b);
    cache_blob_release(slot->blob);
    *slot = (struct memory_slot){hash, b, 0};
}

void memory_tier_free(memory_tier *m) {
    for (size_t i = 0; i < m->capacity; i++) cache_blob_release(m->slots[i].blob);
    mem_free(m->slots);
    *m = (memory_tier){0};
}
