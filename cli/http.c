/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* GET and PUT by libcurl. */
#include "cli/http.h"

#include <curl/curl.h>
#include <dlfcn.h>

#undef curl_easy_setopt /* macros that check types of direct calls */
#undef curl_easy_getinfo

/* What is used of libcurl, by name. */
#define FUNCTIONS(X)                                                                                                   \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_setopt)                                                                                                \
    X(curl_easy_perform)                                                                                               \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_easy_strerror)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} curl;

static cdnagen_status open_curl(void) {
    static const char file[] = "libcurl.so.4";
    void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(CDNAGEN_UNAVAILABLE, "push and pull need %s, which cannot be opened: %s", file, dlerror());
#define FIND(name)                                                                                                     \
    *(void **)&curl.name = dlsym(library, #name);                                                                      \
    if (!curl.name) return fail(CDNAGEN_UNAVAILABLE, "%s has no function %s", file, #name);
    FUNCTIONS(FIND)
#undef FIND
    return CDNAGEN_OK;
}

typedef struct body {
    FILE *file;
    long long bytes;
} body;

/* keep: libcurl's way to give a piece of an answer; taking less than all of it ends the transfer. */
static size_t keep(char *piece, size_t size, size_t count, void *user) {
    body *b = user;
    b->bytes += (long long)(size * count);
    return b->bytes > HTTP_BYTES_MAX ? 0 : fwrite(piece, 1, size * count, b->file);
}

static size_t drop(char *piece, size_t size, size_t count, void *user) {
    (void)piece, (void)user;
    return size * count;
}

static cdnagen_status set_common(CURL *c, const char *url, char *why) {
    static const char protocols[] = "http,https";
    CURLcode held = curl.curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, protocols);
    if (!held) held = curl.curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    if (held == CURLE_OUT_OF_MEMORY) return fail_no_memory();
    if (held)
        return fail(CDNAGEN_UNAVAILABLE, "push and pull need libcurl 7.85 or newer, which can be held to %s: %s",
                    protocols, curl.curl_easy_strerror(held));
    curl.curl_easy_setopt(c, CURLOPT_URL, url);
    curl.curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
    curl.curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    curl.curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl.curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 30L);
    curl.curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl.curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, 60L);
    curl.curl_easy_setopt(c, CURLOPT_USERAGENT, "cdnagen");
    return CDNAGEN_OK;
}

/* perform: the transfer that was set up, which must end in an answer of 200 to 299. */
static cdnagen_status perform(CURL *c, const char *method, const char *url, const char *why) {
    const CURLcode code = curl.curl_easy_perform(c);
    long answer = 0;
    curl.curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &answer);
    if (code == CURLE_OUT_OF_MEMORY) return fail_no_memory();
    if (code) return fail(CDNAGEN_IO, "%s %s: %s", method, url, *why ? why : curl.curl_easy_strerror(code));
    if (answer < 200 || answer > 299) return fail(CDNAGEN_IO, "%s %s: the server answers %ld", method, url, answer);
    return CDNAGEN_OK;
}

cdnagen_status http_put(const char *url, FILE *from) {
    char why[CURL_ERROR_SIZE] = "";
    TRY(open_curl());
    const off_t size = fseeko(from, 0, SEEK_END) ? -1 : ftello(from);
    if (size < 0 || fseeko(from, 0, SEEK_SET)) return fail(CDNAGEN_IO, "PUT %s: the file has no length", url);
    CURL *const c = curl.curl_easy_init();
    if (!c) return fail_no_memory();
    cdnagen_status status = set_common(c, url, why);
    curl.curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
    curl.curl_easy_setopt(c, CURLOPT_READDATA, from);
    curl.curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size);
    curl.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop);
    if (!status) status = perform(c, "PUT", url, why);
    curl.curl_easy_cleanup(c);
    return status;
}

cdnagen_status http_get(const char *url, FILE *to) {
    char why[CURL_ERROR_SIZE] = "";
    TRY(open_curl());
    CURL *const c = curl.curl_easy_init();
    if (!c) return fail_no_memory();
    body b = {.file = to};
    cdnagen_status status = set_common(c, url, why);
    curl.curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl.curl_easy_setopt(c, CURLOPT_MAXREDIRS, 8L);
    curl.curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L); /* the text of an error is no pack */
    curl.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, keep);
    curl.curl_easy_setopt(c, CURLOPT_WRITEDATA, &b);
    if (!status) status = perform(c, "GET", url, why);
    curl.curl_easy_cleanup(c);
    if (b.bytes > HTTP_BYTES_MAX)
        return fail(CDNAGEN_IO, "GET %s: the answer is longer than %lld bytes", url, HTTP_BYTES_MAX);
    return status;
}
