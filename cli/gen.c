/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen gen: from tag to code object, on any machine. */
#include "cli/cli.h"
#include "study/files.h"

int gen_command(const cli *options) {
    request r;
    cdnagen_status status = request_open(options, "none", &r);
    if (status) return fail_exit(status);
    if (options->output) status = write_file(NULL, options->output, "", r.info.object, r.info.object_bytes);
    if (!status && options->dump) status = dump_write(options->dump, r.kernel, &r.info, options->json);
    if (!status && options->json) {
        status = report_json(&r.info, NULL, NULL);
    } else if (!status) {
        report_kernel(&r.info, r.wall_ms);
        if (options->stats) status = report_stats(r.kernel, &r.info);
        if (options->output) printf("wrote        %s, %zu bytes\n", options->output, r.info.object_bytes);
    }
    const int code = status ? fail_exit(status) : EXIT_OK;
    request_close(&r);
    return code;
}
