/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files over HTTP. libcurl is opened when it is first needed: nothing else of the command or the library knows
 * it. */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <stdio.h>

#include "core/status.h"

/* http_put: send a file, from its start to its end.   http_get: append the answer's body to a file.
 * Credentials come from the URL or ~/.netrc, proxies from the environment, as libcurl reads them.
 * errors: IO (naming the URL and what went wrong: no connection, an answer that is no success, a body that is cut
 * short,
 *         60 s without a byte, more than HTTP_BYTES_MAX), UNAVAILABLE (no libcurl.so.4 of 7.85 or newer),
 *         NO_MEMORY */
#define HTTP_BYTES_MAX ((long long)16 << 30)
cdnagen_status http_put(const char *url, FILE *from);
cdnagen_status http_get(const char *url, FILE *to);

#endif
