/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen run: generate, load, launch on real data, check. */
#include "cli/cli.h"

static void show_step(void *user, check_step step) {
    (void)user;
    progress("%s", check_step_names[step]);
}

int run_command(const cli *options) {
    request r;
    cdnagen_status status = request_open(options, "auto", &r);
    if (status) return fail_exit(status);

    const char *device = NULL;
    status = cdnagen_device_name(r.ctx, &device);
    if (!status && !options->json) {
        printf("device       %s\n", device);
        if (*device_note()) printf("             %s\n", device_note());
        report_kernel(&r.info, r.wall_ms);
    }
    if (!status && options->dump) status = dump_write(options->dump, r.kernel, &r.info, options->json);
    if (!status && options->stats && !options->json) status = report_stats(r.kernel, &r.info);

    plan p;
    check_report check = {0};
    const check_options how = {.run_only = !options->check, .begin = show_step};
    if (!status) status = plan_of(&r.info, &p);
    if (!status) status = check_run(r.ctx, r.kernel, &p, &how, &check);
    progress("%s", "");
    if (!status && options->json) status = report_json(&r.info, device, options->check ? &check : NULL);
    if (!status && !options->json) report_check(&check);

    const int code = status ? fail_exit(status) : options->check && !check.grade.pass ? EXIT_CHECK_FAILED : EXIT_OK;
    request_close(&r);
    return code;
}
