/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Element types and fills of simulated buffers. */
#include "study/sim_data.h"

#include <string.h>

#include "core/fp8.h"
#include "core/random.h"

static uint64_t encode_integer(double x, fp8_kind fp8) {
    (void)fp8;
    return (uint64_t)(int64_t)x;
}
static uint64_t encode_f32(double x, fp8_kind fp8) {
    (void)fp8;
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static uint64_t encode_f16(double x, fp8_kind fp8) {
    (void)fp8;
    const _Float16 h = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}
static uint64_t encode_bf16(double x, fp8_kind fp8) {
    (void)fp8;
    return bf16_from_f32((float)x);
}
static uint64_t encode_fp8(double x, fp8_kind fp8) {
    const float most = fp8 == CDNAGEN_FP8_E4M3FN ? E4M3FN_MAX : E4M3FNUZ_MAX;
    const float f = x > most ? most : x < -most ? -most : (float)x;
    return fp8 == CDNAGEN_FP8_E4M3FN ? e4m3fn_from_f32(f) : e4m3fnuz_from_f32(f);
}

const sim_element sim_elements[SIM_ELEMENTS] = {{"u8", 1, 1, encode_integer}, {"i32", 4, 1, encode_integer},
                                                {"f32", 4, 0, encode_f32},    {"f16", 2, 0, encode_f16},
                                                {"bf16", 2, 0, encode_bf16},  {"fp8", 1, 0, encode_fp8}};

static double zeros(uint64_t index, uint64_t seed, int is_integer) {
    (void)index, (void)seed, (void)is_integer;
    return 0;
}
static double ones(uint64_t index, uint64_t seed, int is_integer) {
    (void)index, (void)seed, (void)is_integer;
    return 1;
}
static double iota(uint64_t index, uint64_t seed, int is_integer) {
    (void)seed, (void)is_integer;
    return (double)index;
}
/* An element does not depend on those before it. */
static double random_at(uint64_t index, uint64_t seed, int is_integer) {
    const uint64_t z = random_mix((seed * 0xd1342543de82ef95u + index + 1) * RANDOM_STEP);
    return is_integer ? (double)(uint32_t)z : (double)(z >> 40) / (1 << 23) - 1;
}

const sim_fill sim_fills[SIM_FILLS] = {{"zeros", zeros}, {"ones", ones}, {"iota", iota}, {"random", random_at}};
const sim_fill *const sim_fill_random = &sim_fills[3];

const sim_element *sim_element_find(const char *name) {
    for (size_t i = 0; i < SIM_ELEMENTS; i++)
        if (!strcmp(sim_elements[i].name, name)) return &sim_elements[i];
    return NULL;
}
const sim_fill *sim_fill_find(const char *name) {
    for (size_t i = 0; i < SIM_FILLS; i++)
        if (!strcmp(sim_fills[i].name, name)) return &sim_fills[i];
    return NULL;
}

void sim_data_make(void *to, uint64_t count, const sim_element *element, const sim_fill *fill, uint64_t seed,
                   fp8_kind fp8) {
    unsigned char *p = to;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bits = element->encode(fill->at(i, seed, element->is_integer), fp8);
        memcpy(p + i * element->bytes, &bits, element->bytes);
    }
}
