/* Private to compiler/loop: values of the loop IR as text of a language. */
#ifndef HD_LOOP_EMIT_H
#define HD_LOOP_EMIT_H

#include "compiler/loop/dialect.h"
#include "compiler/loop/loop_int.h"

struct hd_emitter {
    const struct hd_dialect *d;
    const struct hd_nest *n;
    FILE *out, *helpers;
    bool made[HD_EXPR_OPS][HD_DTYPES]; /* helper functions that are there */
    const char *name;                  /* in front of the helpers' names */
    bool threaded[HD_LOOP_MAX];        /* C: the loop is parallel, or inside one that is */
    bool gathers;                      /* indexes that are read from tensors were printed */
};

void hd_emit_value(struct hd_emitter *e, int node);
/* The name of the operator's helper and "(". */
void hd_emit_call(struct hd_emitter *e, enum hd_expr_op op, int type);
/* tensor[index]; the tensor is named t<number>. */
void hd_emit_element(struct hd_emitter *e, int tensor, int n, const int *index);
/* The operator of a reduction that is no arg reduction. */
enum hd_expr_op hd_emit_reduce_op(enum hd_expr_reduce r);
/* Whether the language has the types. HD_UNSUPPORTED names what it lacks. */
hd_status hd_emit_can(hd_ctx *ctx, const struct hd_dialect *d, const struct hd_nest *n);

#endif
