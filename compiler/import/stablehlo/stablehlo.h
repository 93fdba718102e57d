/* Private to compiler/import/stablehlo: the state of one import. */
#ifndef HD_IMPORT_STABLEHLO_H
#define HD_IMPORT_STABLEHLO_H

#include "compiler/import/import.h"
#include "compiler/import/stablehlo/mlir.h"

struct hd_shlo_type {
    hd_dtype dtype;
    int rank;
    int64_t dim[HD_MAX_RANK]; /* -1 = open */
    bool quantised;           /* stored as dtype: value = scale * (q - zero) */
    int n_scales, axis;       /* axis: of several scales */
    const float *scale;
    const int32_t *zero;
};

struct hd_shlo_value { /* what a name means */
    const char *name;
    int tensor;
    struct hd_shlo_type type; /* of quantised ones: the scales; rank and dim are the tensor's */
};

struct hd_shlo_scope {
    const struct hd_shlo_scope *up; /* NULL: of a function */
    struct hd_shlo_value *values;
    size_t n, cap;
};

struct hd_shlo {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena;
    const struct hd_source *from;
    struct hd_mlir_module module;
    struct hd_shlo_scope *scope;
    const struct hd_mlir_op *op;   /* in work */
    int depth;                     /* of calls and regions */
    int64_t steps;                 /* operations so far, those of loops each time */
    struct hd_shlo_value *results; /* of the function or region that has returned */
    size_t n_results;
    int checks; /* comparisons that became outputs */
};

/* ---- dense.c: types and constants ---- */
hd_status hd_shlo_type(struct hd_shlo *m, const char *text, struct hd_shlo_type *out);
/* "dense<..> : type" or "dense<..>" of this type, in the graph's arena. */
hd_status hd_shlo_dense(struct hd_shlo *m, const char *text, const struct hd_shlo_type *t,
                        void **out);

/* ---- stablehlo_build.c ---- */
hd_status hd_shlo_bad(struct hd_shlo *m, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
hd_status hd_shlo_operand(struct hd_shlo *m, size_t i, struct hd_shlo_value *out);
/* The tensor of operand i; as float when it is quantised. */
hd_status hd_shlo_in(struct hd_shlo *m, size_t i, int *out);
/* Result i of the operation in work is this; quantised by the type of the result when that is. */
hd_status hd_shlo_out(struct hd_shlo *m, size_t i, int tensor);
/* The same of what is stored, with the type of a value. */
hd_status hd_shlo_out_stored(struct hd_shlo *m, size_t i, int tensor,
                             const struct hd_shlo_type *type);
hd_status hd_shlo_result_type(struct hd_shlo *m, size_t i, struct hd_shlo_type *out);
void hd_shlo_bind(struct hd_shlo *m, const char *name, int tensor, const struct hd_shlo_type *type);
int hd_shlo_node(struct hd_shlo *m, enum hd_ir_op op, int n_in, const int *in, int *out);
hd_status hd_shlo_done(struct hd_shlo *m, int node);
hd_status hd_shlo_emit(struct hd_shlo *m, enum hd_ir_op op, int n_in, const int *in, int *out);
hd_status hd_shlo_binary(struct hd_shlo *m, enum hd_ir_op op, int a, int b, int *out);
hd_status hd_shlo_cast(struct hd_shlo *m, int x, hd_dtype to, int *out);
hd_status hd_shlo_reshape(struct hd_shlo *m, int x, int rank, const int64_t *dim, int *out);
hd_status hd_shlo_transpose(struct hd_shlo *m, int x, int rank, const int64_t *perm, int *out);
hd_status hd_shlo_slice(struct hd_shlo *m, int x, int rank, const int64_t *from, const int64_t *to,
                        const int64_t *step, int *out);
int hd_shlo_ints(struct hd_shlo *m, int n, const int64_t *v);
/* A scalar of the type that tensor `like` has. */
hd_status hd_shlo_scalar(struct hd_shlo *m, double v, int like, int *out);
struct hd_tensor hd_shlo_shape(const struct hd_shlo *m, int tensor);
bool hd_shlo_is_float(hd_dtype t);
hd_status hd_shlo_dequantize(struct hd_shlo *m, const struct hd_shlo_type *t, int x, int *out);
hd_status hd_shlo_quantize(struct hd_shlo *m, const struct hd_shlo_type *t, int x, int *out);
/* Integers of attribute `name`: exactly n, or `def` in each place when it is absent. */
hd_status hd_shlo_list(struct hd_shlo *m, const char *name, int n, int64_t def, int64_t *out);
/* Integers of a member of "#stablehlo.gather<offset_dims = [1], ..>", at most HD_MAX_RANK; their
 * count, 0 when it is absent, -1 when it is too long. */
int hd_shlo_member(const char *text, const char *name, int64_t *out);
int64_t hd_shlo_int(struct hd_shlo *m, const char *name, int64_t def);
/* Values of a constant operand, as int64; *n of them. */
hd_status hd_shlo_known_ints(struct hd_shlo *m, size_t i, int64_t *out, int max, int *n);

/* ---- stablehlo.c ---- */
/* The operations of region r with these arguments; results in m->results. */
hd_status hd_shlo_region(struct hd_shlo *m, const struct hd_mlir_region *r,
                         const struct hd_shlo_value *args, size_t n_args);
/* Its one result, of plain arguments. */
hd_status hd_shlo_combine(struct hd_shlo *m, const struct hd_mlir_region *r, const int *args,
                          size_t n_args, int *out, size_t n_out);
/* What the body of a reduction computes, when it is one operation: add, mul, max, min; else -1. */
int hd_shlo_body_op(const struct hd_mlir_op *op);

#define SHLO_OP(name, function) hd_status hd_shlo_op_##function(struct hd_shlo *m);
#include "compiler/import/stablehlo/stablehlo_ops.def"

#endif
