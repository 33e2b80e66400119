/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* push and pull against nginx on the loopback, and against servers that answer what they should not. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/cli/command.h"

#define GEN "gen mqa_logits:mfma32x32x64_bkv32_r1_w1_hfma "
#define STOP_NGINX "kill $(cat nginx.pid) && while test -e nginx.pid; do sleep 0.05; done"
enum { BAD_INPUT = 2, HASH_CHARS = 64 };
static int port;
static char hash[HASH_CHARS + 1]; /* of the pack p */

/* listening: a socket on a free port of the loopback. */
static int listening(int *at) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s >= 0);
    assert_int_equal(bind(s, (struct sockaddr *)&a, size), 0);
    assert_int_equal(listen(s, 8), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&a, &size), 0);
    *at = ntohs(a.sin_port);
    return s;
}

static outcome run(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static outcome run(int code, const char *format, ...) {
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    outcome o = command_run("no_proxy=127.0.0.1", words);
    if (o.code != code) fail_msg("%s: exit code %d: %s%s", words, o.code, o.out, o.err);
    return o;
}

/* refused: a pull that must fail with these words, and leave no file. */
static void refused(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refused(const char *what, const char *format, ...) {
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    outcome o = run(BAD_INPUT, "pull %s got", words);
    says(o.err, what);
    command_free(&o);
    command_shell("test -z \"$(ls -A | grep -E '^(got|[.]cdnagen)')\"");
}

static int shell_succeeds(const char *words) {
    char line[1024];
    snprintf(line, sizeof line, "cd %s && { %s; }", command_folder(), words);
    return system(line) == 0;
}

/* serve: nginx on a port that was free a moment ago. 0: it is not up, since another process has taken the port. */
static int serve(void) {
    close(listening(&port));
    char line[2048];
    snprintf(line, sizeof line,
             "mkdir -p www && printf '%s' '%sdaemon off; pid nginx.pid; events {} http { access_log off; "
             "client_body_temp_path t1; "
             "proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5; client_max_body_size 0; "
             "server { listen 127.0.0.1:%d; root www; location /store/ { dav_methods PUT; create_full_put_path on; } "
             "location /moved/ { rewrite ^/moved/(.*)$ /store/$1 redirect; } "
             "location /away/ { return 302 file:///etc/passwd; } "
             "location /closed/ { return 403; } } }' >nginx.conf",
             "%s", geteuid() ? "" : "user root; ", port);
    command_shell(line);
    return shell_succeeds(
        "PATH=$PATH:/usr/sbin; nginx -p $PWD/ -e error.log -c nginx.conf >nginx.log 2>&1 & server=$!; "
        "for i in $(seq 600); do test -s nginx.pid && exit; kill -0 $server 2>kill.log || break; sleep 0.1; "
        "done; kill $server 2>kill.log; exit 1");
}

static int start(void **state) {
    if (command_setup(state)) return -1;
    outcome o = run(0, GEN "heads=64 dim=128");
    command_free(&o);
    o = run(0, GEN "heads=32 dim=64");
    command_free(&o);
    o = run(0, "pack p");
    command_free(&o);
    if (!serve() && !serve()) fail_msg("nginx does not start: %s", command_read("nginx.log"));
    char push[64];
    snprintf(push, sizeof push, "push http://127.0.0.1:%d/store/ p", port);
    o = command_run("no_proxy=127.0.0.1", push);
    if (o.code || strlen(o.out) != HASH_CHARS + 1) {
        command_shell(STOP_NGINX); /* stop() is not called after a start that failed */
        fail_msg("%s: exit code %d: %s%s", push, o.code, o.out, o.err);
    }
    memcpy(hash, o.out, HASH_CHARS);
    command_free(&o);
    return 0;
}

static int stop(void **state) {
    command_shell(STOP_NGINX);
    return command_teardown(state);
}

static void what_was_pushed_is_pulled(void **state) {
    (void)state;
    command_shell("cmp p www/store/*");
    outcome o = run(0, "pull http://127.0.0.1:%d/store %s got", port, hash);
    says(o.out, "got\n");
    command_free(&o);
    command_shell("cmp p got && test \"$(stat -c %a got)\" = \"$(stat -c %a p)\" && CDNAGEN_CACHE_ONLY=1 "
                  "CDNAGEN_CACHE_DIR=got " CDNAGEN_COMMAND " " GEN "heads=64 dim=128 | grep 'hit (disk)'");
    command_shell("rm www/store/*");
    o = run(0, "pull http://127.0.0.1:%d/store %s got", port, hash); /* nothing is fetched */
    says(o.out, "got was there");
    command_free(&o);
}

static void redirections_are_followed_to_http_only(void **state) {
    (void)state;
    outcome o = run(0, "pull http://127.0.0.1:%d/moved %s got", port, hash);
    command_free(&o);
    command_shell("cmp p got && rm got");
    refused("file", "http://127.0.0.1:%d/away %s", port, hash);
    refused("file", "file://%s/www/store %s", command_folder(), hash);
    o = run(BAD_INPUT, "push http://127.0.0.1:%d/moved p", port); /* a PUT is not sent elsewhere */
    says(o.err, "the server answers 302");
    command_free(&o);
}

static void what_a_store_lost_or_changed_is_refused(void **state) {
    (void)state;
    refused("404", "http://127.0.0.1:%d/store %.63s%c", port, hash, hash[63] == '0' ? '1' : '0');
    refused("403", "http://127.0.0.1:%d/closed %s", port, hash);
    char flip[] = "printf '!' | dd of=$(ls www/store/*) bs=1 seek=200 conv=notrunc 2>log";
    command_shell(flip);
    refused("it is damaged or another file", "http://127.0.0.1:%d/store %s", port, hash);
    command_shell("truncate -s 300 www/store/*");
    refused("it is damaged or another file", "http://127.0.0.1:%d/store %s", port, hash);
    command_shell("truncate -s 0 www/store/*");
    refused("it is damaged or another file", "http://127.0.0.1:%d/store %s", port, hash);
    /* A file that is there stays as it was. */
    command_shell("echo old >got");
    outcome o = run(BAD_INPUT, "pull http://127.0.0.1:%d/store %s got", port, hash);
    command_free(&o);
    command_shell("test \"$(cat got)\" = old");
}

/* Under its right hash, but no pack: somebody else's file, or a pack that was damaged before it was stored. */
static void a_right_hash_of_no_sound_pack_is_refused(void **state) {
    (void)state;
    command_shell("cp p bad && printf '!' | dd of=bad bs=1 seek=$(($(stat -c %s p) - 9)) conv=notrunc 2>log");
    outcome o = run(BAD_INPUT, "push http://127.0.0.1:%d/store bad", port);
    says(o.err, "is damaged");
    command_free(&o);
    o = run(BAD_INPUT, "push http://127.0.0.1:%d/store nginx.conf", port);
    says(o.err, "cdnagen: ");
    command_free(&o);
    command_shell("test $(ls www/store | wc -l) = 1");
    static const char empty_hash[] =
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"; /* BLAKE3 of nothing */
    command_shell("touch www/store/af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    refused("it is no pack", "http://127.0.0.1:%d/store %s", port, empty_hash);
}

/* canned: a server of one connection that answers this and closes. */
static pid_t canned(const char *answer, int *at) {
    const int s = listening(at);
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        char request[4096];
        alarm(30); /* if nobody comes */
        const int c = accept(s, NULL, NULL);
        if (read(c, request, sizeof request) < 0) _exit(1);
        const ssize_t sent = write(c, answer, strlen(answer));
        shutdown(c, SHUT_RDWR);
        _exit(sent < 0);
    }
    close(s);
    return child;
}

static void answers_that_end_too_early_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *answer, *says;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ncdnapack", "GET http://127.0.0.1"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ncdnapack\r\n", "GET http://127.0.0.1"},
        {"HTTP/1.1 200 OK\r\n\r\ncdnapack", "it is damaged or another file"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n", "GET http://127.0.0.1"},
        {"HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nno!", "500"},
        {"HTTP/1.1 304 Not Modified\r\n\r\n", "the server answers 304"},
        {"no HTTP", "GET http://127.0.0.1"},
        {"", "GET http://127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int at, status;
        const pid_t child = canned(rows[i].answer, &at);
        refused(rows[i].says, "http://127.0.0.1:%d/x %s", at, hash);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    int at;
    close(listening(&at));
    refused("GET http://127.0.0.1", "http://127.0.0.1:%d/x %s", at, hash); /* nobody listens */
}

static void words_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *words, *says;
    } rows[] = {{"push", "the store's URL and the pack"},
                {"push http://127.0.0.1:1/x nowhere", "nowhere"},
                {"pull http://127.0.0.1:1/x", "the hash and the file to write"},
                {"pull http://127.0.0.1:1/x 123 got", "\"123\" is no hash"},
                {"pull http://127.0.0.1:1/x ../../etc/passwd got", "is no hash"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) command_refused(rows[i].words, rows[i].says);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(what_was_pushed_is_pulled),
        TEST(redirections_are_followed_to_http_only),
        TEST(what_a_store_lost_or_changed_is_refused),
        TEST(a_right_hash_of_no_sound_pack_is_refused),
        TEST(answers_that_end_too_early_are_refused),
        TEST(words_are_checked),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
