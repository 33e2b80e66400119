/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Draws from one seed. */
#include "gen/gemm/draw.h"

#include <math.h>

#include "core/fp8.h"
#include "core/random.h"

void draw_bytes(int integers, fp8_kind kind, uint64_t seed, uint8_t draws[DRAWS]) {
    enum { INTEGER_MOST = 2 };
    const float most = fp8_max(kind);
    for (int i = 0; i < DRAWS; i++) {
        const float normal = (float)((double)most / 4 * random_normal(&seed));
        const float integer = (float)((int)(random64(&seed) % (2 * INTEGER_MOST + 1)) - INTEGER_MOST);
        draws[i] = fp8_from_f32(kind, integers ? integer : fmaxf(fminf(normal, most), -most));
    }
}

void draw_row(const uint8_t draws[DRAWS], uint64_t seed, int64_t row, int64_t count, uint8_t *out) {
    enum { BITS = 12, PICKS = 5 };
    uint64_t state = seed + (uint64_t)row * 0xd1342543de82ef95u;
    for (int64_t i = 0; i < count; i += PICKS) {
        uint64_t bits = random64(&state);
        for (int64_t j = i; j < i + PICKS && j < count; j++, bits >>= BITS) out[j] = draws[bits % DRAWS];
    }
}
