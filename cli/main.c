/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of commands, and what they have in common at the start and at the end. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct command {
    const char *name, *arguments, *summary;
    unsigned takes;
    int (*main)(const cli *options);
} commands[] = {
    {"run", "OP:TAG KEY=VALUE...", "generate a kernel and run it; --check compares every element with plain C",
     TAKES_TARGET | TAKES_DEVICE | TAKES_SIM | TAKES_CHECK | TAKES_NO_CACHE | TAKES_DUMP | TAKES_STATS | TAKES_JSON,
     run_command},
    {"gen", "OP:TAG KEY=VALUE...", "generate a kernel without a device; -o writes the code object",
     TAKES_TARGET | TAKES_NO_CACHE | TAKES_DUMP | TAKES_STATS | TAKES_JSON | TAKES_OUTPUT, gen_command},
    {"explain", "OP:TAG KEY=VALUE...", "model a kernel's cycles on the simulator: where they go, loop by loop",
     TAKES_TARGET | TAKES_DEVICE | TAKES_NO_CACHE | TAKES_JSON | TAKES_PARAMETERS | TAKES_TRACE | TAKES_DIAGNOSE,
     explain_command},
    {"annotate", "OP:TAG KEY=VALUE... | FILE.co --grid X[,Y,Z] --block X[,Y,Z] --args FILE.json",
     "print the ISA with modelled cycles, waits and LDS conflicts, loops marked",
     TAKES_TARGET | TAKES_NO_CACHE | TAKES_PARAMETERS | TAKES_LAUNCH, annotate_command},
    {"diff", "A B [KEY=VALUE...]",
     "compare two kernels, each OP:TAG or FILE.co: resources, mix per loop, modelled cycles",
     TAKES_TARGET | TAKES_NO_CACHE | TAKES_PARAMETERS | TAKES_LAUNCH, diff_command},
    {"sim", "FILE.co --grid X[,Y,Z] --block X[,Y,Z] --args FILE.json",
     "run any code object on the simulator, buffers from files or generators",
     TAKES_TARGET | TAKES_SIM | TAKES_LAUNCH | TAKES_TRACE, sim_command},
    {"precompile", "--jobs FILE | --routes --out DIR", "generate kernels ahead of time, for one target or several",
     TAKES_TARGET | TAKES_JOBS | TAKES_OUT_DIR, precompile_command},
    {"tune", "OP [--out DIR]",
     "search the fastest tags by class of shapes: measured on a GPU, else modelled; --out writes routes_CHIP.inc",
     TAKES_TARGET | TAKES_DEVICE | TAKES_SIM | TAKES_OUT_DIR | TAKES_TUNING, tune_command},
    {"pack", "FILE [ROOT...]", "put a cache's entries into one file, which can be a root of a cache", 0, pack_command},
    {"unpack", "FILE DIR", "put a pack's entries into a cache directory", 0, unpack_command},
    {"verify", "ROOT...", "read and check every entry of packs and cache directories, and list them", TAKES_JSON,
     verify_command},
    {"push", "URL FILE", "put a pack into an HTTP store, under the hash that is printed", 0, push_command},
    {"pull", "URL HASH FILE", "get a pack from an HTTP store, check it, then write it", 0, pull_command},
    {"list", "[OP]", "operators; with OP its tag fields, shape words and routed tags", TAKES_TARGET, list_command},
    {"cache", "info|verify|clear", "the kernel cache on disk", 0, cache_command},
    {"version", "", "versions of the library and of LLVM", 0, version_command},
    {"doctor", "", "device, HIP library, target, cache directory, LLVM, and what is wrong with them",
     TAKES_TARGET | TAKES_DEVICE | TAKES_SIM, doctor_command},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *to) {
    fprintf(to, "usage: cdnagen COMMAND ...\n\n");
    for (size_t i = 0; i < COMMANDS; i++) fprintf(to, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`cdnagen COMMAND --help` lists its options.\n"
                "Exit codes: 0 success, 1 a check or a job failed, 2 bad usage or input, 3 no GPU or HIP library,\n"
                "4 anything else.\n");
}

static void command_help(const struct command *c) {
    printf("usage: cdnagen %s%s%s\n\n%s\n", c->name, *c->arguments ? " " : "", c->arguments, c->summary);
    if (c->takes) printf("\n");
    options_help(c->takes, stdout);
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

/* A closed standard stream's number would go to the next file opened, a cache entry or an output, and what is printed
 * would end up in it. A directory in its place refuses to be read or written. */
static void occupy_standard_streams(void) {
    int fd;
    do fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
}

/* all_printed: the exit code, unless what was printed did not arrive. */
static int all_printed(int code) {
    const int lost = ferror(stdout);
    const int unclosed = fclose(stdout), error = unclosed ? errno : 0;
    if (!unclosed && !lost) return code;
    fprintf(stderr, "cdnagen: the output cannot be written: %s\n", error ? strerror(error) : "a write failed");
    return code ? code : EXIT_FAILED;
}

static int refuse_words(const struct command *c, const cli *options) {
    return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "%s takes no words, but \"%s\" was given", c->name, options->words[0]));
}

static int command_main(int argc, char **argv) {
    if (argc < 2) return usage(stderr), EXIT_BAD_INPUT;
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) return usage(stdout), EXIT_OK;
    if (!strcmp(argv[1], "--version")) argv[1] += 2;
    const struct command *c = find_command(argv[1]);
    if (!c) {
        fprintf(stderr, "cdnagen: there is no command \"%s\"\n", argv[1]);
        return usage(stderr), EXIT_BAD_INPUT;
    }
    cli options = {0};
    const cdnagen_status status = options_parse(c->takes, argc - 2, argv + 2, &options);
    if (status) return fail_exit(status);
    if (options.help) return command_help(c), EXIT_OK;
    if (options.word_count && !*c->arguments) return refuse_words(c, &options);
    return c->main(&options);
}

int main(int argc, char **argv) {
    /* LLVM allocates and frees arrays of several MB in many passes; by default each one is a mmap and a munmap, which
     * is a third of the time of a compile. The library leaves its host's malloc alone. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    mallopt(M_TOP_PAD, 64 << 20);
    occupy_standard_streams();
    return all_printed(command_main(argc, argv));
}
