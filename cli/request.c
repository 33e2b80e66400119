/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What run, gen and doctor share: a context for the options, a kernel for the words, errors and exit codes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/clock.h"

int exit_code_of(cdnagen_status status) {
    switch (status) {
    case CDNAGEN_OK: return EXIT_OK;
    case CDNAGEN_BAD_ARGUMENT:
    case CDNAGEN_BAD_TAG:
    case CDNAGEN_BAD_SHAPE:
    case CDNAGEN_BAD_TARGET:
    case CDNAGEN_LIMIT:
    case CDNAGEN_NOT_YET:
    case CDNAGEN_SPILLS:
    case CDNAGEN_BAD_OBJECT:
    case CDNAGEN_IO:
    case CDNAGEN_CACHE_MISS: return EXIT_BAD_INPUT;
    case CDNAGEN_NO_HIP:
    case CDNAGEN_NO_DEVICE: return EXIT_NO_GPU;
    default: return EXIT_FAILED;
    }
}

void progress(const char *format, ...) {
    if (!isatty(STDERR_FILENO)) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    va_end(arguments);
}

int fail_exit(cdnagen_status status) {
    progress("%s", "");
    fprintf(stderr, "cdnagen: %s (%s)\n", cdnagen_error(), cdnagen_status_name(status));
    return exit_code_of(status);
}

static char note[1024];

const char *device_note(void) { return note; }

static void on_log(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    if (level == CDNAGEN_LOG_WARNING) {
        progress("%s", "");
        fprintf(stderr, "cdnagen: %s\n", line);
    } else if (!strncmp(line, "device ", strlen("device "))) {
        snprintf(note, sizeof note, "%s", line);
    }
}

cdnagen_status sim_mode_words(const cli *options, char mode[SIM_MODE_BYTES]) {
    const char *given = options->sim_mode;
    if (!given && options->sim_check) given = getenv("CDNAGEN_SIM");
    const int length = snprintf(mode, SIM_MODE_BYTES, "%s%s%s", given ? given : "", options->sim_check ? " check=" : "",
                                options->sim_check ? options->sim_check : "");
    if (length < SIM_MODE_BYTES) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "the simulator's mode is %d characters long: at most %d are read", length,
                SIM_MODE_BYTES - 1);
}

cdnagen_status context_open(const cli *options, const char *device, cdnagen **out) {
    const char *named = getenv("CDNAGEN_DEVICE");
    char mode[SIM_MODE_BYTES];
    TRY(sim_mode_words(options, mode));
    const int simulated = options->sim_mode || options->sim_check;
    if (simulated) {
        if (options->device && strcmp(options->device, "sim"))
            return fail(CDNAGEN_BAD_ARGUMENT, "--sim and --device %s contradict each other", options->device);
        device = "sim";
    } else if (options->device) {
        device = options->device;
    } else if (named && *named && strcmp(device, "none")) {
        device = named;
    }
    const char *wanted = options->target;
    const char *standard = getenv("CDNAGEN_TARGET");
    if (!wanted && !strcmp(device, "none") && (!standard || !*standard)) wanted = TARGET_STANDARD;
    const cdnagen_options o = {.size = sizeof o,
                               .target = wanted,
                               .device = device,
                               .sim_mode = simulated ? mode : NULL,
                               .no_cache = options->no_cache,
                               .spills = options->refuse_spills ? CDNAGEN_SPILLS_REFUSE : CDNAGEN_SPILLS_ALLOW,
                               .log = on_log};
    return cdnagen_create_context(&o, out);
}

static cdnagen_status generate(const cli *options, request *r) {
    if (!options->word_count)
        return fail(CDNAGEN_BAD_ARGUMENT, "what kernel? Give OP:TAG and the shape's KEY=VALUE words; `cdnagen list` "
                                          "shows both");
    text shape = {0};
    for (size_t i = 1; i < options->word_count; i++) text_add(&shape, i > 1 ? " %s" : "%s", options->words[i]);
    cdnagen_status status = shape.failed ? fail_no_memory() : CDNAGEN_OK;
    const double started = clock_ms();
    progress("generating");
    if (!status) status = gen_kernel(r->ctx, options->words[0], shape.data ? shape.data : "", &r->kernel);
    r->wall_ms = clock_ms() - started;
    progress("%s", "");
    text_free(&shape);
    TRY(status);
    r->info.size = sizeof r->info;
    return cdnagen_get_kernel_info(r->kernel, &r->info);
}

cdnagen_status request_open(const cli *options, const char *device, request *out) {
    *out = (request){0};
    cdnagen_status status = context_open(options, device, &out->ctx);
    if (!status) status = generate(options, out);
    if (status) request_close(out);
    return status;
}

void request_close(request *r) {
    cdnagen_free_kernel(r->kernel);
    cdnagen_free_context(r->ctx);
    *r = (request){0};
}

cdnagen_status plan_of(const cdnagen_kernel_info *info, plan *out) {
    target t;
    TRY(target_parse(info->target, &t));
    text tag = {0};
    text_add(&tag, "%s:%s", info->op, info->tag);
    const cdnagen_status status = tag.failed ? fail_no_memory() : plan_make(tag.data, info->shape, &t, 0, out);
    text_free(&tag);
    return status;
}
