/* cdnagen.h - generate, cache, load and launch AMDGPU kernels at run time.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel is named by a tag (a variant in a small grammar) and a shape:
 *
 *     cdnagen_kernel *k;
 *     gen_kernel(NULL, "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma",
 *                "seq=128 seq_kv=1024 heads=64 dim=128 window=causal clean=1", &k);
 *
 * Order of this header: statuses, the simple call, contexts, operators, launch, device memory, introspection.
 *
 * Threads: every function may be called from any thread, on one context too, except that freeing an object must
 * not overlap another call that uses it. A child of fork() may generate kernels, on a context of its own or on one
 * that no other thread was using when it was forked; HIP itself does not survive a fork. Errors: each fallible call
 * returns a cdnagen_status; on failure its out-parameters are unchanged and cdnagen_error() gives the failure as one
 * sentence that names what was wrong and what would be right. Nothing here exits, aborts or installs a signal handler.
 * Stream order: a launch is ordered in the stream it names, as any HIP launch; NULL is the device's default stream.
 * The library never synchronises a stream on its own, but for timing that CDNAGEN_TUNE=1 asks for. Stream capture:
 * kernels may be generated, launched and freed in it, device memory be allocated and freed. gen_kernel loads the
 * kernel, so a launch never loads, and cdnagen_prepare keeps it so; a module that goes out of use during a capture is
 * unloaded by a later call; one whose launch was captured stays loaded until its context and its kernels are freed:
 * destroy graphs before. Argument lifetime: argument structs are read before the call returns; the device buffers they
 * name must stay valid until the launch has completed in its stream. */
#ifndef CDNAGEN_H
#define CDNAGEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CDNAGEN_VERSION_MAJOR 0
#define CDNAGEN_VERSION_MINOR 1
#define CDNAGEN_VERSION_PATCH 0

#if defined(__GNUC__)
#define CDNAGEN_API __attribute__((visibility("default")))
#else
#define CDNAGEN_API
#endif

/* ---- statuses: frozen numbers, gaps by topic ---- */

typedef enum cdnagen_status {
    CDNAGEN_OK = 0,
    /* the request */
    CDNAGEN_BAD_ARGUMENT = 1, /* null pointer, short or misaligned buffer, wrong operator: correct the call */
    CDNAGEN_BAD_TAG = 2,      /* the tag does not parse: the error shows where and lists what is legal there */
    CDNAGEN_BAD_SHAPE = 3,    /* a shape word is unknown, missing or out of range: the error lists the known ones */
    CDNAGEN_BAD_TARGET = 4,   /* unknown target id or feature: the error lists the known ones */
    CDNAGEN_LIMIT = 5,        /* a legal tag that this shape or chip cannot hold: the error gives needed and allowed */
    CDNAGEN_NOT_YET = 6,      /* reserved for a legal tag that a version cannot generate yet; none today */
    CDNAGEN_SPILLS = 7,       /* the kernel spills registers and the context was created with spills refused */
    CDNAGEN_BAD_OBJECT = 8,   /* a code object is damaged or is for another chip: delete it and generate again */
    /* the machine */
    CDNAGEN_NO_MEMORY = 20, /* host memory ran out: free some and call again */
    CDNAGEN_NO_HIP = 21,    /* no libamdhip64 could be opened: install ROCm, set ROCM_PATH, or use device "sim" */
    CDNAGEN_NO_DEVICE = 22, /* HIP works but has no supported GPU: use device "sim", or "none" to compile only */
    CDNAGEN_HIP = 23,       /* a HIP call failed: the error carries HIP's number and name */
    CDNAGEN_FAULT = 24,     /* a kernel was stopped: bad access, unknown instruction; the error names the place */
    CDNAGEN_IO = 25,        /* a file named by the caller cannot be read or written */
    CDNAGEN_CAPTURING = 26, /* a module would be loaded during a stream capture, and the context refuses that */
    /* the compiler and the cache */
    CDNAGEN_COMPILE = 40,    /* LLVM or lld refused the module: a fault of this library, please report the text */
    CDNAGEN_CACHE_MISS = 41, /* only cached kernels are wanted, and no tier has the key that the error names */
    CDNAGEN_UNAVAILABLE = 42 /* this build of the library cannot do it (the runtime without a compiler) */
} cdnagen_status;

/* cdnagen_status_name: the constant's name as text, "CDNAGEN_LIMIT"; "unknown status" for other numbers.
 * owner: static */
CDNAGEN_API const char *cdnagen_status_name(cdnagen_status status);

/* cdnagen_error: what the calling thread's last call failed with, as one sentence; after a success it means nothing.
 * owner: the library; valid until this thread's next call */
CDNAGEN_API const char *cdnagen_error(void);

/* cdnagen_version: "MAJOR.MINOR.PATCH build BUILDID llvm VERSION" of the library that is loaded.
 * owner: static */
CDNAGEN_API const char *cdnagen_version(void);

/* ---- the simple call ---- */

typedef struct cdnagen cdnagen;               /* a context: target, device, caches, log */
typedef struct cdnagen_kernel cdnagen_kernel; /* a generated kernel, loaded where the context has a device */

/* gen_kernel: the kernel that `tag` and `shape` name, from the cache or generated now.
 * shapes: `tag` is "op:fields" or "op:auto"; `shape` is "key=value" words separated by spaces; `cdnagen list` prints
 *         both grammars. "host" words of the shape (seq, seq_kv) may be left out: one kernel serves all their values,
 *         and a launch brings its own. "workload" words choose the data of `cdnagen run` and mean nothing here
 * owner:  *out is the caller's, cdnagen_free_kernel
 * errors: BAD_ARGUMENT, BAD_TAG, BAD_SHAPE, BAD_TARGET, LIMIT, SPILLS, NO_MEMORY, COMPILE, CACHE_MISS,
 *         BAD_OBJECT (what came out of the compiler is not what was planned: please report the text); where the context
 *         has a device also NO_HIP, NO_DEVICE, HIP, CAPTURING. A cache fault is never an error */
CDNAGEN_API cdnagen_status gen_kernel(cdnagen *ctx, const char *tag, const char *shape, cdnagen_kernel **out);

/* cdnagen_prepare: gen_kernel ahead of time: the kernel stays loaded until the context is freed, whatever kernels_kept
 * is, so that gen_kernel of it neither generates nor loads, in a capture with refuse_loads_in_capture too. It may be
 * called again. Where the context has no device the code object is kept; with no_cache gen_kernel generates it again,
 * and loads nothing.
 * shapes, errors: as gen_kernel */
CDNAGEN_API cdnagen_status cdnagen_prepare(cdnagen *ctx, const char *tag, const char *shape);

/* cdnagen_supports: OK if gen_kernel can make this kernel for `target`; a check of limits that compiles nothing and
 * needs no context.
 * shapes: `tag` and `shape` as in gen_kernel, `target` as "gfx950"
 * errors: BAD_ARGUMENT, BAD_TAG, BAD_SHAPE, BAD_TARGET, LIMIT, NO_MEMORY: the reason, as gen_kernel gives it */
CDNAGEN_API cdnagen_status cdnagen_supports(const char *tag, const char *shape, const char *target);

/* cdnagen_free_kernel: release a kernel; its launches must have completed. NULL is fine. */
CDNAGEN_API void cdnagen_free_kernel(cdnagen_kernel *kernel);

/* ---- contexts: a NULL ctx is, in every call, the process's default one, of default options ---- */

typedef enum cdnagen_spill_policy { CDNAGEN_SPILLS_ALLOW = 0, CDNAGEN_SPILLS_REFUSE = 1 } cdnagen_spill_policy;
typedef enum cdnagen_log_level { CDNAGEN_LOG_WARNING = 1, CDNAGEN_LOG_INFO = 2 } cdnagen_log_level;

/* cdnagen_options: all zero but `size` means the defaults; environment variables fill what is zero. */
typedef struct cdnagen_options {
    size_t size;           /* sizeof(cdnagen_options) */
    const char *target;    /* "gfx950", "gfx942:sramecc+:xnack-"; NULL: CDNAGEN_TARGET, else the device's own */
    const char *device;    /* "gpu" (default; "gpu:1" a second one), "sim", "auto" (gpu if there is one, else sim),
                              "none" (compile only); NULL: CDNAGEN_DEVICE, else "gpu" */
    const char *sim_mode;  /* simulator words: "late" (results appear only after their wait), "poison" (unwritten
                              LDS and registers), "check=races" or "check=all" (what hardware does not report
                              stops the launch), "threads=N", "limit=N" (a wave of more million instructions is
                              stopped); NULL: CDNAGEN_SIM, else none */
    const char *cache_dir; /* roots separated by ':', each a directory or a pack, looked into in this order; what is new
                              goes to the first directory that can be written. NULL: CDNAGEN_CACHE_DIR, else
                              $XDG_CACHE_HOME/cdnagen, else $HOME/.cache/cdnagen, else memory only; "": no disk tier */
    int no_cache;          /* nonzero: no cache tier */
    cdnagen_spill_policy spills;
    /* NULL: warnings to stderr. Called on the thread whose call has something to tell, on several threads at once if
     * several call, and never after cdnagen_free_context; it must not call the library. `text` is one line. */
    void (*log)(void *user, cdnagen_log_level level, const char *text);
    void *log_user;
    int cache_only; /* nonzero: what no tier has is CDNAGEN_CACHE_MISS; zero: CDNAGEN_CACHE_ONLY, else generated */
    int refuse_loads_in_capture; /* nonzero: loading a module while a stream captures is CDNAGEN_CAPTURING. What counts:
                                    streams that captured a kernel of this library, blocking streams of the device */
    /* A store of the caller's own, asked for what neither memory nor disk has and told what was generated; NULL: none.
     * `key` is 64 hexadecimal digits, the bytes are opaque and the same for each key: what comes back damaged or under
     * another key is a miss. store_get calls accept(to, data, bytes) and returns 1 if it has the key, else 0. As `log`,
     * they are called on the thread whose call needs a kernel and must not call the library. */
    int (*store_get)(void *user, const char *key, void (*accept)(void *to, const void *data, size_t bytes), void *to);
    void (*store_put)(void *user, const char *key, const void *data, size_t bytes);
    void *store_user;
    size_t memory_bytes; /* of the memory tier, which forgets what was not asked for lately; 0: 64 MiB */
    int kernels_kept;    /* kernels that stay loaded after cdnagen_free_kernel, by texts of tag and shape; 0: 1,024 */
    int isolate;         /* nonzero: compile in a process of its own, cdnagen-worker, whose crash is CDNAGEN_COMPILE;
                            also where this library has no compiler */
    int isolate_seconds, isolate_megabytes; /* that it may take, of its data; 0: no limit. Over the time is
                                               CDNAGEN_COMPILE, an end as for lack of memory CDNAGEN_NO_MEMORY */
    /* Of the directory that is written: before an entry would go beyond it, those not used for longest go, but none
     * that a living process of this host has loaded; 0: CDNAGEN_CACHE_BYTES, else no limit. */
    size_t disk_bytes;
    int trust_all; /* nonzero: also roots that others than this user and root own, or that every user can write, are
                      loaded from and written to; zero: CDNAGEN_CACHE_TRUST, else they are left alone, with a warning */
    int reserved;  /* 0 */
} cdnagen_options;

/* cdnagen_create_context: check the options (NULL: the defaults) and make a context; the device is opened, and sim_mode
 * read, at its first use, which is where a machine without it fails. So that asking again is quick, also after
 * cdnagen_free_kernel, a context keeps up to memory_bytes of code objects (its memory tier) until it and its kernels
 * are freed, and the kernels of up to kernels_kept texts of tag and shape, loaded, until it is freed; with no_cache it
 * keeps neither. What a caller holds is loaded whatever these limits are.
 * owner:  *out is the caller's, cdnagen_free_context; option strings are copied
 * errors: BAD_ARGUMENT, BAD_TARGET, NO_MEMORY */
CDNAGEN_API cdnagen_status cdnagen_create_context(const cdnagen_options *options, cdnagen **out);

/* cdnagen_free_context: give a context up; its kernels stay good until they are freed. Free its device memory before.
 * NULL is fine. */
CDNAGEN_API void cdnagen_free_context(cdnagen *ctx);

/* cdnagen_shutdown: free the default context with what it keeps loaded, as cdnagen_free_context does; kernels that a
 * caller holds stay good. No other call with a NULL context may be running; the next one makes a new context. It is for
 * those that unload HIP, or count what is loaded, while they live on: at a process's end nothing of this library calls
 * HIP, and threads may still be generating or launching. A handler of atexit, and what a thread runs at its own end,
 * generate no more: what is neither loaded nor cached is then CDNAGEN_COMPILE. Programs that link libcdnagen.a have the
 * destructors of LLVM and lld as their own: let no thread generate when main returns. */
CDNAGEN_API void cdnagen_shutdown(void);

/* cdnagen_device_name: what launches run on, "AMD Instinct MI350X (gfx950)" or "simulator (gfx950)"; opens it. The chip
 * is at its end, and a simulator's has that word; "none" where kernels are compiled only.
 * owner: *name is the context's
 * errors: BAD_ARGUMENT (also words of sim_mode), BAD_TARGET (the device cannot run it), NO_MEMORY, NO_HIP, NO_DEVICE,
 *         HIP; as of every call below that opens the device */
CDNAGEN_API cdnagen_status cdnagen_device_name(cdnagen *ctx, const char **name);

/* ---- operator mqa_logits ---- */

/* cdnagen_mqa_logits_shape: the shape words of mqa_logits as a struct, same names. Every head count and head size of
 * the ranges is served; those that are not multiples of what a tag's MFMA takes (heads and head size of mfma<MxNxK>: M
 * and K) cost what the next multiple costs. FP8 bytes are read as the chip's own
 * kind unless the shape says otherwise: gfx942, whose own is e4m3fnuz, converts e4m3fn; gfx950 takes e4m3fn only. */
typedef struct cdnagen_mqa_logits_shape {
    size_t size;
    int64_t seq;    /* query rows; run-time, 0 if not known yet */
    int64_t seq_kv; /* key rows = logit columns; run-time, 0 if not known yet */
    int32_t heads;  /* 1..128 */
    int32_t dim;    /* head size, elements, 32..512, a multiple of 16 */
    int32_t clean;  /* 1: the kernel writes -inf outside each row's window; 0: those places are left as they are. Here a
                       zero means 0; a text of shape words without `clean` means 1 */
    int32_t q_fp8, kv_fp8; /* cdnagen_fp8: the byte meaning of Q and KV; 0: the chip's own */
    int32_t weights;       /* cdnagen_weights: the type of the weights */
} cdnagen_mqa_logits_shape;

typedef enum cdnagen_weights { CDNAGEN_WEIGHTS_F32 = 0, CDNAGEN_WEIGHTS_BF16 = 1 } cdnagen_weights;
typedef enum cdnagen_fp8 { CDNAGEN_FP8_NATIVE = 0, CDNAGEN_FP8_E4M3FN = 1, CDNAGEN_FP8_E4M3FNUZ = 2 } cdnagen_fp8;

/* cdnagen_gen_mqa_logits: gen_kernel with a typed shape.
 * shapes: `tag` with or without "mqa_logits:"   owner, errors: as gen_kernel */
CDNAGEN_API cdnagen_status cdnagen_gen_mqa_logits(cdnagen *ctx, const char *tag, const cdnagen_mqa_logits_shape *shape,
                                                  cdnagen_kernel **out);

/* cdnagen_buffer: device memory as an argument; `bytes` is what may be accessed from `ptr` on, and is checked. */
typedef struct cdnagen_buffer {
    void *ptr;
    size_t bytes;
} cdnagen_buffer;

/* cdnagen_mqa_logits_args: one launch. Strides are elements from one row (of q also: head) to the next; 0 means
 * contiguous (q_head: dim, q: heads*q_head_stride, kv: dim, weights: heads, logits: seq_kv rounded up to a multiple of
 * 256), and of a single row or head none is looked at. Rows may be any number of elements apart that holds one; q's
 * heads may also lie further apart than its rows ([heads, seq, dim] in memory). What lies between rows is neither read
 * into a result nor written. The kv rows of a tile (bkv of the tag), and the heads of a matrix instruction, must lie
 * within 4 GiB; everything else may be further apart. The elements of a row follow each other: inner strides are 1, or
 * 0 which stands for it.
 * A buffer needs the bytes from its first element to its last: (seq - 1) * logits_stride + seq_kv floats of logits.
 * q, kv, their rows and heads are aligned to 16 bytes, bf16 weights and their rows to 2 if heads is odd, everything
 * else to 4, and logits overlaps no input. A row's window is clamped to [0, seq_kv), and is empty if it ends before it
 * starts. */
typedef struct cdnagen_mqa_logits_args {
    size_t size;
    cdnagen_buffer q;         /* [seq, heads, dim] e4m3 */
    cdnagen_buffer kv;        /* [seq_kv, dim] e4m3 */
    cdnagen_buffer kv_scales; /* [seq_kv] f32, not negative */
    cdnagen_buffer weights;   /* [seq, heads] f32 or bf16 as the shape says, of any sign */
    cdnagen_buffer cu_starts; /* [seq] i32: first column of each row's window */
    cdnagen_buffer cu_ends;   /* [seq] i32: one past the last column */
    cdnagen_buffer logits;    /* [seq, seq_kv] f32, written */
    int64_t seq, seq_kv;
    int64_t q_stride, kv_stride, weights_stride, logits_stride; /* from one row to the next */
    int64_t q_head_stride;                                      /* from one head of q to the next */
    int64_t q_inner_stride, kv_inner_stride, weights_inner_stride, logits_inner_stride; /* 1, or 0 */
    int32_t num_splits; /* parts that each window is cut into along seq_kv; 0: the tag's ns, else the library decides */
    int32_t reserved;   /* 0 */
} cdnagen_mqa_logits_args;

/* cdnagen_launch_mqa_logits: logits[m,n] = kv_scales[n] * sum_h weights[m,h] * max(0, q[m,h,:] . kv[n,:]).
 * shapes: see cdnagen_mqa_logits_args; seq or seq_kv of 0 is a success without a launch
 * math:   f32 accumulation in the matrix unit, f32 head sum
 *         NaN: a NaN byte of q or of kv makes every logit that it enters NaN
 * errors: BAD_ARGUMENT (null, short, misaligned or overlapped buffer, stride, wrong kernel), LIMIT, NO_DEVICE, HIP,
 *         FAULT */
CDNAGEN_API cdnagen_status cdnagen_launch_mqa_logits(cdnagen_kernel *kernel, const cdnagen_mqa_logits_args *args,
                                                     void *stream);

/* ---- operator gemm_blockscale ---- */

typedef enum cdnagen_b_layout {
    CDNAGEN_B_PLAIN = 0,      /* [n, k] rows */
    CDNAGEN_B_PRESHUFFLED = 1 /* as cdnagen_pack_b leaves it */
} cdnagen_b_layout;
typedef enum cdnagen_scale_layout {
    CDNAGEN_SCALES_ROW_MAJOR = 0, /* [m, ceil(k / 128)] in memory */
    CDNAGEN_SCALES_K_MAJOR = 1    /* [ceil(k / 128), m] in memory */
} cdnagen_scale_layout;
typedef enum cdnagen_scale_type {
    CDNAGEN_SCALES_F32 = 0,
    CDNAGEN_SCALES_UE8M0 = 1 /* bytes x that mean 2^(x - 127) */
} cdnagen_scale_type;
typedef enum cdnagen_out_type { CDNAGEN_OUT_BF16 = 0, CDNAGEN_OUT_F16 = 1 } cdnagen_out_type;
typedef enum cdnagen_tail {
    CDNAGEN_TAIL_AS_SHAPE = 0, /* what the k (n) of the shape needs; any, if that is not known yet */
    CDNAGEN_TAIL_ANY = 1,      /* the kernel serves every k (n) */
    CDNAGEN_TAIL_NONE = 2      /* only multiples of its tile's */
} cdnagen_tail;

/* cdnagen_gemm_blockscale_shape: the shape words of gemm_blockscale as a struct. One kernel serves every m, and every n
 * and k of its tail classes. */
typedef struct cdnagen_gemm_blockscale_shape {
    size_t size;
    int64_t m, n, k;        /* run-time, 0 if not known yet; auto needs them all */
    int32_t k_tail, n_tail; /* cdnagen_tail */
    int32_t a_fp8, b_fp8;   /* cdnagen_fp8 */
    int32_t b_layout;       /* cdnagen_b_layout */
    int32_t a_scale_layout; /* cdnagen_scale_layout; with one row of A, or k <= 128, the two coincide */
    int32_t scale_m;        /* rows of A that share a scale: 1 (also if 0) or 128 */
    int32_t scale_n;        /* columns of C that share a scale of B: 128 (also if 0) or 1 */
    int32_t scale_type;     /* cdnagen_scale_type, of both scales */
    int32_t c_type;         /* cdnagen_out_type */
} cdnagen_gemm_blockscale_shape;

/* cdnagen_gen_gemm_blockscale: gen_kernel with a typed shape.
 * shapes: `tag` with or without "gemm_blockscale:"   owner, errors: as gen_kernel */
CDNAGEN_API cdnagen_status cdnagen_gen_gemm_blockscale(cdnagen *ctx, const char *tag,
                                                       const cdnagen_gemm_blockscale_shape *shape,
                                                       cdnagen_kernel **out);

/* cdnagen_gemm_blockscale_args: one launch. Strides are elements from one row to the next of the matrix as it is in
 * memory; 0 means contiguous. Rows of A and of plain B begin at multiples of 16 bytes; with a tag that has `cs`, rows
 * of C at multiples of 8. Elements between the end of a row and the next row are not used, and those of C not written.
 * A buffer needs the bytes from its first element to its last, a and plain b to the end of the last one's 4-byte word.
 * c and the workspace overlap nothing else. */
typedef struct cdnagen_gemm_blockscale_args {
    size_t size;
    cdnagen_buffer a;         /* [m, k] e4m3 */
    cdnagen_buffer b;         /* [n, k] e4m3, plain or preshuffled */
    cdnagen_buffer a_scales;  /* [ceil(m / scale_m), ceil(k / 128)], or the transposed */
    cdnagen_buffer b_scales;  /* [ceil(n / scale_n), ceil(k / 128)] */
    cdnagen_buffer c;         /* [m, n] bf16 or f16, written */
    cdnagen_buffer workspace; /* cdnagen_gemm_blockscale_workspace bytes; unused if those are 0 */
    int64_t m, n, k;
    int64_t a_stride, b_stride, a_scales_stride, b_scales_stride, c_stride; /* b_stride: plain B only */
} cdnagen_gemm_blockscale_args;

/* cdnagen_launch_gemm_blockscale: c[m,n] = sum_kb (sum_(k in kb) a[m,k] b[n,k]) a_scales[m,kb] b_scales[n/scale_n,kb],
 * kb = k / 128.
 * shapes: see cdnagen_gemm_blockscale_args; m or n of 0 is a success without a launch, k of 0 writes zeros
 * math:   f32 sums of a block in the matrix unit, one f32 fma a block with the product of its two scales, and one
 *         rounding to the type of c, to nearest even; the same bits at every launch
 * errors: BAD_ARGUMENT (null, short, misaligned or overlapped buffer, stride, wrong kernel, a k or n that the kernel's
 *         tail classes exclude), LIMIT, NO_DEVICE, HIP, FAULT */
CDNAGEN_API cdnagen_status cdnagen_launch_gemm_blockscale(cdnagen_kernel *kernel,
                                                          const cdnagen_gemm_blockscale_args *args, void *stream);

/* cdnagen_gemm_blockscale_workspace: device memory that a launch of m rows and n columns needs; 0 unless the tag has
 * `sk`. It is zeroed before its first launch, and may serve one launch after another in a stream: each leaves zero what
 * the next one counts on.
 * units: bytes   errors: BAD_ARGUMENT */
CDNAGEN_API cdnagen_status cdnagen_gemm_blockscale_workspace(const cdnagen_kernel *kernel, int64_t m, int64_t n,
                                                             size_t *bytes);

/* cdnagen_pack_b: B as kernels of b=preshuffled read it, in host memory: blocks of 16 rows, 16 bytes of each row in
 * turn.
 * shapes: rows [n, k] bytes, `stride` bytes apart (0: k); packed n * k bytes, not the same memory. n is a multiple of
 *         16, k of 32
 * errors: BAD_ARGUMENT */
CDNAGEN_API cdnagen_status cdnagen_pack_b(const void *rows, int64_t stride, int64_t n, int64_t k, void *packed);

/* ---- operator gemm_grouped ---- */

typedef enum cdnagen_grouped_layout {
    /* a [m, k], b [groups, n, k], c [m, n]; extents i64: rows of each group, one group's after another's. Of each only
     * the low 4 bytes are read */
    CDNAGEN_GROUPED_SIZES = 0,
    /* the same, extents i32: one past each group's last row */
    CDNAGEN_GROUPED_OFFSETS = 1,
    /* a [groups, m, k], b [groups, n, k], c [groups, m, n]; extents i64: rows of each slab that take part, the first
     * ones */
    CDNAGEN_GROUPED_PADDED = 2,
    /* the same, all rows take part; no extents */
    CDNAGEN_GROUPED_BATCHED = 3,
    /* a [groups, m, k], b [n, k], c [m, n]; extents i32: one past each group's last row of b, which is its last column
     * of c; multiples of 8 */
    CDNAGEN_GROUPED_N_OFFSETS = 4,
    /* a [m, k], b [n, k], c [groups, m, n]; extents i32: one past each group's last element of k; multiples of 16 */
    CDNAGEN_GROUPED_K_OFFSETS = 5
} cdnagen_grouped_layout;
typedef enum cdnagen_grouped_scale {
    /* one a row of a and of b; k_offsets: for each group, [groups, m] and [groups, n] */
    CDNAGEN_GROUPED_SCALE_ROW = 0,
    /* one for 1x128 of a and for 128x128 of b. a: group g's begin at its first row times k / 128, in them [k / 128, its
     * rows] (slabs: [k / 128, m]); b [groups, k / 128, n / 128]. Not of n_offsets and k_offsets */
    CDNAGEN_GROUPED_SCALE_BLOCK = 1
} cdnagen_grouped_scale;

/* cdnagen_gemm_grouped_shape: the shape words of gemm_grouped as a struct. One kernel serves every number of groups,
 * every m, and every n and k of its tail classes. */
typedef struct cdnagen_gemm_grouped_shape {
    size_t size;
    int64_t groups, m, n, k; /* run-time, 0 if not known yet; auto needs them all */
    int32_t layout;          /* cdnagen_grouped_layout */
    int32_t scale;           /* cdnagen_grouped_scale */
    int32_t b_layout;        /* cdnagen_b_layout; preshuffled: each group's, as cdnagen_pack_b leaves it */
    int32_t leave_empty_k;   /* k_offsets: 1: c of a group without k is left as it is; 0: it becomes 0 */
    int32_t c_type;          /* cdnagen_out_type */
    int32_t a_fp8, b_fp8;    /* cdnagen_fp8 */
    int32_t k_tail, n_tail;  /* cdnagen_tail */
    int32_t reserved;        /* 0 */
} cdnagen_gemm_grouped_shape;

/* cdnagen_gen_gemm_grouped: gen_kernel with a typed shape.
 * shapes: `tag` with or without "gemm_grouped:"   owner, errors: as gen_kernel */
CDNAGEN_API cdnagen_status cdnagen_gen_gemm_grouped(cdnagen *ctx, const char *tag,
                                                    const cdnagen_gemm_grouped_shape *shape, cdnagen_kernel **out);

/* cdnagen_gemm_grouped_args: one launch. Every matrix is contiguous; a and b are aligned to 16 bytes, c to 8, scales to
 * 4, extents to their size, and c and the workspace overlap nothing else. n is a multiple of 8 and k of 16;
 * scale=block: both of 128; preshuffled b: both of the tag's tile. */
typedef struct cdnagen_gemm_grouped_args {
    size_t size;
    cdnagen_buffer a, b;               /* e4m3 */
    cdnagen_buffer a_scales, b_scales; /* f32 */
    cdnagen_buffer c;                  /* bf16 or f16, written */
    cdnagen_buffer extents;            /* [groups]; they stay on the device */
    cdnagen_buffer workspace;          /* cdnagen_gemm_grouped_workspace bytes; unused if those are 0 */
    int64_t groups, m, n, k;           /* as the layout says */
    int32_t keep_padding;              /* padded: 1: rows past a group's own are left as they are; 0: they become 0 */
    int32_t reserved;                  /* 0 */
} cdnagen_gemm_grouped_args;

/* cdnagen_launch_gemm_grouped: c_g[m,n] = sum_k a_g[m,k] b_g[n,k] * a_scales[m] * b_scales[n] for each group g; in
 * blocks as gemm_blockscale.
 * shapes: see cdnagen_grouped_layout. No groups, m or n of 0 is a success without a launch, k of 0 writes zeros
 *         everywhere. A group without rows or columns writes nothing, nor do rows, columns and K past the last group.
 *         Extents are clamped to what is there: no group reaches into another's c, whatever they are. A group of
 *         n_offsets whose columns are no multiple of 4 leaves the last ones as they are; one of k_offsets whose K is no
 *         multiple of 16 has inaccurate sums
 * math:   f32 sums in the matrix unit, then times a's scale, then b's; one rounding to the type of c, to nearest even;
 *         the same bits at every launch
 * errors: BAD_ARGUMENT (null, short, misaligned or overlapped buffer, wrong kernel, an n or k that the kernel
 * excludes),
 *         LIMIT, NO_DEVICE, HIP, FAULT */
CDNAGEN_API cdnagen_status cdnagen_launch_gemm_grouped(cdnagen_kernel *kernel, const cdnagen_gemm_grouped_args *args,
                                                       void *stream);

/* cdnagen_gemm_grouped_workspace: device memory that a launch needs; 0 unless the tag has `sk`. Zeroed before its first
 * launch, and left so, as cdnagen_gemm_blockscale_workspace.   units: bytes   errors: BAD_ARGUMENT */
CDNAGEN_API cdnagen_status cdnagen_gemm_grouped_workspace(const cdnagen_kernel *kernel, int64_t groups, int64_t m,
                                                          int64_t n, size_t *bytes);

/* ---- operator gemm_grouped: forms that take tensors ---- */

typedef enum cdnagen_type {
    CDNAGEN_TYPE_F32 = 1,
    CDNAGEN_TYPE_BF16 = 2,
    CDNAGEN_TYPE_F16 = 3,
    CDNAGEN_TYPE_E4M3FN = 4,
    CDNAGEN_TYPE_E4M3FNUZ = 5,
    CDNAGEN_TYPE_I32 = 6,
    CDNAGEN_TYPE_I64 = 7
} cdnagen_type;

/* cdnagen_tensor: device memory with its sizes. Forms take contiguous tensors alone, and refuse others. */
typedef struct cdnagen_tensor {
    void *ptr;
    int32_t type, rank; /* cdnagen_type; 1 to 3 */
    int64_t size[3];
    int64_t stride[3]; /* elements; all 0: contiguous */
} cdnagen_tensor;

typedef enum cdnagen_grouped_form {
    CDNAGEN_GROUPED_STACKED = 0,
    CDNAGEN_GROUPED_STACKED_PRESHUFFLE = 1,
    CDNAGEN_GROUPED_DYNAMIC = 2,
    CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE = 3,
    CDNAGEN_GROUPED_MM = 4,
    CDNAGEN_GROUPED_MM_PRESHUFFLE = 5,
    CDNAGEN_GROUPED_GROUPWISE = 6,
    CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE = 7
} cdnagen_grouped_form;

/* cdnagen_grouped_output: what a form's `out` is: type, sizes and strides; its ptr is NULL.
 * shapes: extents is the form's m_sizes, zero_start_index_m or offsets; NULL for 3D-3D
 * errors: BAD_ARGUMENT, LIMIT */
CDNAGEN_API cdnagen_status cdnagen_grouped_output(cdnagen_grouped_form form, const cdnagen_tensor *xq,
                                                  const cdnagen_tensor *wq, const cdnagen_tensor *extents,
                                                  cdnagen_tensor *out);

/* Of all forms below: the kernel is `auto`'s of those that need no workspace, generated at the first call of its kind
 * in the context, which keeps it (without a cache each call generates it); calls of other lengths take the same one.
 * With CDNAGEN_TUNE=1 in the environment it is the fastest of some tens of tiles, which the first call of a kind times
 * on its own operands and stream, for a few seconds and writing `out` again and again; later calls of that kind take it
 * too. Nothing is timed while a stream captures, nor on the simulator. Operands are of the chip's own FP8 kind, scales
 * f32, out bf16 of the sizes that cdnagen_grouped_output gives. Every contract that the host can see is checked; a
 * refusal names the argument, its value and the rule. That each group's K (2D-2D) is a multiple of 16 and its columns
 * (3D-2D) of 8 only the device knows: see cdnagen_launch_gemm_grouped for what happens otherwise. wq of _preshuffle:
 * each group's as cdnagen_pack_b leaves it; n is a multiple of 64 and k of 128.
 * errors: BAD_ARGUMENT, LIMIT, and as gen_kernel and cdnagen_launch_gemm_grouped */

/* cdnagen_rowwise_grouped_stacked: groups own rows of xq and out, one group's after another's.
 * shapes: xq [m, k], wq [groups, n, k], x_scale m elements, w_scale groups * n, m_sizes [groups] i64, out [m, n] */
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_stacked(cdnagen *ctx, const cdnagen_tensor *xq,
                                                           const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
                                                           const cdnagen_tensor *w_scale, const cdnagen_tensor *m_sizes,
                                                           const cdnagen_tensor *out, void *stream);
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_stacked_preshuffle(
    cdnagen *ctx, const cdnagen_tensor *xq, const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
    const cdnagen_tensor *w_scale, const cdnagen_tensor *m_sizes, const cdnagen_tensor *out, void *stream);

/* cdnagen_rowwise_grouped_dynamic: each group has a slab, of which the first zero_start_index_m[g] rows take part.
 * shapes: xq [groups, m, k], wq [groups, n, k], x_scale groups * m elements, w_scale groups * n, zero_start_index_m
 *         [groups] i64, out [groups, m, n]. zeroing_output_tensor: 1: rows past those become 0; 0: they are left as
 *         they are */
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_dynamic(cdnagen *ctx, const cdnagen_tensor *xq,
                                                           const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
                                                           const cdnagen_tensor *w_scale,
                                                           const cdnagen_tensor *zero_start_index_m,
                                                           int zeroing_output_tensor, const cdnagen_tensor *out,
                                                           void *stream);
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_dynamic_preshuffle(
    cdnagen *ctx, const cdnagen_tensor *xq, const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
    const cdnagen_tensor *w_scale, const cdnagen_tensor *zero_start_index_m, int zeroing_output_tensor,
    const cdnagen_tensor *out, void *stream);

/* cdnagen_rowwise_grouped_mm: by the ranks of xq and wq; offsets [groups] i32 are one past each group's last place.
 * shapes: 2D-3D: xq [m, k], wq [groups, n, k], offsets along m, out [m, n]; x_scale m elements, w_scale groups * n
 *         3D-3D: xq [groups, m, k], wq [groups, n, k], offsets NULL, out [groups, m, n]; groups * m, groups * n
 *         3D-2D: xq [groups, m, k], wq [n, k], offsets along n, out [m, n]; groups * m, n
 *         2D-2D: xq [m, k], wq [n, k], offsets along k, out [groups, m, n]; groups * m, groups * n. A slab whose
 *         group has no K is left as it is, unless k is 0
 *         _preshuffle: 2D-3D and 3D-3D alone */
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_mm(cdnagen *ctx, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                                      const cdnagen_tensor *x_scale, const cdnagen_tensor *w_scale,
                                                      const cdnagen_tensor *offsets, const cdnagen_tensor *out,
                                                      void *stream);
CDNAGEN_API cdnagen_status cdnagen_rowwise_grouped_mm_preshuffle(
    cdnagen *ctx, const cdnagen_tensor *xq, const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
    const cdnagen_tensor *w_scale, const cdnagen_tensor *offsets, const cdnagen_tensor *out, void *stream);

/* cdnagen_groupwise_grouped: as stacked, with scales of blocks; n and k are multiples of 128.
 * shapes: x_scale m * k / 128 elements: group g's from its first row times k / 128 on, in them [k / 128, its rows];
 *         w_scale [groups, k / 128, n / 128] */
CDNAGEN_API cdnagen_status cdnagen_groupwise_grouped(cdnagen *ctx, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                                     const cdnagen_tensor *x_scale, const cdnagen_tensor *w_scale,
                                                     const cdnagen_tensor *m_sizes, const cdnagen_tensor *out,
                                                     void *stream);
CDNAGEN_API cdnagen_status cdnagen_groupwise_grouped_preshuffle(cdnagen *ctx, const cdnagen_tensor *xq,
                                                                const cdnagen_tensor *wq, const cdnagen_tensor *x_scale,
                                                                const cdnagen_tensor *w_scale,
                                                                const cdnagen_tensor *m_sizes,
                                                                const cdnagen_tensor *out, void *stream);

/* ---- device memory and order, for callers that do not hold HIP themselves ---- */

/* cdnagen_alloc: device memory, 256-byte aligned, uninitialised.   units: bytes, > 0
 * owner: cdnagen_free_memory, with the same context   errors: BAD_ARGUMENT, NO_DEVICE, HIP */
CDNAGEN_API cdnagen_status cdnagen_alloc(cdnagen *ctx, size_t bytes, void **ptr);
/* cdnagen_free_memory: release what cdnagen_alloc gave; NULL is fine.   errors: NO_DEVICE, HIP */
CDNAGEN_API cdnagen_status cdnagen_free_memory(cdnagen *ctx, void *ptr);

/* cdnagen_copy_to_device, cdnagen_copy_to_host: blocking copies, ordered after the default stream.
 * units: bytes; 0 is fine   errors: BAD_ARGUMENT, NO_DEVICE, HIP, FAULT (what a kernel before it did) */
CDNAGEN_API cdnagen_status cdnagen_copy_to_device(cdnagen *ctx, void *device, const void *host, size_t bytes);
CDNAGEN_API cdnagen_status cdnagen_copy_to_host(cdnagen *ctx, void *host, const void *device, size_t bytes);

/* cdnagen_synchronize: wait until `stream` is done.   errors: NO_DEVICE, HIP, FAULT (what a kernel in it did) */
CDNAGEN_API cdnagen_status cdnagen_synchronize(cdnagen *ctx, void *stream);

/* ---- introspection ---- */

typedef enum cdnagen_cache_tier {
    CDNAGEN_TIER_NONE = 0, /* generated now */
    CDNAGEN_TIER_MEMORY = 1,
    CDNAGEN_TIER_DISK = 2, /* also a pack */
    CDNAGEN_TIER_STORE = 3 /* options.store */
} cdnagen_cache_tier;

/* cdnagen_kernel_info: set `size` before the call. Strings are the kernel's, valid until it is freed. */
typedef struct cdnagen_kernel_info {
    size_t size;
    const char *op;       /* "mqa_logits" */
    const char *tag;      /* canonical, without the operator */
    const char *shape;    /* all shape words, canonical */
    const char *target;   /* canonical target id */
    const char *symbol;   /* operator + kernel fields + specialised shape facts: the name in profilers */
    const char *key;      /* cache key, 64 hexadecimal digits */
    const char *key_text; /* what the key is the hash of */
    const void *object;   /* the code object */
    size_t object_bytes;
    uint32_t block[3];       /* work items per workgroup */
    uint32_t grid[3];        /* workgroups of a launch of the shape given that leaves num_splits to the library; zeros
                                if the shape's run-time words were left out */
    uint32_t vgpr;           /* architectural VGPRs used per lane */
    uint32_t agpr;           /* accumulation VGPRs used per lane */
    uint32_t vgpr_allocated; /* what the hardware allocates per lane, both files */
    uint32_t sgpr;
    uint32_t lds_bytes;     /* per workgroup */
    uint32_t scratch_bytes; /* per lane */
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t code_bytes;
    uint32_t waves_per_simd;     /* occupancy that registers and LDS allow */
    uint32_t waves_per_eu_asked; /* wpe field; 0: none asked */
    const char *occupancy_limit; /* "vgpr", "sgpr", "lds" or "waves": what bounds waves_per_simd */
    cdnagen_cache_tier cache_tier;
    double total_ms, emit_ms, verify_ms, passes_ms, codegen_ms, link_ms; /* of the compile that made it; 0 on a hit
                                                                           but total_ms, the time of this call */
} cdnagen_kernel_info;

/* cdnagen_get_kernel_info: fill *info up to info->size bytes.   errors: BAD_ARGUMENT */
CDNAGEN_API cdnagen_status cdnagen_get_kernel_info(const cdnagen_kernel *kernel, cdnagen_kernel_info *info);

typedef enum cdnagen_text { CDNAGEN_TEXT_IR = 0, CDNAGEN_TEXT_ISA = 1 } cdnagen_text;

/* cdnagen_get_kernel_text: LLVM IR (emitted again, the same bytes) or the code object's disassembly; also on a hit.
 * owner: *text is the kernel's, made at the first call   errors: BAD_ARGUMENT, NO_MEMORY, COMPILE, UNAVAILABLE */
CDNAGEN_API cdnagen_status cdnagen_get_kernel_text(cdnagen_kernel *kernel, cdnagen_text which, const char **text);

#ifdef __cplusplus
}
#endif
#endif
