/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Faults of the file system: the shim stands before the C library (by link order, or by LD_PRELOAD) and lets one call
 * of the plan, by its number, fail, be the last one, stop the process, or do half of its work. */
#ifndef TESTS_CACHE_SHIM_H
#define TESTS_CACHE_SHIM_H

typedef enum shim_action {
    SHIM_COUNT,       /* nothing happens */
    SHIM_FAIL,        /* with `error` */
    SHIM_SHORT,       /* a read or write does half of its work */
    SHIM_KILL_BEFORE, /* SIGKILL instead of the call */
    SHIM_KILL_AFTER,  /* SIGKILL after the call, a write's after half of its bytes */
    SHIM_STOP,        /* SIGSTOP, and on after SIGCONT */
    SHIM_HOOK         /* `hook` is called first, its own calls not counted */
} shim_action;

typedef struct shim_plan {
    const char *under; /* only calls on this directory and what is below count */
    const char *call;  /* only this one counts, "openat"; NULL: every one that the shim knows */
    shim_action action;
    int at;      /* the number of the call, from 1 on */
    int lasting; /* every later one too */
    int error;
    void (*hook)(void *user);
    void *user;
} shim_plan;

/* shim_arm: from now on, of the whole process. The plan stays the caller's and in place. */
void shim_arm(const shim_plan *plan);
/* shim_disarm: how many calls counted. */
int shim_disarm(void);
/* shim_name: the call that the action met; "" if none. */
const char *shim_name(void);
/* shim_longest: characters of the longest name that was opened, made or renamed to since shim_arm; a path counts by its
 * last part. */
int shim_longest(void);

#endif
