/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen doctor: what this machine has, and what is wrong with it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cache/trust.h"
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

/* trouble: why a cache root will not be used as it should, ending in what `untrusted` then says; "" if it will. */
static const char *trouble(const char *root, int written, char untrusted[TRUST_WHY_BYTES]) {
    struct stat st;
    const int fd = trust_open(root, O_PATH | O_CLOEXEC, cache_default_trust(), untrusted);
    if (fd >= 0) close(fd);
    if (*untrusted) return ": NOT TRUSTED: it ";
    if (stat(root, &st)) return "";
    if (S_ISREG(st.st_mode)) {
        pack *p = NULL;
        if (pack_open(root, 1, &p)) return ": NOT A PACK";
        pack_close(p);
        return ": a pack";
    }
    if (!S_ISDIR(st.st_mode)) return ": NOT A DIRECTORY";
    return !written ? ": read only" : access(root, W_OK | X_OK) ? ": NOT WRITABLE" : "";
}

static void show_cache(void) {
    const char *why = "", *const variable = getenv("CDNAGEN_CACHE");
    char *roots = cache_default_roots(&why);
    const int off = variable && !strcmp(variable, "off");
    if (off)
        printf("cache        none: CDNAGEN_CACHE=off\n");
    else if (!roots)
        printf("cache        memory only: %s\n", why);
    char *root;
    for (int i = 0; roots && !off && (root = cache_root(roots, (size_t)i)); i++) {
        char untrusted[TRUST_WHY_BYTES] = "";
        const char *const what = trouble(root, i == cache_writable_root(roots), untrusted);
        printf("%-12s %s (from %s)%s%s\n", i ? "" : "cache", root, why, what, untrusted);
        mem_free(root);
    }
    mem_free(roots);
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
