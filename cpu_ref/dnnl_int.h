/* Inside the oneDNN plugin: the engine, operations and what makes them. */
#ifndef HD_CPU_REF_DNNL_INT_H
#define HD_CPU_REF_DNNL_INT_H

#include <stdio.h>

#include <oneapi/dnnl/dnnl.h>

#include "cpu_ref/dnnl_api.h"

struct hd_dnnl_engine {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    const char *isa;
    int threads;
    dnnl_memory_desc_t **mds; /* interned */
    size_t n_mds, cap_mds;
};

enum { HD_DNNL_ARGS = 80, HD_DNNL_PACKED = 4, HD_DNNL_MOVE = 16, HD_DNNL_TEAM = 2000000 };
enum { HD_DNNL_FIXED = -1, HD_DNNL_RESULT = -2, HD_DNNL_SCRATCH = -3 }; /* else: operand x[i] */

struct hd_dnnl_op {
    struct hd_dnnl_engine *e;
    hd_dnnl_op *first; /* runs before: an operand to packed[0]; NULL = none */
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;
    char impl[64];
    int threads; /* that it is made for and runs with */
    const dnnl_memory_desc_t *x_md, *y_md;
    dnnl_exec_arg_t args[HD_DNNL_ARGS];
    int operand[HD_DNNL_ARGS];
    void *set[HD_DNNL_ARGS]; /* handle in force */
    int n_args;
    bool ran;
    void *packed[HD_DNNL_PACKED]; /* constants, owned */
    int n_packed;
    size_t scratch_bytes;
};

const dnnl_memory_desc_t *hd_dnnl_intern(struct hd_dnnl_engine *e, const dnnl_memory_desc_t *md);
void hd_dnnl_dense_md(dnnl_memory_desc_t *md, int rank, const int64_t *dim);
/* work: products, or elements moved times HD_DNNL_MOVE; little work gets one thread, since a team
 * of OpenMP costs microseconds, and much more on a busy machine. */
hd_dnnl_op *hd_dnnl_op_new(struct hd_dnnl_engine *e, int64_t work);
void hd_dnnl_op_destroy(hd_dnnl_op *op); /* NULL is fine */
bool hd_dnnl_arg(hd_dnnl_op *op, int arg, const dnnl_memory_desc_t *md, void *data, int operand);
void *hd_dnnl_keep(hd_dnnl_op *op, size_t bytes);
void *hd_dnnl_pack(hd_dnnl_op *op, const dnnl_memory_desc_t *from, const void *data,
                   const dnnl_memory_desc_t *to);
bool hd_dnnl_build(hd_dnnl_op *op, const_dnnl_op_desc_t desc, dnnl_primitive_attr_t attr);
bool hd_dnnl_scratch(hd_dnnl_op *op);

/* dnnl_ops.c */
hd_dnnl_op *hd_dnnl_conv_op(void *engine, const struct hd_dnnl_conv *d);
hd_dnnl_op *hd_dnnl_qconv_op(void *engine, const struct hd_dnnl_qconv *d);
hd_dnnl_op *hd_dnnl_matmul_op(void *engine, const struct hd_dnnl_matmul *d);
hd_dnnl_op *hd_dnnl_pool_op(void *engine, const struct hd_dnnl_pool *d);
hd_dnnl_op *hd_dnnl_lrn_op(void *engine, const struct hd_dnnl_lrn *d);
hd_dnnl_op *hd_dnnl_reorder_op(void *engine, int rank, const int64_t *dim, const void *from,
                               const void *to);
hd_dnnl_op *hd_dnnl_concat_op(void *engine, int n, const void *const *md);

#endif
