/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fork() while another thread links: the parent's link ends whatever becomes of the child, and the child can
 * compile. */
#include "tests/ir/kernel.h" /* before sys/wait.h, which names a macro WAIT_ANY */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 8, CHILD_SECONDS = 20, JOIN_SECONDS = 20 };

static ir *open_finished(bytes *object) {
    ir *e = open_kernel("gfx950");
    store_out(e, e_f32(e, 1));
    return finish(e, object) == CDNAGEN_OK ? e : NULL;
}

typedef struct linker {
    ir *kernel;
    atomic_int stop, links, failures;
} linker;

static void *link_again_and_again(void *p) {
    linker *const l = p;
    while (!atomic_load(&l->stop)) {
        bytes object = {0};
        atomic_fetch_add(ir_link(l->kernel, &object) ? &l->failures : &l->links, 1);
        bytes_free(&object);
    }
    return NULL;
}

/* The child says whether it compiled, and lives on until it is killed, as a worker process does. */
static pid_t fork_child(int report) {
    const pid_t child = fork();
    if (child) return child;
    alarm(CHILD_SECONDS);
    bytes object = {0};
    const char done = open_finished(&object) ? 'y' : 'n';
    if (write(report, &done, 1) != 1) _exit(1);
    for (;;) pause();
}

static void a_fork_while_a_thread_links(void **state) {
    (void)state;
    bytes first = {0};
    linker l = {.kernel = open_finished(&first)};
    assert_non_null(l.kernel);
    bytes_free(&first);
    pthread_t thread;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, link_again_and_again, &l), 0);
    pid_t children[CHILDREN];
    int forked = 0, compiled = 0;
    while (forked < CHILDREN) {
        const pid_t child = fork_child(ends[1]);
        assert_true(child > 0);
        children[forked++] = child;
        const int before = atomic_load(&l.links);
        char done = 0;
        if (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, CHILD_SECONDS * 1000) == 1)
            assert_int_equal(read(ends[0], &done, 1), 1);
        if (done != 'y') break;
        compiled++;
        /* the next fork meets another link */
        for (int ms = 0; atomic_load(&l.links) == before && ms < 1000; ms++) usleep(1000);
    }
    atomic_store(&l.stop, 1);
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += JOIN_SECONDS;
    const int late = pthread_timedjoin_np(thread, NULL, &deadline);
    for (int i = 0; i < forked; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    if (late) pthread_join(thread, NULL);
    assert_int_equal(late, 0);
    assert_int_equal(compiled, CHILDREN);
    assert_int_equal(l.failures, 0);
    assert_true(l.links > 0);
    close(ends[0]);
    close(ends[1]);
    ir_free(l.kernel);
}

/* In a process of its own, which has compiled nothing yet: children are forked all along its first compile. */
enum { ROUNDS = 2, FIRST_CHILDREN = 16, FIRST_SECONDS = 60 };

static void *compile_first(void *p) {
    (void)p;
    bytes object = {0};
    return open_finished(&object);
}

static int fork_during_the_first_compile(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compile_first, NULL)) return 2;
    for (int i = 0; i < FIRST_CHILDREN; i++) {
        const pid_t child = fork();
        if (child < 0) return 3;
        if (!child) {
            alarm(FIRST_SECONDS);
            _exit(compile_first(NULL) ? 0 : 1);
        }
        usleep(500);
    }
    int bad = 0, status;
    for (int i = 0; i < FIRST_CHILDREN; i++) bad += wait(&status) < 0 || status;
    void *compiled = NULL;
    pthread_join(thread, &compiled);
    if (bad) fprintf(stderr, "%d of %d children did not compile\n", bad, FIRST_CHILDREN);
    return bad || !compiled ? 4 : 0;
}

static void forks_during_the_first_compile(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            alarm(3 * FIRST_SECONDS);
            _exit(fork_during_the_first_compile());
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forks_during_the_first_compile),
                                       cmocka_unit_test(a_fork_while_a_thread_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
