/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Instructions across lanes and between the register files: expands sim/isa/lane.def. */
#include "sim/convert.h"
#include "sim/lane_math.h"
#include "sim/wave.h"

static uint32_t lane_word(const wave *w, const operand *o, int word, int lane) {
    if (o->kind == K_VGPR) return w->vgpr[o->index + word][lane];
    return (uint32_t)(scalar_read(w, o, word ? T_u64 : T_u32) >> (32 * word));
}
static void exchange(uint32_t *a, uint32_t *b) {
    const uint32_t t = *a;
    *a = *b;
    *b = t;
}
static void swap_lanes(wave *w, int d, int d_lane, int s, int s_lane) {
    const uint64_t exec = wave_exec(w);
    const uint32_t to_d = w->vgpr[s][s_lane], to_s = w->vgpr[d][d_lane];
    if (exec >> d_lane & 1) w->vgpr[d][d_lane] = to_d;
    if (exec >> s_lane & 1) w->vgpr[s][s_lane] = to_s;
}

#define EXEC wave_exec(w)
#define L(name, types, ...)                                                                                            \
    static void name(wave *w, const inst *in) { __VA_ARGS__; }
#include "sim/isa/lane.def"
#undef L

run_function *lane_runner(int effect) {
#define L(name, ...) name,
    static run_function *const runners[] = {
#include "sim/isa/lane.def"
    };
    return runners[effect];
}
