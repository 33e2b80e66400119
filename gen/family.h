/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an operator is to the rest of the project: grammars, checks, plan, launch, and a workload for runs and tests. */
#ifndef GEN_FAMILY_H
#define GEN_FAMILY_H

#include "core/chip.h"
#include "core/codeobj.h"
#include "core/field.h"
#include "core/memory.h"

typedef struct family family;

typedef enum kernarg_kind { KERNARG_POINTER, KERNARG_I32, KERNARG_I64 } kernarg_kind;

typedef struct kernarg {
    const char *name;
    kernarg_kind kind;
    uint32_t offset; /* bytes in the kernarg segment */
} kernarg;

enum { VARIANT_BYTES_MAX = 256, SHAPE_BYTES_MAX = 256, PLAN_KERNARGS_MAX = 32, SYMBOL_MAX = 256, SHAPE_TEXT_MAX = 640 };

/* plan: everything that is decided about a kernel before code is emitted; nothing is decided elsewhere. */
typedef struct plan {
    const family *family;
    target target;
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX]; /* the family's own variant struct */
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX];     /* the family's own shape struct */
    char tag[SYMBOL_MAX];                                  /* canonical, host fields included */
    char kernel_tag[SYMBOL_MAX];                           /* canonical, kernel fields only */
    char shape_text[SHAPE_TEXT_MAX];                       /* canonical, all words */
    char facts[SYMBOL_MAX];                                /* canonical, specialised words only */
    char symbol[SYMBOL_MAX]; /* operator + kernel fields + facts, letters, digits and '_' */
    /* filled by the family's plan(): */
    uint32_t block[3];           /* work items */
    uint32_t grid[3];            /* for the run-time words given, before a device is known; zeros if left out */
    uint32_t lds_bytes;          /* static LDS */
    char waves_per_eu[16];       /* text of "amdgpu-waves-per-eu", "" = attribute not set */
    uint32_t waves_per_eu_asked; /* wpe field, 0 = none */
    kernarg kernargs[PLAN_KERNARGS_MAX];
    size_t kernarg_count;
    uint32_t kernarg_bytes;
    uint32_t kernarg_version; /* argument-layout version, in the key */
} plan;

/* launch: what a bind() makes of typed arguments. */
typedef struct launch {
    uint32_t grid[3];
    _Alignas(8) unsigned char kernarg[256];
    size_t kernarg_bytes;
    int skip;   /* nothing to do: success without a launch */
    void *zero; /* with skip: device memory that becomes zeros, in the stream's order */
    size_t zero_bytes;
    const char *note; /* for the log: what was decided without knowing enough; NULL: nothing. static */
} launch;

/* device_facts: what a launch decision may know about the device. */
typedef struct device_facts {
    int cus;
    uint32_t workgroups_per_cu; /* of this kernel, 0 = unknown */
    int diagnosis;              /* kernels whose results are wrong by design may be launched */
} device_facts;

/* problem: host data of one run, in the order of the family's buffers. */
typedef struct problem_buffer {
    const char *name;
    size_t bytes;
    int output; /* device content before the launch is `data` all the same (a poison pattern) */
    void *data; /* NULL: whatever the device's memory holds will do */
} problem_buffer;
enum { PROBLEM_BUFFERS_MAX = 16 };
typedef struct problem {
    problem_buffer buffers[PROBLEM_BUFFERS_MAX];
    size_t buffer_count;
    void *reference; /* filled by the family's reference() */
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX];
    uint64_t seed;
} problem;
void problem_release(problem *p);

/* figure: one rule's number; it passes up to its limit. */
typedef struct figure {
    const char *name;
    double value, limit;
} figure;
enum { FIGURES_MAX = 4, GRADE_NO_MASK = -1 };

/* grade: the specification's rules, each with its figure. */
typedef struct grade {
    int pass;
    figure figures[FIGURES_MAX];
    int figure_count;
    int mask_equal;    /* places of -inf agree exactly; GRADE_NO_MASK: the operator has none */
    int guards_intact; /* nothing outside the output was written */
    char first[160];   /* first difference: coordinate, expected, got; "" if none */
} grade;

/* grade_add: one more figure. `name` is static.
 * grade_figure: its value; a NaN, which fails every comparison, for a name that is not among them.
 * grade_passes: every figure is within its limit (a NaN is not), the mask is right and the guards are. */
void grade_add(grade *g, const char *name, double value, double limit);
double grade_figure(const grade *g, const char *name);
int grade_passes(const grade *g);

typedef struct workload {
    /* make: host buffers for plan->shape; the caller calls problem_release.   errors: NO_MEMORY, BAD_SHAPE (a run-time
     * word is missing) */
    cdnagen_status (*make)(const plan *p, uint64_t seed, problem *out);
    /* reference: plain C result, from exactly the bytes that the kernel receives. */
    cdnagen_status (*reference)(const plan *p, problem *problem);
    /* arguments: the public argument struct for device pointers in buffer order. `args` has family->args_bytes. */
    void (*arguments)(const plan *p, const problem *problem, void *const *device, void *args);
    /* grade_outputs: compare what came back (host copies of the output buffers, in buffer order, NULL for inputs). */
    cdnagen_status (*grade_outputs)(const plan *p, const problem *problem, void *const *back, grade *out);
    /* make_modelled: make, for a launch that is timed by a model and never graded: buffers whose values decide no
     * address and no branch have no data. NULL: make serves.   errors: as make */
    cdnagen_status (*make_modelled)(const plan *p, problem *out);
    /* reduce: *out is a launch whose data fit bytes_most and whose workgroups do what those of p's do that are launched
     * as `grid`; *reduced 0 and *out = *p where p's own data fit. NULL: they always do.   errors: as
     * plan_from_structs */
    cdnagen_status (*reduce)(const plan *p, const uint32_t grid[3], int64_t bytes_most, plan *out, int *reduced);
} workload;

/* tune_axis: what one field of the tag may be in a search. Flags and words take all their values. */
typedef struct tune_axis {
    const char *field;     /* by its name in the tag's table */
    const int64_t *values; /* of a number or a triple, as the struct holds them */
    size_t count;
} tune_axis;

enum { TUNE_PROOFS = 2 };
/* tune_point: one row of a route table: a launch that stands for its class of shapes. */
typedef struct tune_point {
    char shape[SHAPE_BYTES_MAX]; /* words of the launch that ranks */
    char proof[TUNE_PROOFS]
              [SHAPE_BYTES_MAX]; /* of short launches of odd lengths that must pass the grading rules first */
    char bounds[96];             /* of the class, as the table's ROUTE takes them, between chip and tag */
} tune_point;

/* tuning: what the tuner must know of an operator; everything else it takes from the family. */
typedef struct tuning {
    const tune_axis *axes; /* what is not among them keeps its seed's value */
    size_t axis_count;
    /* point: the index-th for the target; 0 at the end. */
    int (*point)(const target *t, int index, tune_point *out);
    /* seeds: tags that a search may begin at, besides what `auto` means now, NULL-terminated. Those that do not serve a
     * shape are passed over. */
    const char *const *seeds;
    /* prune: why a legal plan is not worth compiling; NULL: it is. */
    const char *(*prune)(const plan *p);
    /* mfmas: matrix instructions that a launch of p's shape cannot do without. */
    double (*mfmas)(const plan *p);
} tuning;

/* change_kind: how a kernel's variant differs from it, for a diagnosis. */
typedef enum change_kind {
    CHANGE_TWIN,     /* as many matrix instructions, loads and LDS operations, less arithmetic: a schedule's limit */
    CHANGE_FLOOR,    /* the bare product, in one of the tags that suit the shape: what the shape allows */
    CHANGE_LEFT_OUT, /* a part of the work left out */
    CHANGE_CHOICE    /* all of the work, done another way: right results */
} change_kind;

/* lever: a class of what can be done about a kernel's time. */
typedef enum lever {
    LEVER_ARITHMETIC,
    LEVER_SCALES,
    LEVER_MEMORY,
    LEVER_LDS,
    LEVER_STORES,
    LEVER_SCHEDULE,
    LEVER_GRID,
    LEVER_COUNT
} lever;

typedef struct change {
    const char *name; /* static */
    change_kind kind;
    lever lever; /* what can help if the change pays */
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX];
} change;

/* diagnosis: what a diagnosis must know of an operator. source: docs/diagnosis.md */
typedef struct diagnosis {
    /* change: the index-th that a kernel may be compared with; 0 at the end. Those that a shape or chip does not allow
     * are told as such. */
    int (*change)(const plan *p, int index, change *out);
    /* sweep: the index-th length of the dimension that the inner loop runs over: the launch's variant and whole shape,
     * and the trips that a workgroup makes on average; 0 at the end. The kernel stays p's, and so does the grid. */
    int (*sweep)(const plan *p, int index, void *variant, void *shape, double *trips);
    /* traffic: bytes that all L2 together load and that the launch stores, by a model of the operator's own; NULL: what
     * the timing model counts.   errors: NO_MEMORY */
    cdnagen_status (*traffic)(const plan *p, double *beyond_l2);
    /* is_wrong: results of this variant are wrong by design: it is never chosen. NULL: none is. */
    int (*is_wrong)(const void *variant);
} diagnosis;

struct family {
    const char *name;    /* "mqa_logits" */
    const char *summary; /* one line */
    field_table tag, shape;
    size_t args_bytes; /* of the public argument struct */
    /* examples: shapes for which `cdnagen list` shows what `auto` takes, NULL-terminated */
    const char *const *examples;
    /* complete: words of the shape that follow from others and were left out; NULL if there are none. */
    void (*complete)(const void *variant, void *shape);
    /* check: everything that a variant, shape and chip must satisfy together, before anything is compiled.
     * errors: BAD_TAG, BAD_SHAPE, LIMIT (needed and allowed value named) */
    cdnagen_status (*check)(const target *t, const void *variant, const void *shape);
    /* make_plan: fill the derived part of a plan whose texts, variant and shape are set and checked. */
    cdnagen_status (*make_plan)(plan *p);
    /* route: the variant that `auto` means; the `rank`-th choice, so that a caller may pass over one that spills.
     * errors: LIMIT when no choice is left, saying what each one lacked */
    cdnagen_status (*route)(const target *t, const void *shape, int rank, void *variant);
    /* route_shapes: shape words in the notation of job lines, "heads=16..128:16 clean=0,1", over which `auto` chooses
     * every kernel that it is to be ready for; NULL-terminated. source: docs/precompile.md */
    const char *const *route_shapes;
    /* grid: workgroups of a launch of the plan's own shape on such a device; zeros if its run-time words were left out.
     * facts: NULL where no device is known */
    void (*grid)(const plan *p, const device_facts *facts, uint32_t grid[3]);
    /* bind: typed arguments -> grid and kernarg bytes. The public struct is whole: runtime's sized_copy made it so.
     * errors: BAD_ARGUMENT, LIMIT */
    cdnagen_status (*bind)(const plan *p, const device_facts *facts, const void *args, launch *out);
    /* shape_from_public: the public shape struct, whole too -> the family's own.   errors: BAD_ARGUMENT, BAD_SHAPE */
    cdnagen_status (*shape_from_public)(const void *public_shape, void *shape);
    const workload *workload;
    const tuning *tuning; /* NULL: not tuned */
    const diagnosis *diagnosis;
};

/* families: every operator of gen/families.def, NULL-terminated. */
extern const family *const families[];
const family *family_find(const char *name, size_t length); /* NULL if unknown */

/* plan_make: "op:fields" or "op:auto", shape words and target -> a complete, checked plan.
 * route_rank: which of the routes `auto` takes, 0 first
 * errors: as gen_kernel's BAD_TAG, BAD_SHAPE, LIMIT */
cdnagen_status plan_make(const char *tag, const char *shape, const target *t, int route_rank, plan *out);
/* plan_from_structs: the same from a parsed variant and shape. */
cdnagen_status plan_from_structs(const family *f, const void *variant, const void *shape, const target *t, plan *out);

#endif
