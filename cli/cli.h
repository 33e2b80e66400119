/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cdnagen command: one function a command, one struct of options for all of them. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdint.h>
#include <stdio.h>

#include "core/memory.h"
#include "core/status.h"
#include "study/check.h"

/* Exit codes. */
enum {
    EXIT_OK = 0,
    EXIT_CHECK_FAILED = 1, /* a result does not pass its check, or a job of `precompile` failed */
    EXIT_BAD_INPUT = 2,    /* options, tag, shape, target, limits, files that were named */
    EXIT_NO_GPU = 3,       /* no HIP library or no device */
    EXIT_FAILED = 4        /* everything else: compiler, HIP call, faulting kernel, memory */
};
int exit_code_of(cdnagen_status status);

typedef struct cli {
    const char *target, *device, *sim_mode, *sim_check, *dump, *output, *jobs, *out_dir, *parameters;
    const char *kernel, *grid, *block, *args, *trace;
    const char *db, *shapes, *budget;
    const char *shard, *workers, *timeout, *memory;
    int check, no_cache, stats, json, help, routes, diagnose;
    int refuse_spills;     /* no option: the tuner counts them and says nothing of each */
    const char *words[64]; /* what is not an option */
    size_t word_count;
} cli;

/* Options, as bits: which of them a command takes. */
enum {
    TAKES_TARGET = 1 << 0,
    TAKES_DEVICE = 1 << 1,
    TAKES_SIM = 1 << 2,
    TAKES_CHECK = 1 << 3,
    TAKES_NO_CACHE = 1 << 4,
    TAKES_DUMP = 1 << 5,
    TAKES_STATS = 1 << 6,
    TAKES_JSON = 1 << 7,
    TAKES_OUTPUT = 1 << 8,
    TAKES_JOBS = 1 << 9,
    TAKES_OUT_DIR = 1 << 10,
    TAKES_HELP = 1 << 11, /* every command does */
    TAKES_PARAMETERS = 1 << 12,
    TAKES_LAUNCH = 1 << 13, /* --kernel, --grid, --block, --args */
    TAKES_TRACE = 1 << 14,
    TAKES_TUNING = 1 << 15, /* --db, --shapes, --budget */
    TAKES_DIAGNOSE = 1 << 16
};

/* options_parse: argv after the command -> *out.   errors: BAD_ARGUMENT, naming the option, listing the known */
cdnagen_status options_parse(unsigned takes, int argc, char **argv, cli *out);
void options_help(unsigned takes, FILE *to);

/* sim_mode_words: what --sim and --sim-check were given as words of the simulator's mode, "" for neither. --sim-check
 * alone adds to CDNAGEN_SIM.   errors: BAD_ARGUMENT (too long) */
enum { SIM_MODE_BYTES = 128 };
cdnagen_status sim_mode_words(const cli *options, char mode[SIM_MODE_BYTES]);

/* context_open: a context for the options; `device` is what holds when neither option nor environment name one. */
cdnagen_status context_open(const cli *options, const char *device, cdnagen **out);

/* find_gpu: the chip of the GPU that the options lead to, "" if it is the simulator that they lead to. */
cdnagen_status find_gpu(const cli *options, char id[64]);

/* request: the words "op:tag key=value ..." as one generated kernel with its facts. */
typedef struct request {
    cdnagen *ctx;
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info;
    double wall_ms; /* of gen_kernel */
} request;
cdnagen_status request_open(const cli *options, const char *device, request *out);
void request_close(request *r);

/* plan_of: the plan that a kernel was made from. */
cdnagen_status plan_of(const cdnagen_kernel_info *info, plan *out);

/* dump_write: "ir,isa,obj=DIR" -> DIR/SYMBOL.ll, .s, .co.   errors: BAD_ARGUMENT, IO */
cdnagen_status dump_write(const char *dump, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, int quiet);

/* Reports. `device` NULL: nothing ran; `check` NULL: nothing was checked. */
void report_kernel(const cdnagen_kernel_info *info, double wall_ms);
void report_check(const check_report *check);
cdnagen_status report_stats(cdnagen_kernel *kernel, const cdnagen_kernel_info *info);
cdnagen_status report_json(const cdnagen_kernel_info *info, const char *device, const check_report *check);

/* print_object: one JSON object on standard output.   owner: takes it; NULL is NO_MEMORY */
struct json_t;
cdnagen_status print_object(struct json_t *all);

/* progress: a line on the terminal that the next one overwrites; nothing where stderr is no terminal. "" clears it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* fail_exit: print the thread's error and give the status's exit code. */
int fail_exit(cdnagen_status status);

/* What the library told at CDNAGEN_LOG_INFO about the choice of the device; "" if nothing. */
const char *device_note(void);

int run_command(const cli *options);
int gen_command(const cli *options);
int precompile_command(const cli *options);
int list_command(const cli *options);
int cache_command(const cli *options);
int pack_command(const cli *options);
int unpack_command(const cli *options);
int verify_command(const cli *options);
int push_command(const cli *options);
int pull_command(const cli *options);
int sim_command(const cli *options);
int version_command(const cli *options);
int doctor_command(const cli *options);
int explain_command(const cli *options);
int diagnose_command(const cli *options); /* explain --diagnose */
int annotate_command(const cli *options);
int diff_command(const cli *options);
int tune_command(const cli *options);

#endif
