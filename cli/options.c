/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One table of options: which commands take which is a mask in the table of commands. */
#include <stddef.h>
#include <string.h>

#include "cli/cli.h"

typedef enum value_kind { VALUE_NONE, VALUE_NEEDED, VALUE_OPTIONAL } value_kind;

static const struct option {
    const char *name, *value, *help;
    unsigned bit;
    value_kind kind;
    size_t offset; /* of an int (VALUE_NONE) or a const char * in cli */
} options[] = {
    {"--target", "ID", "gfx950, gfx942:xnack-, ...; default: CDNAGEN_TARGET, the device's, " TARGET_STANDARD,
     TAKES_TARGET, VALUE_NEEDED, offsetof(cli, target)},
    {"--device", "NAME", "gpu, gpu:N, sim, auto; default: CDNAGEN_DEVICE, auto", TAKES_DEVICE, VALUE_NEEDED,
     offsetof(cli, device)},
    {"--sim", "WORDS",
     "run on the simulator; words are late, poison, check=LEVEL, threads=N, limit=N: --sim=late,poison", TAKES_SIM,
     VALUE_OPTIONAL, offsetof(cli, sim_mode)},
    {"--sim-check", "LEVEL", "on the simulator, stop at what hardware does not report: off, races, all", TAKES_SIM,
     VALUE_NEEDED, offsetof(cli, sim_check)},
    {"--check", NULL, "compare every element with the plain C reference", TAKES_CHECK, VALUE_NONE,
     offsetof(cli, check)},
    {"--no-cache", NULL, "neither read nor write any cache tier", TAKES_NO_CACHE, VALUE_NONE, offsetof(cli, no_cache)},
    {"--dump", "KINDS=DIR", "write ir, isa, obj to DIR/SYMBOL.ll, .s, .co: --dump ir,isa=DIR", TAKES_DUMP, VALUE_NEEDED,
     offsetof(cli, dump)},
    {"--stats", NULL, "also print the cache key and counts of instructions by kind", TAKES_STATS, VALUE_NONE,
     offsetof(cli, stats)},
    {"--json", NULL, "print one JSON object instead of text", TAKES_JSON, VALUE_NONE, offsetof(cli, json)},
    {"-o", "FILE", "write the code object to FILE", TAKES_OUTPUT, VALUE_NEEDED, offsetof(cli, output)},
    {"--jobs", "FILE", "one \"OP:TAG KEY=VALUE...\" a line, with lists and ranges; see docs/precompile.md", TAKES_JOBS,
     VALUE_NEEDED, offsetof(cli, jobs)},
    {"--routes", NULL, "in place of --jobs: every kernel that OP:auto chooses", TAKES_JOBS, VALUE_NONE,
     offsetof(cli, routes)},
    {"--out", "DIR", "what is written goes here; made if it is missing", TAKES_OUT_DIR, VALUE_NEEDED,
     offsetof(cli, out_dir)},
    {"--shard", "I/N", "the I-th of N parts, counted from 0; default: all of it", TAKES_JOBS, VALUE_NEEDED,
     offsetof(cli, shard)},
    {"-j", "N", "kernels at once; default: the CPUs that this process may use", TAKES_JOBS, VALUE_NEEDED,
     offsetof(cli, workers)},
    {"--timeout", "S", "seconds that one kernel may take", TAKES_JOBS, VALUE_NEEDED, offsetof(cli, timeout)},
    {"--memory", "MB", "memory that one kernel's process may take", TAKES_JOBS, VALUE_NEEDED, offsetof(cli, memory)},
    {"--parameters", "FILE", "lines \"name = value\" that replace parameters of the timing model", TAKES_PARAMETERS,
     VALUE_NEEDED, offsetof(cli, parameters)},
    {"--kernel", "NAME", "of the code object; may be left out if it has one only", TAKES_LAUNCH, VALUE_NEEDED,
     offsetof(cli, kernel)},
    {"--grid", "X[,Y,Z]", "workgroups", TAKES_LAUNCH, VALUE_NEEDED, offsetof(cli, grid)},
    {"--block", "X[,Y,Z]", "work-items of a workgroup", TAKES_LAUNCH, VALUE_NEEDED, offsetof(cli, block)},
    {"--args", "FILE", "the kernel's arguments as JSON; see docs/simulator.md", TAKES_LAUNCH, VALUE_NEEDED,
     offsetof(cli, args)},
    {"--trace", "FILE", "write a timeline of each modelled wave for Perfetto or chrome://tracing", TAKES_TRACE,
     VALUE_NEEDED, offsetof(cli, trace)},
    {"--db", "FILE", "what was found out, kept as it comes, so that a stopped search goes on; default cdnagen-tune.db",
     TAKES_TUNING, VALUE_NEEDED, offsetof(cli, db)},
    {"--shapes", "WORDS", "only classes whose shape has these words: --shapes \"heads=64 dim=128\"", TAKES_TUNING,
     VALUE_NEEDED, offsetof(cli, shapes)},
    {"--budget", "N", "variants timed a class at most, besides those in the file; default 40", TAKES_TUNING,
     VALUE_NEEDED, offsetof(cli, budget)},
    {"--diagnose", NULL, "what the kernel's time hangs on: with parts left out or done another way, and over lengths",
     TAKES_DIAGNOSE, VALUE_NONE, offsetof(cli, diagnose)},
    {"--help", NULL, "this text", TAKES_HELP, VALUE_NONE, offsetof(cli, help)},
};
enum { OPTIONS = sizeof options / sizeof *options };

void options_help(unsigned takes, FILE *to) {
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        if (!(o->bit & (takes | TAKES_HELP))) continue;
        char left[32];
        snprintf(left, sizeof left,
                 o->kind == VALUE_OPTIONAL ? "%s[=%s]"
                 : o->value                ? "%s %s"
                                           : "%s",
                 o->name, o->value);
        fprintf(to, "  %-18s %s\n", left, o->help);
    }
}

static cdnagen_status unknown(unsigned takes, const char *given) {
    text known = {0};
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].bit & (takes | TAKES_HELP)) text_add(&known, " %s", options[i].name);
    const cdnagen_status status =
        fail(CDNAGEN_BAD_ARGUMENT, "option %s is not known here; known are%s", given, known.failed ? "" : known.data);
    text_free(&known);
    return status;
}

/* take_option: the option at argv[*i], with its value there or in the next argument. */
static cdnagen_status take_option(unsigned takes, int argc, char **argv, int *i, cli *out) {
    const char *given = argv[*i];
    for (size_t k = 0; k < OPTIONS; k++) {
        const struct option *o = &options[k];
        const size_t n = strlen(o->name);
        if (!(o->bit & (takes | TAKES_HELP)) || strncmp(given, o->name, n) || (given[n] && given[n] != '=')) continue;
        void *to = (char *)out + o->offset;
        const char *value = given[n] ? given + n + 1 : NULL;
        if (o->kind == VALUE_NONE) {
            if (value) return fail(CDNAGEN_BAD_ARGUMENT, "%s takes no value, but \"%s\" was given", o->name, value);
            *(int *)to = 1;
            return CDNAGEN_OK;
        }
        if (!value && o->kind == VALUE_NEEDED && *i + 1 < argc) value = argv[++*i];
        if (!value && o->kind == VALUE_NEEDED)
            return fail(CDNAGEN_BAD_ARGUMENT, "%s needs a value: %s", o->name, o->value);
        *(const char **)to = value ? value : "";
        return CDNAGEN_OK;
    }
    return unknown(takes, given);
}

cdnagen_status options_parse(unsigned takes, int argc, char **argv, cli *out) {
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            TRY(take_option(takes, argc, argv, &i, out));
        } else {
            if (out->word_count == sizeof out->words / sizeof *out->words)
                return fail(CDNAGEN_BAD_ARGUMENT, "too many words: \"%s\" is number %zu", argv[i], out->word_count + 1);
            out->words[out->word_count++] = argv[i];
        }
    }
    return CDNAGEN_OK;
}
