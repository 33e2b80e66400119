/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which device a context has, and the public calls on its memory and streams. */
#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/hip.h"
#include "runtime/loaded.h"
#include "sim/sim.h"

cdnagen_status device_choose(const char *words, device_choice *choice, int *index) {
    static const struct {
        const char *word;
        device_choice choice;
    } known[] = {{"gpu", DEVICE_GPU}, {"sim", DEVICE_SIM}, {"auto", DEVICE_AUTO}, {"none", DEVICE_NONE}};
    *index = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(words, known[i].word)) return *choice = known[i].choice, CDNAGEN_OK;
    if (!strncmp(words, "gpu:", 4)) {
        const size_t digits = strspn(words + 4, "0123456789");
        if (digits >= 1 && digits <= 4 && !words[4 + digits]) {
            *choice = DEVICE_GPU;
            *index = atoi(words + 4);
            return CDNAGEN_OK;
        }
    }
    return fail(CDNAGEN_BAD_ARGUMENT, "device \"%s\" is not one of gpu, gpu:N, sim, auto, none", words);
}

int device_runs(const target *own, const target *t) {
    const int sramecc = !t->sramecc || t->sramecc == own->sramecc;
    const int xnack = !t->xnack || t->xnack == own->xnack;
    return own->chip == t->chip && sramecc && xnack;
}

static cdnagen_status prepare_gpu(int index, device *out, char note[DEVICE_NOTE_BYTES]) {
    TRY(hip_open(&out->hip));
    const hip_table *hip = out->hip;
    int count = 0;
    TRY(hip_check(hip, hip->get_device_count(&count), "hipGetDeviceCount"));
    if (index >= count)
        return fail(CDNAGEN_NO_DEVICE, "gpu:%d does not exist: HIP finds %d GPU%s, counted from 0", index, count,
                    count == 1 ? "" : "s");
    out->index = index;
    TRY(hip->device_target(index, &out->target));
    char product[128] = "";
    if (hip->device_get_name(product, sizeof product, index) != HIP_SUCCESS) product[0] = 0;
    product[sizeof product - 1] = 0;
    snprintf(out->name, sizeof out->name, "%s (%s)", *product ? product : "GPU", out->target.chip->name);
    out->cus = hip->cu_count(index);
    if (out->cus > 0) return CDNAGEN_OK;
    out->cus = out->target.chip->cus;
    snprintf(note, DEVICE_NOTE_BYTES, "HIP does not say how many compute units %s has: taking the full product's %d",
             out->name, out->cus);
    return CDNAGEN_OK;
}

static cdnagen_status prepare_sim(const target *wanted, const char *mode, device *out) {
    target own;
    if (wanted)
        own = *wanted;
    else
        TRY(target_parse(TARGET_STANDARD, &own));
    TRY(sim_open(own.chip, mode, &out->hip));
    out->index = 0;
    out->target = own;
    out->cus = out->hip->cu_count(0);
    if (out->cus <= 0) out->cus = own.chip->cus;
    snprintf(out->name, sizeof out->name, "simulator (%s)", own.chip->name);
    return CDNAGEN_OK;
}

cdnagen_status device_prepare(device_choice choice, int index, const target *wanted, const char *sim_mode, device *out,
                              char note[DEVICE_NOTE_BYTES]) {
    *out = (device){0};
    note[0] = 0;
    if (choice == DEVICE_NONE) return CDNAGEN_OK;
    if (choice == DEVICE_SIM) return prepare_sim(wanted, sim_mode, out);
    cdnagen_status s = prepare_gpu(index, out, note);
    if (!s && wanted && !device_runs(&out->target, wanted))
        s = fail(CDNAGEN_BAD_TARGET,
                 "GPU %d is %s and cannot run code for %s: leave the target out, or use device \"sim\" or \"none\"",
                 index, out->target.text, wanted->text);
    if (choice == DEVICE_GPU) return s;
    if (!s) return snprintf(note, DEVICE_NOTE_BYTES, "device auto: %s", out->name), CDNAGEN_OK;
    char why[400];
    snprintf(why, sizeof why, "%s", cdnagen_error());
    *out = (device){0};
    TRY(prepare_sim(wanted, sim_mode, out));
    snprintf(note, DEVICE_NOTE_BYTES, "device auto: %s, because: %s", out->name, why);
    return CDNAGEN_OK;
}

int device_is_gpu(const device *d) { return d->hip && strcmp(d->hip->provider, "simulator") != 0; }

cdnagen_status device_enter(const device *d, int *previous) {
    TRY(hip_check(d->hip, d->hip->get_device(previous), "hipGetDevice"));
    if (*previous == d->index) return CDNAGEN_OK;
    return hip_check(d->hip, d->hip->set_device(d->index), "hipSetDevice");
}

void device_leave(const device *d, int previous) {
    if (previous != d->index) d->hip->set_device(previous);
}

cdnagen_status device_clear(const device *d, void *ptr, size_t size, hip_stream stream) {
    if (!size) return CDNAGEN_OK;
    int previous;
    TRY(device_enter(d, &previous));
    const cdnagen_status s = hip_check(d->hip, d->hip->memset_async(ptr, 0, size, stream), "hipMemsetAsync");
    device_leave(d, previous);
    return s;
}

/* A context's device, current for this thread; NO_DEVICE if the context has none. */
static cdnagen_status enter(cdnagen **ctx, const device **d, int *previous) {
    TRY(context_of(ctx));
    TRY(context_ready(*ctx));
    *d = &(*ctx)->device;
    if (!(*d)->hip)
        return fail(CDNAGEN_NO_DEVICE,
                    "this context compiles only: its device is \"none\"; use \"gpu\", \"auto\" or \"sim\"");
    return device_enter(*d, previous);
}

cdnagen_status cdnagen_device_name(cdnagen *ctx, const char **name) {
    if (!name) return fail(CDNAGEN_BAD_ARGUMENT, "name is NULL: pass where the device's name is to go");
    TRY(context_of(&ctx));
    TRY(context_ready(ctx));
    *name = ctx->device.hip ? ctx->device.name : "none";
    return CDNAGEN_OK;
}

cdnagen_status cdnagen_alloc(cdnagen *ctx, size_t size, void **ptr) {
    if (!ptr) return fail(CDNAGEN_BAD_ARGUMENT, "ptr is NULL: pass where the device pointer is to go");
    if (!size) return fail(CDNAGEN_BAD_ARGUMENT, "bytes is 0: ask for at least one byte");
    const device *d;
    int previous;
    TRY(enter(&ctx, &d, &previous));
    void *fresh = NULL;
    const int mode = capture_relax(d->hip);
    const cdnagen_status s = hip_check(d->hip, d->hip->malloc(&fresh, size), "hipMalloc");
    capture_restore(d->hip, mode);
    device_leave(d, previous);
    if (s == CDNAGEN_HIP) return fail(s, "%s; %zu bytes were asked for", cdnagen_error(), size);
    if (!s) *ptr = fresh;
    return s;
}

cdnagen_status cdnagen_free_memory(cdnagen *ctx, void *ptr) {
    if (!ptr) return CDNAGEN_OK;
    const device *d;
    int previous;
    TRY(enter(&ctx, &d, &previous));
    const int mode = capture_relax(d->hip); /* a garbage collector frees when it likes */
    const cdnagen_status s = hip_check(d->hip, d->hip->free(ptr), "hipFree");
    capture_restore(d->hip, mode);
    device_leave(d, previous);
    if (s == CDNAGEN_HIP) return fail(s, "%s; %p is to be what cdnagen_alloc gave, once", cdnagen_error(), ptr);
    return s;
}

static cdnagen_status copy(cdnagen *ctx, void *to, const void *from, size_t size, int kind) {
    if (!size) return CDNAGEN_OK;
    if (!to || !from)
        return fail(CDNAGEN_BAD_ARGUMENT, "a copy of %zu bytes needs a device and a host pointer, one is NULL", size);
    const device *d;
    int previous;
    TRY(enter(&ctx, &d, &previous));
    const cdnagen_status s = hip_check(d->hip, d->hip->memcpy(to, from, size, kind), "hipMemcpy");
    device_leave(d, previous);
    if (s == CDNAGEN_HIP)
        return fail(s, "%s; %zu bytes were to go from %s memory at %p to %s memory at %p", cdnagen_error(), size,
                    kind == HIP_MEMCPY_HOST_TO_DEVICE ? "host" : "device", from,
                    kind == HIP_MEMCPY_HOST_TO_DEVICE ? "device" : "host", to);
    return s;
}

cdnagen_status cdnagen_copy_to_device(cdnagen *ctx, void *to, const void *host, size_t size) {
    return copy(ctx, to, host, size, HIP_MEMCPY_HOST_TO_DEVICE);
}

cdnagen_status cdnagen_copy_to_host(cdnagen *ctx, void *host, const void *from, size_t size) {
    return copy(ctx, host, from, size, HIP_MEMCPY_DEVICE_TO_HOST);
}

cdnagen_status cdnagen_synchronize(cdnagen *ctx, void *stream) {
    const device *d;
    int previous;
    TRY(enter(&ctx, &d, &previous));
    const cdnagen_status s = hip_check(d->hip, d->hip->stream_synchronize(stream), "hipStreamSynchronize");
    device_leave(d, previous);
    loaded_reap();
    return s;
}
