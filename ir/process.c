/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The only process state of code generation: LLVM started once, its fatal error handler, lld's lock, and a target
 * machine per thread. */
#include "ir/context.h"

#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step that is running on this thread: where a fatal error goes back to. */
typedef struct guard {
    jmp_buf back;
    char reason[IR_MESSAGE_MAX];
} guard;
static _Thread_local guard *running;

typedef struct machine {
    LLVMTargetMachineRef machine;
    char target[sizeof((target *)0)->text];
} machine;

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_key_t machine_key;
static int start_failed, forks_unwatched;
static pthread_mutex_t lld_lock = PTHREAD_MUTEX_INITIALIZER;

/* Held shared by each step that runs, exclusively by a fork: a child finds no lock of LLVM held and none of its tables
 * half made, whatever other threads were compiling. A fork so waits for the steps that run. */
#define STEPS_UNLOCKED PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t steps = STEPS_UNLOCKED;

static void before_fork(void) {
    process_lock_lld();
    pthread_rwlock_wrlock(&steps);
}
static void after_fork_in_parent(void) {
    pthread_rwlock_unlock(&steps);
    process_unlock_lld();
}
static void after_fork_in_child(void) {
    steps = (pthread_rwlock_t)STEPS_UNLOCKED; /* it is held by a thread id that the child does not have */
    process_unlock_lld();
}

/* The destructors of LLVM and lld, which libcdnagen.so registers here (cmake/library.cmake): none runs, as it is never
 * unloaded, and at the process's end another thread may still be compiling. */
int __wrap___cxa_atexit(void (*destroy)(void *), void *object, void *library);
int __wrap___cxa_atexit(void (*destroy)(void *), void *object, void *library) {
    (void)destroy, (void)object, (void)library;
    return 0;
}

/* When the library is loaded: at the first step it would be too late for a fork during that step. */
__attribute__((constructor)) static void watch_forks(void) {
    forks_unwatched = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* LLVM aborts the process when this returns; it does so only for a fatal error outside of a guarded step. The C++
 * frames between are abandoned, and with them what they held (process_guard marks it lost). */
static void fatal(const char *reason) {
    guard *const g = running;
    if (!g) return;
    snprintf(g->reason, sizeof g->reason, "%s", reason);
    longjmp(g->back, 1);
}

static void free_machine(void *p) {
    machine *const m = p;
    if (m->machine) LLVMDisposeTargetMachine(m->machine);
    mem_free(m);
}

static void start(void) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
    LLVMInstallFatalErrorHandler(fatal);
    start_failed = pthread_key_create(&machine_key, free_machine) || forks_unwatched;
}

static cdnagen_status start_once(void) {
    pthread_once(&started, start);
    return start_failed
               ? fail(CDNAGEN_COMPILE, "no thread-specific storage or no fork handler is left for the compiler")
               : CDNAGEN_OK;
}

/* At the end of a thread, and of the main one before the handlers of atexit, C++ destroys what LLVM and lld keep for
 * it: from then on it can generate no more. */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle;
static _Thread_local int end_is_watched, has_ended;
static void note_end(void *ended) { *(int *)ended = 1; }

static cdnagen_status thread_must_live(const char *what) {
    if (!end_is_watched) end_is_watched = !__cxa_thread_atexit_impl(note_end, &has_ended, &__dso_handle);
    return has_ended
               ? fail(CDNAGEN_COMPILE, "%s: this thread, or the process, is at its end: generate kernels before", what)
               : CDNAGEN_OK;
}

static cdnagen_status run_guarded(const char *what, cdnagen_status (*step)(void *of), void *of, int *lost) {
    TRY(start_once());
    TRY(thread_must_live(what));
    if (*lost) return fail(CDNAGEN_COMPILE, "%s: an earlier step ended in a fatal error of LLVM", what);
    guard g;
    guard *const outer = running;
    if (setjmp(g.back)) {
        running = outer;
        *lost = 1;
        machine *const m = pthread_getspecific(machine_key);
        if (m) m->machine = NULL; /* its state is unknown: abandoned with the rest */
        return fail(CDNAGEN_COMPILE, "%s: fatal error of LLVM: %s", what, g.reason);
    }
    running = &g;
    const cdnagen_status status = step(of);
    running = outer;
    return status;
}

cdnagen_status process_guard(const char *what, cdnagen_status (*step)(void *of), void *of, int *lost) {
    if (running) return run_guarded(what, step, of, lost);
    pthread_rwlock_rdlock(&steps);
    const cdnagen_status status = run_guarded(what, step, of, lost);
    pthread_rwlock_unlock(&steps);
    return status;
}

static LLVMTargetMachineRef make_machine(const target *t) {
    LLVMTargetRef llvm = NULL;
    char *said = NULL;
    if (LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &llvm, &said)) {
        fail(CDNAGEN_COMPILE, "LLVM has no AMDGPU target: %s", said);
        LLVMDisposeMessage(said);
        return NULL;
    }
    char features[64];
    snprintf(features, sizeof features, "%s%s%s",
             !t->sramecc      ? ""
             : t->sramecc > 0 ? "+sramecc"
                              : "-sramecc",
             t->sramecc && t->xnack ? "," : "",
             !t->xnack      ? ""
             : t->xnack > 0 ? "+xnack"
                            : "-xnack");
    /* The levels above make the same loops and take an eighth longer. */
    return LLVMCreateTargetMachine(llvm, "amdgcn-amd-amdhsa", t->chip->name, features, LLVMCodeGenLevelLess,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

cdnagen_status process_machine(const target *t, LLVMTargetMachineRef *out) {
    machine *m = pthread_getspecific(machine_key);
    if (!m) {
        m = mem_alloc(sizeof *m);
        if (!m) return fail_no_memory();
        if (pthread_setspecific(machine_key, m)) {
            mem_free(m);
            return fail_no_memory();
        }
    }
    if (m->machine && strcmp(m->target, t->text)) {
        LLVMDisposeTargetMachine(m->machine);
        m->machine = NULL;
    }
    if (!m->machine) {
        m->machine = make_machine(t);
        if (!m->machine) return CDNAGEN_COMPILE;
        snprintf(m->target, sizeof m->target, "%s", t->text);
    }
    *out = m->machine;
    return CDNAGEN_OK;
}

void process_lock_lld(void) { pthread_mutex_lock(&lld_lock); }
void process_unlock_lld(void) { pthread_mutex_unlock(&lld_lock); }
