/* Between device cpu and its oneDNN plugin (dnnl_plugin.c): a table of functions, no oneDNN types.
 * The plugin is opened at run time, so that the program starts without oneDNN and runs without it.
 *
 * All float tensors are f32. Layouts ("md") are interned: equal layouts have equal pointers, which
 * live as long as the engine. Functions that make an operation return NULL when oneDNN has no good
 * implementation (none at all, or only its reference code).
 */
#ifndef HD_CPU_REF_DNNL_API_H
#define HD_CPU_REF_DNNL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/window.h"

enum { HD_DNNL_API = 4, HD_DNNL_RANK = 8, HD_DNNL_POSTS = 8 };

enum hd_dnnl_post_kind {
    HD_POST_SUM, /* y += what dst held */
    HD_POST_RELU,
    HD_POST_CLIP, /* alpha .. beta */
    HD_POST_SIGMOID,
    HD_POST_TANH,
    HD_POST_LEAKY,     /* alpha */
    HD_POST_SWISH,     /* x * sigmoid(alpha x) */
    HD_POST_GELU,      /* by erf */
    HD_POST_HARDSWISH, /* x * clip(x / 6 + 1/2, 0, 1) */
    HD_POST_LINEAR,    /* alpha x + beta */
    HD_POST_ADD,       /* with a tensor */
    HD_POST_MUL,
};

struct hd_dnnl_post {
    enum hd_dnnl_post_kind kind;
    float alpha, beta;
    int rank; /* ADD, MUL: shape of the other tensor, dense; dims 1 broadcast */
    int64_t dim[HD_DNNL_RANK];
};

enum { HD_DNNL_SPATIAL = 3 };

struct hd_dnnl_conv {
    struct hd_window_nd v; /* 1 to HD_DNNL_SPATIAL dimensions; weights [M][C/group][kernel..] */
    int64_t m, group;
    bool transposed;              /* ConvTranspose; weights [C][M/group][kernel..] */
    const float *w_data, *b_data; /* dense; w NULL = operand 1; b NULL = none, or: */
    bool b_operand;        /* it is the operand behind the weights; only where they are one */
    bool x_dense, y_dense; /* fixed to dense, else oneDNN chooses */
    int n_posts;
    struct hd_dnnl_post post[HD_DNNL_POSTS];
};

struct hd_dnnl_matmul { /* y[..][m][n] = alpha a[..][m][k] b[..][k][n] + bias, batch dims broadcast
                         */
    int rank;
    int64_t a[HD_DNNL_RANK], b[HD_DNNL_RANK], y[HD_DNNL_RANK];
    bool a_turned, b_turned; /* stored with the last two dims exchanged */
    const float *b_data;     /* not NULL: constant, packed */
    const float *bias;       /* [n], NULL = none */
    float alpha;
    int n_posts;
    struct hd_dnnl_post post[HD_DNNL_POSTS];
};

enum hd_dnnl_pool_kind { HD_POOL_MAX, HD_POOL_AVG, HD_POOL_AVG_PADDED };

struct hd_dnnl_pool {
    enum hd_dnnl_pool_kind kind;
    struct hd_window_nd v;
    const void *x_md; /* NULL = dense */
};

struct hd_dnnl_lrn {
    int rank;
    int64_t dim[HD_DNNL_RANK], size;
    float alpha, beta, k;
    const void *x_md; /* NULL = dense */
};

/* Quantised convolution on bytes in layout [N][H][W][C] (a matrix: 1x1 image of C channels each):
 * y = saturate(clamp(rint((acc + bias) * scale), clip_lo, clip_hi) + y_zp), acc exact. */
struct hd_dnnl_qconv {
    int64_t n, c, h, w, m, oh, ow, kh, kw, sy, sx, dy, dx, pt, pl, group;
    bool x_signed, y_signed, clip;
    int32_t x_zp, y_zp;
    float clip_lo, clip_hi;
    const int8_t *w_data; /* [M][C/group][kh][kw] */
    const int32_t *bias;  /* [M] */
    const float *scale;   /* [M] */
};

typedef struct hd_dnnl_op hd_dnnl_op;

struct hd_dnnl_api {
    int version; /* HD_DNNL_API */
    void *(*open)(int threads);
    void (*close)(void *engine);
    const char *(*isa)(void *engine);
    bool (*dense)(const void *md);  /* row-major without padding */
    bool (*padded)(const void *md); /* holds more elements than the tensor */
    size_t (*bytes)(const void *md);
    /* blocks of channels one behind the other, pixels inside: tensors of one image that are joined
     * along the channels lie one behind the other */
    bool (*blocks_channels)(const void *md);
    bool (*same_blocks)(const void *a, const void *b); /* ... of the same size */
    hd_dnnl_op *(*conv)(void *engine, const struct hd_dnnl_conv *d);
    /* its sums are exact where the processor has VNNI or AMX; elsewhere pairs of products saturate
     */
    bool (*exact_int8)(void *engine);
    bool (*has_amx)(void *engine); /* ... and they are of AMX */
    hd_dnnl_op *(*qconv)(void *engine, const struct hd_dnnl_qconv *d);
    hd_dnnl_op *(*matmul)(void *engine, const struct hd_dnnl_matmul *d);
    hd_dnnl_op *(*pool)(void *engine, const struct hd_dnnl_pool *d);
    hd_dnnl_op *(*lrn)(void *engine, const struct hd_dnnl_lrn *d);
    /* from, to: NULL = dense; dim: of the tensor */
    hd_dnnl_op *(*reorder)(void *engine, int rank, const int64_t *dim, const void *from,
                           const void *to);
    /* parts along dim 1, all in md's kind of layout; NULL when it cannot */
    hd_dnnl_op *(*concat)(void *engine, int n, const void *const *md);
    const char *(*impl)(const hd_dnnl_op *op);
    const void *(*x_md)(const hd_dnnl_op *op); /* NULL = dense */
    const void *(*y_md)(const hd_dnnl_op *op);
    size_t (*scratch)(const hd_dnnl_op *op);
    /* x: operands (matmul: a, then b unless constant; then one for each ADD or MUL). 0 = done */
    int (*run)(hd_dnnl_op *op, void *const *x, void *y, void *scratch);
    void (*destroy)(hd_dnnl_op *op);
};

#define HD_DNNL_ENTRY "hd_dnnl_api_table" /* symbol of the table in the plugin */

#endif
