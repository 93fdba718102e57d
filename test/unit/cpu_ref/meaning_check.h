/* Golden's kernels against the interpreter of what meaning.def says that operations compute. */
#ifndef HD_TEST_MEANING_CHECK_H
#define HD_TEST_MEANING_CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/ir/expression.h"
#include "cpu_ref/golden.h"
#include "runtime/base/element.h"

enum { MEANING_ELEMENTS = 1 << 14 };

struct meaning_count {
    int nodes[HD_IR_OPS], without, failed;
};

static inline bool meaning_is_float(hd_dtype t) {
    return hd_k_is_float(t);
}

/* Integers are equal; floats within the rounding of a few steps. */
static inline bool meaning_same(const struct hd_tensor *y, const void *got) {
    for (int64_t i = 0, n = hd_tensor_elems(y); i < n; i++) {
        double a = hd_k_f64(y->data, y->dtype, i), b = hd_k_f64(got, y->dtype, i);
        if (!meaning_is_float(y->dtype)) {
            if (hd_k_i64(y->data, y->dtype, i) != hd_k_i64(got, y->dtype, i)) return false;
            continue;
        }
        double ulp = y->dtype == HD_F64 ? 1e-12 : y->dtype == HD_F32 ? 2e-6 : 1e-2;
        if (a != a ? b == b : !(a == b || fabs(a - b) <= ulp * (1 + fabs(a)))) return false;
    }
    return true;
}

/* Result y of golden against the same one of an expression. */
static inline hd_status meaning_compare(hd_ctx *ctx, const struct hd_tensor *y,
                                        const struct hd_expr_tensor *r, const void *got) {
    bool shape = r->type == (int)y->dtype && r->rank == y->rank;
    for (int d = 0; shape && d < y->rank; d++) shape = r->dim[d].value == y->dim[d];
    if (!shape) return hd_fail(ctx, HD_INVALID, "another type or shape of %s", r->name);
    return meaning_same(y, got) ? HD_OK : hd_fail(ctx, HD_INVALID, "other values of %s", r->name);
}

/* One node of a graph that golden has run. */
static inline void meaning_check(hd_ctx *ctx, const hd_graph *g, int id, const struct hd_tensor *t,
                                 struct meaning_count *c) {
    const struct hd_node *n = &g->nodes[id];
    hd_arena *a = hd_arena_create();
    const struct hd_tensor **in = hd_new_array(a, const struct hd_tensor *, (size_t)n->n_in + 1);
    const void **data = hd_new_array(a, const void *, HD_EXPR_TENSORS);
    void **out = hd_new_array(a, void *, HD_EXPR_TENSORS);
    struct hd_expr *f;
    bool variable = false; /* read, and then changed */
    for (int i = 0; i < n->n_in; i++) {
        in[i] = n->in[i] < 0 ? NULL : &t[n->in[i]];
        if (i < HD_EXPR_TENSORS && in[i]) data[i] = in[i]->data;
        variable = variable || (in[i] && in[i]->initial);
    }
    const struct hd_tensor *y = n->out[0] < 0 ? NULL : &t[n->out[0]];
    if (y && hd_tensor_elems(y) > MEANING_ELEMENTS) y = NULL; /* the interpreter is slow */
    const char *text = y && y->data && !variable ? hd_expression_of(a, n, n->n_in, in, y) : NULL;
    hd_status s = HD_OK;
    if (text) s = hd_expression_bind(ctx, a, n, text, n->n_in, in, &f);
    if (text && s == HD_OK) s = hd_expr_verify(ctx, f);
    if (text && s == HD_OK) {
        for (size_t i = 0; i < f->n_results; i++) {
            const struct hd_expr_tensor *r = &f->tensor[f->result[i]];
            out[i] = hd_alloc(a, 8 * (size_t)hd_expr_elems(r) + 8);
        }
        s = hd_expr_run(ctx, f, data, out, a);
        for (int i = 0; i < n->n_out && i < (int)f->n_results && s == HD_OK; i++)
            if (n->out[i] >= 0)
                s = meaning_compare(ctx, &t[n->out[i]], &f->tensor[f->result[i]], out[i]);
    }
    if (s != HD_OK) {
        c->failed++;
        printf("%s (%s): %s%s\n", n->name, hd_ir_ops[n->op].name, hd_message(ctx), text);
        hd_node_print(g, id, stdout);
        hd_clear(ctx);
    } else if (text) {
        c->nodes[n->op]++;
    } else {
        c->without++;
    }
    hd_arena_destroy(a);
}

#endif
