/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen list: operators, their grammars, and the tags that `auto` takes. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gen/family.h"

static cdnagen_status show_fields(const char *title, const field_table *table) {
    text help = {0};
    fields_help(table, &help);
    if (help.failed) return text_free(&help), fail_no_memory();
    printf("\n%s\n%s", title, help.data);
    text_free(&help);
    return CDNAGEN_OK;
}

/* show_routes: what `auto` means for the operator's example shapes. */
static void show_routes(const family *f, const target *t) {
    printf("\nroutes of %s:auto on %s\n", f->name, t->text);
    text name = {0};
    text_add(&name, "%s:auto", f->name);
    for (const char *const *shape = f->examples; *shape; shape++) {
        plan p;
        if (name.failed || plan_make(name.data, *shape, t, 0, &p))
            printf("  %-42s none: %s\n", *shape, cdnagen_error());
        else
            printf("  %-42s %s%s%s%s\n", *shape, p.tag, *p.waves_per_eu ? "  (amdgpu-waves-per-eu \"" : "",
                   p.waves_per_eu, *p.waves_per_eu ? "\")" : "");
    }
    text_free(&name);
}

static cdnagen_status show_operator(const char *name, const target *t) {
    const family *f = family_find(name, strlen(name));
    if (!f) return fail(CDNAGEN_BAD_ARGUMENT, "there is no operator \"%s\"; `cdnagen list` names them", name);
    printf("%s: %s\n", f->name, f->summary);
    TRY(show_fields("tag fields, joined by '_' in this order", &f->tag));
    TRY(show_fields("shape words", &f->shape));
    show_routes(f, t);
    return CDNAGEN_OK;
}

int list_command(const cli *options) {
    if (options->word_count > 1) return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "list takes one operator at most"));
    const char *const variable = getenv("CDNAGEN_TARGET");
    const char *const standard = variable && *variable ? variable : TARGET_STANDARD;
    target t;
    cdnagen_status status = target_parse(options->target ? options->target : standard, &t);
    if (!status && options->word_count) status = show_operator(options->words[0], &t);
    if (!status && !options->word_count)
        for (size_t i = 0; families[i]; i++) printf("%-16s %s\n", families[i]->name, families[i]->summary);
    return status ? fail_exit(status) : EXIT_OK;
}
