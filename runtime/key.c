/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The key's text, and the version line that names the same identities. */
#include "runtime/key.h"

#include "cdnagen_build_id.h"
#include "runtime/compile.h"

#include <pthread.h>
#include <stdio.h>

cdnagen_status key_text(const plan *p, text *out) {
    text_add(out, "operator %s\n", p->family->name);
    text_add(out, "tag %s\n", p->kernel_tag);
    text_add(out, "waves_per_eu %s\n", *p->waves_per_eu ? p->waves_per_eu : "unset");
    text_add(out, "shape %s\n", p->facts);
    text_add(out, "target %s\n", p->target.text);
    text_add(out, "code_object %d\n", CODE_OBJECT_VERSION);
    text_add(out, "kernarg %u\n", p->kernarg_version);
    text_add(out, "generator %s\n", CDNAGEN_BUILD_ID);
    text_add(out, "llvm %s\n", compile_llvm_version());
    text_add(out, "passes %s\n", compile_pass_pipeline());
    return out->failed ? fail_no_memory() : CDNAGEN_OK;
}

static char version[160];

static void write_version(void) {
    snprintf(version, sizeof version, "%d.%d.%d build %s llvm %s", CDNAGEN_VERSION_MAJOR, CDNAGEN_VERSION_MINOR,
             CDNAGEN_VERSION_PATCH, CDNAGEN_BUILD_ID, compile_llvm_version());
}

const char *cdnagen_version(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_version);
    return version;
}
