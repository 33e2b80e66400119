/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen version. */
#include "cli/cli.h"

int version_command(const cli *options) {
    (void)options;
    printf("cdnagen %s\n", cdnagen_version());
    return EXIT_OK;
}
