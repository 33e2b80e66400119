/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen doctor: what this machine has, and what is wrong with it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cli/cli.h"
#include "runtime/compile.h"
#include "runtime/hip.h"

static void show_hip(void) {
    const hip_table *hip = NULL;
    if (hip_open(&hip))
        printf("HIP          %s\n", cdnagen_error());
    else
        printf("HIP          %s\n", hip->provider);
}

/* trouble: why a cache directory that exists will not be used; "" if it will. */
static const char *trouble(const char *dir) {
    struct stat st;
    if (stat(dir, &st)) return "";
    if (!S_ISDIR(st.st_mode)) return ": NOT A DIRECTORY";
    if (st.st_uid != geteuid() && st.st_uid != 0) return ": BELONGS TO ANOTHER USER";
    return access(dir, W_OK | X_OK) ? ": NOT WRITABLE" : "";
}

static void show_cache(void) {
    const char *why = "", *const variable = getenv("CDNAGEN_CACHE");
    char *dir = cache_default_dir(&why);
    if (variable && !strcmp(variable, "off"))
        printf("cache        none: CDNAGEN_CACHE=off\n");
    else if (!dir)
        printf("cache        memory only: %s\n", why);
    else
        printf("cache        %s (from %s)%s\n", dir, why, trouble(dir));
    mem_free(dir);
}

int doctor_command(const cli *options) {
    printf("library      %s\n", cdnagen_version());
    printf("LLVM         %s, passes %s\n", compile_llvm_version(), compile_pass_pipeline());
    show_hip();
    show_cache();
    cdnagen *ctx = NULL;
    const char *device = NULL;
    cdnagen_status status = context_open(options, "auto", &ctx);
    if (!status) status = cdnagen_device_name(ctx, &device);
    if (!status) printf("device       %s\n", device);
    if (!status && *device_note()) printf("             %s\n", device_note());
    for (size_t i = 0; i < CHIP_COUNT; i++)
        printf("target       %s: %s, %d CUs, %d bytes LDS a CU\n", chips[i].name, chips[i].product, chips[i].cus,
               chips[i].lds_bytes);
    const int code = status ? fail_exit(status) : EXIT_OK;
    cdnagen_free_context(ctx);
    return code;
}
