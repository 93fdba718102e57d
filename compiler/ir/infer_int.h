/* Private to compiler/ir: what the hd_infer_<op> functions work with. One function per row of
 * ops.def, in infer_<family>.c. It sees operands of known shape only, checks their types and shapes
 * and fills c->out; the caller checks arity before, and the limits on sizes after, so products of
 * dimensions may not be formed unchecked.
 *
 *   hd_status hd_infer_relu(struct infer *c) {
 *       TRY(hd_infer_want_type(c, 0, HD_F32));
 *       hd_infer_like(c, 0, in(c, 0));
 *       return HD_OK;
 *   }
 */
#ifndef HD_IR_INFER_INT_H
#define HD_IR_INFER_INT_H

#include "compiler/ir/infer.h"

struct infer {
    hd_ctx *ctx;
    const hd_graph *g;
    const struct hd_tensor *t; /* what ids refer to: g->tensors, or those of a run */
    const struct hd_node *n;
    struct hd_tensor *out; /* n->n_out of them: dtype, rank and dim are to be filled in */
    bool later;            /* hd_infer_later() was called */
};

#define OP(name, ...) hd_status hd_infer_##name(struct infer *c);
#include "compiler/ir/ops.def"

#define BAD(c, fmt, ...)                                                                           \
    hd_fail((c)->ctx, HD_INVALID, "node '%s' (%s): " fmt, (c)->n->name,                            \
            hd_ir_ops[(c)->n->op].name, __VA_ARGS__)

/* Operand i, NULL when it is left out. */
static inline const struct hd_tensor *in(const struct infer *c, int i) {
    return i < c->n->n_in && c->n->in[i] >= 0 ? &c->t[c->n->in[i]] : NULL;
}

/* Data of operand i when it is a constant, or known in this run; else NULL. */
static inline const void *hd_infer_value(const struct infer *c, int i) {
    return in(c, i) ? in(c, i)->data : NULL;
}
/* For `return`: the outputs stay unknown until the values are there. */
hd_status hd_infer_later(struct infer *c);
/* The same for output o alone. */
void hd_infer_unknown(struct infer *c, int o);
/* Integers (i32 or i64, rank 0 or 1) that operand i holds, at most max of them; *out_n = -1 when
 * its values are not known yet (then hd_infer_later). Left out or empty: 0. */
hd_status hd_infer_int_list(struct infer *c, int i, int64_t *out, int max, int *out_n);

/* Output o: as t, or from its parts. Outputs that the node does not have are skipped. */
void hd_infer_like(struct infer *c, int o, const struct hd_tensor *t);
void hd_infer_set(struct infer *c, int o, hd_dtype t, int rank, const int64_t *dim);

/* Checks of operand i; one that is left out passes. */
hd_status hd_infer_want_type(struct infer *c, int i, hd_dtype t);
hd_status hd_infer_want_types(struct infer *c, int i, unsigned set); /* bits 1u << HD_F32 .. */
hd_status hd_infer_want_byte(struct infer *c, int i);                /* i8, u8, of some i16 */
hd_status hd_infer_want_rank(struct infer *c, int i, int rank);
hd_status hd_infer_want_vector(struct infer *c, int i, int64_t n); /* [n] */
/* Attribute `name` as an axis of a tensor of this rank; negative ones count from the end. */
hd_status hd_infer_axis(struct infer *c, const char *name, int64_t def, int rank, int64_t *out);
hd_status hd_infer_norm_axis(struct infer *c, int64_t axis, int rank, int64_t *out);

enum {
    HD_T_FLOAT = 1u << HD_F32 | 1u << HD_F64 | 1u << HD_F16 | 1u << HD_BF16,
    HD_T_SIGNED = 1u << HD_I8 | 1u << HD_I16 | 1u << HD_I32 | 1u << HD_I64,
    HD_T_UNSIGNED = 1u << HD_U8 | 1u << HD_U16 | 1u << HD_U32 | 1u << HD_U64,
    HD_T_INT = HD_T_SIGNED | HD_T_UNSIGNED,
    HD_T_NUMBER = HD_T_FLOAT | HD_T_INT,
    HD_T_ANY = HD_T_NUMBER | 1u << HD_BOOL
};

/* Dims [0, na) and [0, nb) broadcast by numpy's rules; rank and dims of output 0. */
hd_status hd_infer_broadcast(struct infer *c, const int64_t *a, int na, const int64_t *b, int nb);
/* "2,3,4" */
void hd_infer_shape_text(const struct hd_tensor *t, char *out, size_t bytes);
/* Type of output 0 of a q operation (attribute "to", else that of operand 0); checks lo, hi and
 * zero points. */
hd_status hd_infer_q_type(struct infer *c);

#endif
