/* Private to compiler/grad: adjoints and expansions of operations, the rows of grad.def. */
#ifndef HD_GRAD_ADJOINT_H
#define HD_GRAD_ADJOINT_H

#include "compiler/grad/build.h"

struct hd_adjoint { /* of one node */
    struct hd_back *b;
    struct hd_node n; /* a copy: nodes move */
    const int *dy;    /* gradient of each result, -1 = none */
    const bool *want; /* whether operand i wants one */
    int *dx;          /* out: gradient of operand i, of its shape, -1 = none */
};

/* Operand and result; HD_B_NONE = left out. */
static inline int hd_a_in(const struct hd_adjoint *a, int i) {
    return i < a->n.n_in && a->n.in[i] >= 0 ? a->n.in[i] : HD_B_NONE;
}
static inline bool hd_a_has(const struct hd_adjoint *a, int i) {
    return hd_a_in(a, i) >= 0;
}
/* Integers that operand i holds, i64 or i32. -1, and an error, when they are not constant; 0 when
 * it is left out. */
int hd_a_ints(struct hd_adjoint *a, int i, int64_t *out, int max);
/* Attribute as an axis 0..rank-1. */
int64_t hd_a_axis(const struct hd_adjoint *a, const char *name, int64_t def, int rank);

/* The value of a text of grad.def. y, g: at the rank that is wanted; n: as grad.def says. */
int hd_a_text(const struct hd_adjoint *a, const char *text, int y, int g, double n);

/* A sum of gradients, with three products or more of it made one; or as it is. */
int hd_join_products(struct hd_back *b, int sum);

#define CODE(op, function) void hd_adjoint_##function(struct hd_adjoint *a);
/* y[i]: a tensor of the value of result i, -1 = there is none. */
#define EXPAND(op, function) void hd_expand_##function(struct hd_adjoint *a, int *y);
#include "compiler/grad/grad.def"
void hd_adjoint_reduced(struct hd_adjoint *a, const char *text);

#endif
