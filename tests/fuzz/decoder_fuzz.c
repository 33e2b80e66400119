/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: any bytes as a text section, decoded for a chip and run in a mode that the last four bytes choose:
 * as a kernel, then each instruction by itself. Whatever the code is, its waves end or there is a fault that says
 * why. */
#include <stdlib.h>
#include <string.h>

#include "sim/dispatch.h"
#include "sim/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTROL_BYTES = 4, REGISTERS = 512, BUFFER_BYTES = 4096, KERNARG_WORDS = 32, LDS_BYTES = 1024, LAUNCHES = 2000 };

typedef struct device {
    memory memory;
    uint64_t kernarg, packet;
    int launches;
} device;

/* device_open: arguments that are pointers to one buffer each: code that follows them finds memory. */
static void device_open(device *d) {
    if (memory_open(&d->memory)) abort();
    d->kernarg = memory_allocate(&d->memory, KERNARG_WORDS * sizeof(uint64_t), 1);
    d->packet = memory_allocate(&d->memory, 64, 1);
    if (!d->kernarg || !d->packet) abort();
    for (int i = 0; i < KERNARG_WORDS; i++) {
        const uint64_t buffer = memory_allocate(&d->memory, BUFFER_BYTES, 0);
        if (!buffer) abort();
        memcpy((unsigned char *)(uintptr_t)d->kernarg + i * sizeof buffer, &buffer, sizeof buffer);
    }
    d->launches = 0;
}

static void check_operand(const program *p, const inst *in, const operand *o) {
    if (o->kind == K_VGPR && o->index + o->count > REGISTERS) abort();
    if (o->kind == K_SGPR && o->index + o->count > SGPR_COUNT) abort();
    if (in->run && in->target > p->count) abort();
}

/* check_program: instructions follow each other, and every address is one's or inside one. */
static void check_program(const program *p, size_t size) {
    uint32_t at = 0;
    for (size_t i = 0; i < p->count; i++) {
        const inst *const in = &p->code[i];
        if (in->address != at || !in->bytes || in->bytes % 4 || in->op_count > OPERANDS_MAX || !in->text) abort();
        for (int o = 0; o < in->op_count; o++) check_operand(p, in, &in->op[o]);
        if (p->index_of[at / 4] != i) abort();
        at += in->bytes;
    }
    if (at > size || size - at >= 4) abort();
}

static launch launch_of(device *d, const program *p, const uint8_t control[CONTROL_BYTES], const chip *c) {
    enum { KERNARG_POINTER_BIT = 1 << 3, USER_SGPRS = 2 << 1, GROUP_IDS = 7 << 7, SLICE = 4096, SCRATCH_BYTES = 64 };
    return (launch){.chip = c,
                    .program = p,
                    .memory = &d->memory,
                    .late = control[0] >> 1 & 1,
                    .poison = control[0] >> 2 & 1,
                    .check_level = (check_level)((control[0] >> 3 & 3) % (CHECK_ALL + 1)),
                    .threads = 1,
                    .limit = SLICE,
                    .entry = p->code,
                    .rsrc1 = control[2],
                    .rsrc2 = USER_SGPRS | GROUP_IDS,
                    .properties = KERNARG_POINTER_BIT,
                    .vgprs = REGISTERS,
                    .kernarg = d->kernarg,
                    .packet = d->packet,
                    .grid = {1, 1, 1},
                    .block = {(control[3] & 127) + 1u, 1, 1},
                    .lds_bytes = LDS_BYTES,
                    .scratch_bytes = control[0] >> 5 & 1 ? SCRATCH_BYTES : 0};
}

static void run_kernel(launch l) {
    launch_run(&l);
    if (atomic_load(&l.faulted) && !*l.fault) abort();
}

/* run_each: code rarely reaches its end, so each instruction runs once more, after the one that stands before it. */
static void run_each(launch l) {
    group g;
    l.check_level = CHECK_OFF;
    if (!group_make(&g, &l)) abort();
    group_start(&g, 0);
    wave *const w = g.wave[0];
    for (size_t i = 0; i < l.program->count; i++) {
        w->pc = &l.program->code[i];
        w->state = WAVE_READY;
        wave_step(w);
        atomic_store(&l.faulted, 0);
    }
    group_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static device d;
    program p;
    if (size < CONTROL_BYTES) return 0;
    size -= CONTROL_BYTES;
    const uint8_t *const control = data + size;
    const chip *const c = &chips[control[0] & 1];
    unsigned char *const code = malloc(size ? size : 1);
    if (!code) return 0;
    memcpy(code, data, size);
    if (d.launches++ == LAUNCHES) memory_close(&d.memory);
    if (!d.memory.base) device_open(&d);
    const uint64_t base = (uint64_t)(uintptr_t)code;
    if (program_decode(c, code, size, base, 4 * ((control[1] & 63) + 1), REGISTERS, &p)) abort();
    check_program(&p, size);
    run_kernel(launch_of(&d, &p, control, c));
    run_each(launch_of(&d, &p, control, c));
    program_free(&p);
    free(code);
    return 0;
}
