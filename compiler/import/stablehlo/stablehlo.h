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
    bool complex; /* pairs of dtype: a tensor of real and one of imaginary parts */
    int small;    /* 1 + enum hd_small: a float of 8 bits and less, which is f32 in the graph */
};

struct hd_shlo_value { /* what a name means */
    const char *name;
    int tensor;
    int imag;                 /* of complex ones: the imaginary parts */
    struct hd_shlo_type type; /* of quantised ones: the scales; rank and dim are the tensor's */
};

enum hd_shlo_part { HD_SHLO_WHOLE, HD_SHLO_REAL, HD_SHLO_IMAG };

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
    int checks;                          /* comparisons that became outputs */
    enum hd_shlo_part part[2];           /* of complex operands: of the first, of the others */
    int *capture;                        /* results go here instead of getting names */
    const struct hd_shlo_parallel *team; /* several processes at once; NULL = one */
    int process;                         /* in work */
    struct hd_shlo_probe *probes;        /* the latest first */
};

/* ---- dense.c: types and constants ---- */
hd_status hd_shlo_type(struct hd_shlo *m, const char *text, struct hd_shlo_type *out);
/* "dense<..> : type" or "dense<..>" of this type, in the graph's arena. */
hd_status hd_shlo_dense(struct hd_shlo *m, const char *text, const struct hd_shlo_type *t,
                        void **out);

/* ---- stablehlo_build.c ---- */
hd_status hd_shlo_bad(struct hd_shlo *m, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Of a complex one the part in work, where a reader sees one part at a time. */
hd_status hd_shlo_operand(struct hd_shlo *m, size_t i, struct hd_shlo_value *out);
/* The tensor of operand i; as float when it is quantised. */
hd_status hd_shlo_in(struct hd_shlo *m, size_t i, int *out);
/* Result i of the operation in work is this; quantised by the type of the result when that is. */
hd_status hd_shlo_out(struct hd_shlo *m, size_t i, int tensor);
/* The same of what is stored, with the type of a value. */
hd_status hd_shlo_out_stored(struct hd_shlo *m, size_t i, int tensor,
                             const struct hd_shlo_type *type);
hd_status hd_shlo_result_type(struct hd_shlo *m, size_t i, struct hd_shlo_type *out);
/* The same of a value as it is. */
hd_status hd_shlo_out_value(struct hd_shlo *m, size_t i, const struct hd_shlo_value *v);
void hd_shlo_bind(struct hd_shlo *m, const char *name, const struct hd_shlo_value *v);
const struct hd_shlo_value *hd_shlo_find(const struct hd_shlo_scope *scope, const char *name);
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
/* The operation as the table has it, without regard to complex numbers. */
hd_status hd_shlo_run_plain(struct hd_shlo *m);
hd_status hd_shlo_run_op(struct hd_shlo *m, const struct hd_mlir_op *op);
/* m->results become those of the operation in work. */
hd_status hd_shlo_take_results(struct hd_shlo *m);
const struct hd_mlir_func *hd_shlo_function(const struct hd_shlo *m, const char *name);

/* ---- stablehlo_complex.c ---- */
/* Whether the operation in work has complex operands or results, and a reader for them. */
bool hd_shlo_is_complex(struct hd_shlo *m);
hd_status hd_shlo_run_complex(struct hd_shlo *m);
struct hd_shlo_pair {
    int re, im; /* im < 0: real */
};
/* Operand i in f64, and the type it had; of a real one the imaginary parts are 0. */
hd_status hd_shlo_get(struct hd_shlo *m, size_t i, struct hd_shlo_pair *out, hd_dtype *type);
hd_status hd_shlo_give(struct hd_shlo *m, size_t i, struct hd_shlo_pair y, hd_dtype type);
/* Both real or both complex; `times` is mul or matmul. */
hd_status hd_shlo_multiply(struct hd_shlo *m, enum hd_ir_op times, struct hd_shlo_pair a,
                           struct hd_shlo_pair b, struct hd_shlo_pair *out);
hd_status hd_shlo_divide(struct hd_shlo *m, struct hd_shlo_pair a, struct hd_shlo_pair b,
                         struct hd_shlo_pair *out);
/* The angle of (x, y), all of f64. */
hd_status hd_shlo_angle(struct hd_shlo *m, int y, int x, int *out);

/* ---- stablehlo_parallel.c ---- */
/* What the probe of this name saw (of its turn `iter`), the part in work. */
hd_status hd_shlo_probed(struct hd_shlo *m, int *out);

/* ---- stablehlo_shape.c ---- */
/* low and high may be negative: that much is cut off. */
hd_status hd_shlo_padded(struct hd_shlo *m, int x, int value, const int64_t *low,
                         const int64_t *high, const int64_t *interior, int *out);

#define SHLO_OP(name, function) hd_status hd_shlo_op_##function(struct hd_shlo *m);
#include "compiler/import/stablehlo/stablehlo_ops.def"

#endif
