/* Private to compiler/loop: values of the loop IR as text of a language. */
#ifndef HD_LOOP_EMIT_H
#define HD_LOOP_EMIT_H

#include "compiler/loop/dialect.h"
#include "compiler/loop/kernels.h"
#include "compiler/loop/loop_int.h"

enum { HD_EMIT_TENSORS = 10 * HD_EXPR_TENSORS, HD_EMIT_VECTORS = 16 };

struct hd_emitter {
    const struct hd_dialect *d;
    const struct hd_nest *n;
    FILE *out, *helpers;
    bool made[HD_EXPR_OPS][HD_DTYPES]; /* helper functions that are there */
    bool has_fn;                       /* the code of the machine's functions is there */
    const char *name;                  /* in front of the helpers' names */
    bool threaded[HD_LOOP_MAX];        /* C: the loop is parallel, or inside one that is */
    bool gathers;                      /* indexes that are read from tensors were printed */
    /* of kernels: a list of statements; unrolled loops around what is printed; fragments of each
     * tensor; where its first values are; those are printed to store the fragments */
    void (*list)(struct hd_emitter *, const struct hd_loop_stmt *, const struct hd_kernel_call *);
    int unrolled[HD_LOOP_DEPTH], n_unrolled;
    int fragments[HD_EMIT_TENSORS];
    const struct hd_loop_stmt *first[HD_EMIT_TENSORS];
    bool storing;
    int room[HD_EMIT_TENSORS]; /* of kernels: bytes that a buffer has at least */
    /* of kernels: the loop of lanes that is being printed, and the accesses that are its vectors */
    int lanes, vector[HD_EMIT_VECTORS], n_vectors;
};

void hd_emit_value(struct hd_emitter *e, int node);
/* The name of the operator's helper and "(". */
void hd_emit_call(struct hd_emitter *e, enum hd_expr_op op, int type);
/* tensor[index]; the tensor is named t<number>. */
void hd_emit_element(struct hd_emitter *e, int tensor, int n, const int *index);
/* An index that is not looked at when it runs. */
void hd_emit_index(struct hd_emitter *e, int node);
/* The operator of a reduction that is no arg reduction. */
enum hd_expr_op hd_emit_reduce_op(enum hd_expr_reduce r);
/* A loop that is an intrinsic. False: it is printed as a loop. */
bool hd_emit_intrinsic(struct hd_emitter *e, const struct hd_loop_stmt *s,
                       const struct hd_kernel_call *c);
/* A block's product of bytes (step gemm). */
void hd_emit_gemm(struct hd_emitter *e, const struct hd_loop_stmt *s,
                  const struct hd_kernel_call *c);
/* A loop of lanes, s. False: it is printed as a loop. */
bool hd_emit_vector(struct hd_emitter *e, const struct hd_loop_stmt *s);
/* The access is one of the vectors around it. False: it is printed as an element. */
bool hd_emit_lane(struct hd_emitter *e, int node);
/* Declarations of the registers that intrinsics keep sums in. */
void hd_emit_fragments(struct hd_emitter *e);
/* Whether the language has the types. HD_UNSUPPORTED names what it lacks. */
hd_status hd_emit_can(hd_ctx *ctx, const struct hd_dialect *d, const struct hd_nest *n);

#endif
