/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Answers by key, and the timing that finds them: events on the caller's stream, candidates in turns. */
#include "runtime/choices.h"

#include <string.h>

#include "core/memory.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/hip.h"
#include "runtime/inspect.h"
#include "runtime/kernel.h"

/* TURNS: the first brings the clocks up for all candidates alike. Of a turn one launch warms the caches. */
enum { TURNS = 3, LAUNCHES = 5 };

/* ---- answers ---- */

static choice_entry *find(choices *t, const char *key) {
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->answers[i].key, key)) return &t->answers[i];
    return NULL;
}

int choices_find(choices *t, const char *key, choice_texts *out) {
    pthread_mutex_lock(&t->lock);
    const choice_entry *const a = find(t, key);
    if (a) *out = a->is;
    pthread_mutex_unlock(&t->lock);
    return a != NULL;
}

static cdnagen_status add(choices *t, const char *key, const choice_texts *is) {
    choice_entry *const grown = mem_realloc(t->answers, (t->count + 1) * sizeof *grown);
    if (!grown) return fail_no_memory();
    t->answers = grown;
    choice_entry *const a = &grown[t->count];
    a->key = mem_strdup(key);
    if (!a->key) return fail_no_memory();
    a->is = *is;
    t->count++;
    return CDNAGEN_OK;
}

/* claim: the default becomes the answer until there is a better one. *claimed: 0 where another thread came first, or
 * there is no room. */
static cdnagen_status claim(choices *t, const char *key, const choice_texts *is, int *claimed) {
    pthread_mutex_lock(&t->lock);
    *claimed = !find(t, key) && t->count < CHOICES_MAX;
    const cdnagen_status s = *claimed ? add(t, key, is) : CDNAGEN_OK;
    pthread_mutex_unlock(&t->lock);
    return s;
}

/* settle: NULL: there is no answer after all. */
static void settle(choices *t, const char *key, const choice_texts *is) {
    pthread_mutex_lock(&t->lock);
    choice_entry *const a = find(t, key);
    if (a && is) {
        a->is = *is;
    } else if (a) {
        mem_free(a->key);
        *a = t->answers[--t->count];
    }
    pthread_mutex_unlock(&t->lock);
}

void choices_free(choices *t) {
    for (size_t i = 0; i < t->count; i++) mem_free(t->answers[i].key);
    mem_free(t->answers);
    pthread_mutex_destroy(&t->lock);
}

/* ---- timing ---- */

/* contest: what is held while candidates are timed. A kernel that is NULL takes no part. */
typedef struct contest {
    cdnagen *ctx;
    const choice_job *job;
    hip_stream stream;
    hip_event start, stop;
    cdnagen_kernel **kernels;
    float *best_ms;
} contest;

#define HIP(call, name) TRY(hip_check(c->ctx->device.hip, c->ctx->device.hip->call, name))

/* drop: candidate i takes no part, whatever is wrong with it: the default can serve the call. */
static void drop(contest *c, size_t i) {
    cdnagen_free_kernel(c->kernels[i]);
    c->kernels[i] = NULL;
}

static cdnagen_status make_kernels(contest *c) {
    for (size_t i = 0; i < c->job->count; i++) {
        const cdnagen_status s =
            gen_kernel(c->ctx, c->job->candidates[i].tag, c->job->candidates[i].words, &c->kernels[i]);
        if (s && !i) return s;
        if (!s && i && spills(&c->kernels[i]->prepared->loaded->resources)) drop(c, i);
    }
    return CDNAGEN_OK;
}

static cdnagen_status time_once(contest *c, size_t i) {
    float ms = 0;
    TRY(c->job->launch(c->kernels[i], c->job->args, c->stream));
    HIP(event_record(c->start, c->stream), "hipEventRecord");
    for (int n = 0; n < LAUNCHES; n++) TRY(c->job->launch(c->kernels[i], c->job->args, c->stream));
    HIP(event_record(c->stop, c->stream), "hipEventRecord");
    HIP(event_synchronize(c->stop), "hipEventSynchronize");
    HIP(event_elapsed_time(&ms, c->start, c->stop), "hipEventElapsedTime");
    if (c->best_ms[i] <= 0 || ms < c->best_ms[i]) c->best_ms[i] = ms;
    return CDNAGEN_OK;
}

static cdnagen_status run(contest *c, size_t *winner) {
    HIP(event_create(&c->start), "hipEventCreate");
    HIP(event_create(&c->stop), "hipEventCreate");
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < c->job->count; i++) {
            if (!c->kernels[i]) continue;
            const cdnagen_status s = time_once(c, i);
            if (s && (!i || s != CDNAGEN_LIMIT)) return s;
            if (s) drop(c, i); /* too many tiles of its size for one launch */
        }
    *winner = 0;
    for (size_t i = 1; i < c->job->count; i++)
        if (c->kernels[i] && c->best_ms[i] < c->best_ms[*winner]) *winner = i;
    return CDNAGEN_OK;
}

static cdnagen_status hold(contest *c, size_t *winner) {
    int previous;
    c->kernels = mem_alloc(c->job->count * sizeof(cdnagen_kernel *));
    c->best_ms = mem_alloc(c->job->count * sizeof *c->best_ms);
    cdnagen_status s = c->kernels && c->best_ms ? make_kernels(c) : fail_no_memory();
    if (!s) s = device_enter(&c->ctx->device, &previous);
    if (!s) {
        const int mode = capture_relax(c->ctx->device.hip);
        s = run(c, winner);
        if (s) c->ctx->device.hip->stream_synchronize(c->stream); /* what was queued may still use the kernels */
        if (c->start) c->ctx->device.hip->event_destroy(c->start);
        if (c->stop) c->ctx->device.hip->event_destroy(c->stop);
        capture_restore(c->ctx->device.hip, mode);
        device_leave(&c->ctx->device, previous);
    }
    if (!s)
        context_log(c->ctx, CDNAGEN_LOG_INFO, "tuned %s: %s, %.3f us; the default %s takes %.3f us", c->job->key,
                    c->job->candidates[*winner].tag, 1e3 * (double)c->best_ms[*winner] / (double)LAUNCHES,
                    c->job->candidates[0].tag, 1e3 * (double)c->best_ms[0] / (double)LAUNCHES);
    for (size_t i = 0; c->kernels && i < c->job->count; i++) cdnagen_free_kernel(c->kernels[i]);
    mem_free(c->kernels);
    mem_free(c->best_ms);
    return s;
}

/* captures: whether a stream is known to; the device becomes current to be asked. */
static cdnagen_status captures(const device *d, hip_stream stream, int *out) {
    int previous;
    TRY(device_enter(d, &previous));
    *out = capture_note(d->hip, stream) || capture_any(d->hip);
    device_leave(d, previous);
    return CDNAGEN_OK;
}

cdnagen_status choices_make(cdnagen *ctx, const choice_job *job, void *stream, choice_texts *out) {
    const device *const d = &ctx->device;
    choices *const t = &ctx->choices;
    int captured = 0, claimed = 0;
    *out = job->candidates[0];
    if (d->hip) TRY(captures(d, stream, &captured));
    if (captured) {
        context_log(ctx, CDNAGEN_LOG_INFO, "%s is not tuned while a stream captures: %s is taken", job->key, out->tag);
        return CDNAGEN_OK;
    }
    TRY(claim(t, job->key, out, &claimed));
    if (!claimed) return CDNAGEN_OK;
    if (!device_is_gpu(d)) {
        context_log(ctx, CDNAGEN_LOG_INFO, "%s is not tuned, for nothing can be timed without a GPU: %s is taken",
                    job->key, out->tag);
        return CDNAGEN_OK;
    }
    size_t winner = 0;
    contest c = {.ctx = ctx, .job = job, .stream = stream};
    const cdnagen_status s = hold(&c, &winner);
    if (!s) *out = job->candidates[winner];
    settle(t, job->key, s ? NULL : out);
    return s;
}
