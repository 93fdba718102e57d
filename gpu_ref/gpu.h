/* What a plan asks of a GPU's driver, whichever it is: memory, programs, launches, times. One
 * static table per driver (ocl_gpu.c). A plan, its memory, its kernels and the partition to the
 * host know nothing else of the device. */
#ifndef HD_GPU_REF_GPU_H
#define HD_GPU_REF_GPU_H

#include <stdint.h>

#include "compiler/loop/dialect.h"
#include "runtime/base/status.h"
#include "runtime/device/hal.h"

typedef struct hd_gpu hd_gpu;         /* an open device, its context and its queue */
typedef struct hd_gpu_mem hd_gpu_mem; /* memory of the device, or an aligned part of it */
typedef struct hd_gpu_program hd_gpu_program;
typedef struct hd_gpu_kernel hd_gpu_kernel;
typedef struct hd_gpu_library hd_gpu_library;     /* what one call of a library computes */
typedef struct hd_gpu_recording hd_gpu_recording; /* launches and copies that are repeated as one */

struct hd_gpu_limits {
    const char *name;               /* of the device, for people */
    const char *driver;             /* its version; NULL = not known */
    bool is_cpu;                    /* work-groups are loops: local memory and many threads cost */
    bool f64;                       /* f64 in kernels */
    bool exact_divide;              /* f32 quotients and roots are rounded correctly */
    bool mma;                       /* a warp has m16n8k32, a product of matrices of bytes */
    bool dot8;                      /* sums of four products of bytes are one instruction */
    size_t local_bytes;             /* of a block */
    int max_threads;                /* of a block */
    size_t max_blocks_yz;           /* of a grid, in y and in z; 0 = any number */
    size_t align;                   /* of parts of memory: a power of two, at least 64 */
    size_t memory_bytes, max_bytes; /* of the device; of one allocation */
    int units, clock_mhz, lanes;    /* f32 sums and products of a unit in a cycle */
};

enum { HD_GPU_MAX_ARGS = 64 }; /* of a kernel */

struct hd_gpu_launch {
    hd_gpu_kernel *kernel;
    size_t grid[3]; /* blocks */
    int block[3];   /* threads of a block */
    int n_args;
    hd_gpu_mem *const *arg; /* pointers, in the kernel's order */
};

struct hd_gpu_product { /* y = a b, f32, dense, by rows */
    int64_t batches, rows, columns, depth;
    int64_t stride_a, stride_b; /* elements from one batch to the next */
    bool transposed_a, transposed_b;
    enum hd_precision precision; /* of the operands; sums are f32 */
    bool bias, relu;             /* a vector is added to each row; then what is below 0 becomes 0 */
};

/* y = the convolution of x [batches, channels, in..] and w [features, channels / groups, kernel..],
 * then residual added, then a bias for each feature, then what is below 0 becomes 0. f32, dense. */
struct hd_gpu_convolution {
    int dims; /* 2 or 3, behind batches and channels */
    int64_t batches, channels, features, groups;
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3], after[3]; /* padding */
    enum hd_precision precision; /* of x and w; sums are f32 */
    bool residual, bias, relu;
};

struct hd_gpu_library_facts { /* of a call that a library has taken */
    size_t workspace_bytes;
    enum hd_precision rounded; /* what it rounds operands to: at most what was asked for */
};

struct hd_gpu_gather { /* bytes of each process; process r's go to `at` + r * bytes */
    hd_gpu_mem *from, *to;
    size_t at, bytes;
};

/* Calls on one device come from one thread at a time. What is enqueued runs in order. */
struct hd_gpu_api {
    const char *scheme; /* of the device, in messages */
    const struct hd_dialect *dialect;
    /* NULL: there is one. Else the reason and what to do. */
    const char *(*why_not)(void);
    const char *(*describe)(void); /* a constant text, for people */
    hd_status (*open)(hd_ctx *, hd_gpu **out);
    void (*close)(hd_gpu *);
    const struct hd_gpu_limits *(*limits)(const hd_gpu *);
    hd_status (*alloc)(hd_ctx *, hd_gpu *, size_t bytes, hd_gpu_mem **out);
    /* Bytes at .. at + bytes of m, at a multiple of limits->align; freed before m. */
    hd_status (*part)(hd_ctx *, hd_gpu *, hd_gpu_mem *m, size_t at, size_t bytes, hd_gpu_mem **out);
    void (*free)(hd_gpu *, hd_gpu_mem *);
    /* Both return when the bytes are there; what was enqueued before has run. */
    hd_status (*write)(hd_ctx *, hd_gpu *, hd_gpu_mem *, size_t at, const void *src, size_t bytes);
    hd_status (*read)(hd_ctx *, hd_gpu *, hd_gpu_mem *, size_t at, void *dst, size_t bytes);
    /* Enqueues. from and to do not overlap. */
    hd_status (*copy)(hd_ctx *, hd_gpu *, hd_gpu_mem *from, hd_gpu_mem *to, size_t bytes);
    /* HD_DEVICE with the compiler's log. */
    hd_status (*build)(hd_ctx *, hd_gpu *, const char *source, hd_gpu_program **out);
    void (*unbuild)(hd_gpu *, hd_gpu_program *);
    hd_status (*kernel)(hd_ctx *, hd_gpu *, hd_gpu_program *, const char *name,
                        hd_gpu_kernel **out);
    /* Enqueues. timer: NULL, or where hd_gpu_api.seconds finds its time after finish. */
    hd_status (*launch)(hd_ctx *, hd_gpu *, const struct hd_gpu_launch *, int timer);
    hd_status (*finish)(hd_ctx *, hd_gpu *);
    /* Timers 0 .. n - 1; launch takes -1 for none. */
    hd_status (*timers)(hd_ctx *, hd_gpu *, int n);
    double (*seconds)(hd_gpu *, int timer);
    /* Of the vendor's libraries. product, convolution NULL: the driver has none. no_products,
     * no_convolutions: why it is not here, NULL = it is. HD_UNSUPPORTED: it does not take these. */
    const char *(*no_products)(void);
    hd_status (*product)(hd_ctx *, hd_gpu *, const struct hd_gpu_product *,
                         struct hd_gpu_library_facts *out_facts, hd_gpu_library **out);
    const char *(*no_convolutions)(void);
    hd_status (*convolution)(hd_ctx *, hd_gpu *, const struct hd_gpu_convolution *,
                             struct hd_gpu_library_facts *out_facts, hd_gpu_library **out);
    void (*drop)(hd_gpu *, hd_gpu_library *);
    /* Enqueues. arg: a, b, y of a product, x, w, y of a convolution; then the bias, the residual
     * and the workspace, where these are. */
    hd_status (*compute)(hd_ctx *, hd_gpu *, hd_gpu_library *, hd_gpu_mem *const *arg, int n_args,
                         int timer);
    /* NULL: the driver has no recordings. Where the memory is, for as long as it lives. */
    uint64_t (*where)(const hd_gpu_mem *);
    /* What is enqueued between record and recorded does not
     * run; replay enqueues it, as one launch. Memory that it names stays where it is. */
    hd_status (*record)(hd_ctx *, hd_gpu *);
    /* s: what the recording has come to; unless it is HD_OK, nothing is kept. Gives s, or an error.
     */
    hd_status (*recorded)(hd_ctx *, hd_gpu *, hd_status s, hd_gpu_recording **out);
    hd_status (*replay)(hd_ctx *, hd_gpu *, hd_gpu_recording *);
    void (*forget)(hd_gpu *, hd_gpu_recording *);
    /* GPUs of other processes: see struct hd_peers_ops. NULL: the driver has none. from: memory of
     * any hd_gpu of this process. */
    const char *(*no_peers)(void);
    hd_status (*peers_id)(hd_ctx *, void *out);
    hd_status (*join)(hd_ctx *, hd_gpu *, const void *id, int me, int n);
    hd_status (*gather)(hd_ctx *, hd_gpu *, const struct hd_gpu_gather *, int n);
};

extern const struct hd_gpu_api hd_gpu_cuda;
extern const struct hd_gpu_api hd_gpu_opencl;

#endif
