/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts: options over environment over defaults, resolved once; the default context; the log. */
#include "runtime/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/capture.h"
#include "runtime/loaded.h"

enum { KERNELS_KEPT = 1024, KERNELS_KEPT_MAX = 1 << 20 };

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static cdnagen *default_context;

cdnagen_status sized_copy(const char *what, void *to, size_t to_bytes, size_t least, const void *from) {
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < least || size > SIZED_MAX || size % sizeof(size_t))
        return fail(CDNAGEN_BAD_ARGUMENT, "%s.size is %zu: set it to sizeof(%s), %zu here", what, size, what, to_bytes);
    for (size_t i = to_bytes; i < size; i++)
        if (((const unsigned char *)from)[i])
            return fail(CDNAGEN_BAD_ARGUMENT,
                        "%s has a field at byte %zu that this version of the library does not know: leave it zero",
                        what, i);
    memset(to, 0, to_bytes);
    memcpy(to, from, size < to_bytes ? size : to_bytes);
    memcpy(to, &to_bytes, sizeof to_bytes);
    return CDNAGEN_OK;
}

void context_log(const cdnagen *ctx, cdnagen_log_level level, const char *format, ...) {
    char line[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (ctx->log) {
        if (!atomic_load(&ctx->given_up)) ctx->log(ctx->log_user, level, line);
    } else if (level == CDNAGEN_LOG_WARNING)
        fprintf(stderr, "cdnagen: %s\n", line);
}

static void log_of_cache(void *user, cdnagen_log_level level, const char *line) {
    context_log(user, level, "%s", line);
}

/* option, else a variable that is set and not empty, else the default. */
static const char *settle(const char *option, const char *variable, const char *standard) {
    if (option) return option;
    const char *value = getenv(variable);
    return value && *value ? value : standard;
}

/* A variable that switches something: one of two words, or left out. */
static cdnagen_status read_switch(const char *variable, const char *yes, const char *no, int *out) {
    const char *value = settle(NULL, variable, no);
    *out = !strcmp(value, yes);
    if (*out || !strcmp(value, no)) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s=%s: it is \"%s\" or \"%s\"", variable, value, yes, no);
}

/* CDNAGEN_CACHE_BYTES: a number, or one of K, M, G, T of them. */
static cdnagen_status read_disk_bytes(size_t *out) {
    static const char units[] = "KMGT";
    const char *const value = settle(NULL, "CDNAGEN_CACHE_BYTES", "0");
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    const char *const unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*value < '0' || *value > '9' || errno || end[unit ? 1 : 0] || number > (SIZE_MAX >> shift))
        return fail(CDNAGEN_BAD_ARGUMENT, "CDNAGEN_CACHE_BYTES=%s: it is a number of bytes, or of K, M, G or T: 4G",
                    value);
    *out = (size_t)(number << shift);
    return CDNAGEN_OK;
}

static cdnagen_status open_cache(cdnagen *ctx, const cdnagen_options *options) {
    const char *const option = options->cache_dir, *why = "";
    size_t disk_bytes = options->disk_bytes;
    if (!disk_bytes) TRY(read_disk_bytes(&disk_bytes));
    char *found = option ? NULL : cache_default_roots(&why);
    const cache_options settled = {.roots = option ? option : found,
                                   .off = ctx->cache_off,
                                   .trust_all = ctx->cache_trust_all,
                                   .disk_bytes = disk_bytes,
                                   .memory_bytes = options->memory_bytes,
                                   .store = {options->store_get, options->store_put, options->store_user},
                                   .log = log_of_cache,
                                   .log_user = ctx};
    const cdnagen_status s = cache_open(&settled, &ctx->cache);
    if (!s && !option && !found && !ctx->cache_off)
        context_log(ctx, CDNAGEN_LOG_INFO, "kernels are cached in memory only: %s", why);
    mem_free(found);
    return s;
}

static cdnagen_status settle_options(cdnagen *ctx, const cdnagen_options *options) {
    ctx->spills = options->spills;
    ctx->log = options->log;
    ctx->log_user = options->log_user;
    if (options->spills != CDNAGEN_SPILLS_ALLOW && options->spills != CDNAGEN_SPILLS_REFUSE)
        return fail(CDNAGEN_BAD_ARGUMENT, "options.spills is %d: use CDNAGEN_SPILLS_ALLOW or _REFUSE", options->spills);
    TRY(device_choose(settle(options->device, "CDNAGEN_DEVICE", "gpu"), &ctx->device_choice, &ctx->device_index));
    const char *wanted = settle(options->target, "CDNAGEN_TARGET", NULL);
    if (wanted) TRY(target_parse(wanted, &ctx->target));
    ctx->target_given = wanted != NULL;
    if (!wanted && ctx->device_choice == DEVICE_NONE)
        return fail(CDNAGEN_BAD_TARGET,
                    "device \"none\" compiles for a target that must be named: set options.target or "
                    "CDNAGEN_TARGET, for example to gfx950");
    ctx->sim_mode = mem_strdup(settle(options->sim_mode, "CDNAGEN_SIM", ""));
    if (!ctx->sim_mode) return fail_no_memory();
    TRY(read_switch("CDNAGEN_CACHE", "off", "on", &ctx->cache_off));
    if (options->no_cache) ctx->cache_off = 1;
    TRY(read_switch("CDNAGEN_CACHE_ONLY", "1", "0", &ctx->cache_only));
    if (options->cache_only) ctx->cache_only = 1;
    TRY(read_switch("CDNAGEN_CACHE_TRUST", "all", "own", &ctx->cache_trust_all));
    if (options->trust_all) ctx->cache_trust_all = 1;
    TRY(read_switch("CDNAGEN_TUNE", "1", "0", &ctx->choices.asked));
    ctx->refuse_loads_in_capture = options->refuse_loads_in_capture;
    ctx->isolate = options->isolate;
    ctx->isolate_seconds = options->isolate_seconds;
    ctx->isolate_megabytes = options->isolate_megabytes;
    if (options->isolate_seconds < 0 || options->isolate_megabytes < 0)
        return fail(CDNAGEN_BAD_ARGUMENT, "options.isolate_seconds and isolate_megabytes are %d and %d: 0 is no limit",
                    options->isolate_seconds, options->isolate_megabytes);
    if (options->kernels_kept < 0 || options->kernels_kept > KERNELS_KEPT_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT, "options.kernels_kept is %d: from 1 to %d, or 0 for %d",
                    options->kernels_kept, KERNELS_KEPT_MAX, KERNELS_KEPT);
    if (options->reserved)
        return fail(CDNAGEN_BAD_ARGUMENT, "options.reserved is %d; this version has no use for it: leave it 0",
                    options->reserved);
    TRY(recall_init(&ctx->recall, options->kernels_kept ? options->kernels_kept : KERNELS_KEPT));
    return open_cache(ctx, options);
}

/* ---- forks: a child finds no lock held by a thread that it does not have ---- */

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static cdnagen *contexts;
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;
static int watch_failed;

static void before_fork(void) {
    pthread_mutex_lock(&default_lock);
    pthread_mutex_lock(&contexts_lock);
    for (cdnagen *c = contexts; c; c = c->next) {
        pthread_mutex_lock(&c->lock);
        pthread_mutex_lock(&c->recall.lock);
        pthread_mutex_lock(&c->choices.lock);
        cache_before_fork(c->cache);
    }
    loaded_before_fork();
    capture_before_fork();
}

static void after_fork(int in_child) {
    capture_after_fork();
    loaded_after_fork();
    for (cdnagen *c = contexts; c; c = c->next) {
        cache_after_fork(c->cache, in_child);
        pthread_mutex_unlock(&c->choices.lock);
        pthread_mutex_unlock(&c->recall.lock);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&contexts_lock);
    pthread_mutex_unlock(&default_lock);
}

static void after_fork_in_parent(void) { after_fork(0); }
static void after_fork_in_child(void) { after_fork(1); }
static void watch_forks(void) { watch_failed = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

static cdnagen_status join_contexts(cdnagen *ctx) {
    pthread_once(&forks_watched, watch_forks);
    if (watch_failed) return fail_no_memory();
    pthread_mutex_lock(&contexts_lock);
    ctx->next = contexts;
    contexts = ctx;
    pthread_mutex_unlock(&contexts_lock);
    return CDNAGEN_OK;
}

static void leave_contexts(const cdnagen *ctx) {
    pthread_mutex_lock(&contexts_lock);
    for (cdnagen **link = &contexts; *link; link = &(*link)->next)
        if (*link == ctx) {
            *link = ctx->next;
            break;
        }
    pthread_mutex_unlock(&contexts_lock);
}

/* ---- life ---- */

cdnagen_status cdnagen_create_context(const cdnagen_options *options, cdnagen **out) {
    if (!out) return fail(CDNAGEN_BAD_ARGUMENT, "out is NULL: pass where the context is to go");
    cdnagen_options known = {.size = sizeof known};
    if (options) TRY(sized_copy("cdnagen_options", &known, sizeof known, offsetof(cdnagen_options, device), options));
    cdnagen *ctx = mem_alloc(sizeof *ctx);
    if (!ctx) return fail_no_memory();
    atomic_init(&ctx->owners, 1);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->recall.lock, NULL);
    pthread_mutex_init(&ctx->choices.lock, NULL);
    cdnagen_status s = settle_options(ctx, &known);
    if (!s) s = join_contexts(ctx);
    if (s)
        cdnagen_free_context(ctx);
    else
        *out = ctx;
    return s;
}

void context_release(cdnagen *ctx) {
    if (atomic_fetch_sub_explicit(&ctx->owners, 1, memory_order_acq_rel) != 1) return;
    leave_contexts(ctx);
    loaded_retire_all(ctx);
    recall_free(&ctx->recall);
    choices_free(&ctx->choices);
    cache_close(ctx->cache);
    mem_free(ctx->sim_mode);
    pthread_mutex_destroy(&ctx->lock);
    mem_free(ctx);
}

void cdnagen_free_context(cdnagen *ctx) {
    if (!ctx) return;
    recall_clear(&ctx->recall);
    loaded_drop(ctx);
    atomic_store(&ctx->given_up, 1);
    context_release(ctx);
}

cdnagen_status context_of(cdnagen **ctx) {
    if (*ctx) return CDNAGEN_OK;
    pthread_mutex_lock(&default_lock);
    const cdnagen_status s = default_context ? CDNAGEN_OK : cdnagen_create_context(NULL, &default_context);
    *ctx = default_context;
    pthread_mutex_unlock(&default_lock);
    return s;
}

void cdnagen_shutdown(void) {
    pthread_mutex_lock(&default_lock);
    cdnagen *const ctx = default_context;
    default_context = NULL;
    pthread_mutex_unlock(&default_lock);
    cdnagen_free_context(ctx);
    loaded_reap();
}

static cdnagen_status make_ready(cdnagen *ctx, char note[DEVICE_NOTE_BYTES]) {
    TRY(device_prepare(ctx->device_choice, ctx->device_index, ctx->target_given ? &ctx->target : NULL, ctx->sim_mode,
                       &ctx->device, note));
    /* The plain chip, so that one cache entry serves every setting of its features. */
    if (!ctx->target_given) TRY(target_parse(ctx->device.target.chip->name, &ctx->target));
    atomic_store_explicit(&ctx->ready, 1, memory_order_release);
    return CDNAGEN_OK;
}

cdnagen_status context_ready(cdnagen *ctx) {
    if (atomic_load_explicit(&ctx->ready, memory_order_acquire)) return CDNAGEN_OK;
    char note[DEVICE_NOTE_BYTES] = "";
    pthread_mutex_lock(&ctx->lock);
    const int done = atomic_load_explicit(&ctx->ready, memory_order_relaxed);
    const cdnagen_status s = done ? CDNAGEN_OK : make_ready(ctx, note);
    pthread_mutex_unlock(&ctx->lock);
    if (!s && *note) context_log(ctx, CDNAGEN_LOG_INFO, "%s", note);
    return s;
}
