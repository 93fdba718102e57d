/* Shapes of control flow. A graph in an attribute has shapes of its own; they count when its inputs
 * are shaped as the operands are, else the results are for the run to tell. */
#include <string.h>

#include "compiler/ir/infer_int.h"

static bool same(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->known && b->known && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

static hd_status body_of(struct infer *c, const char *name, size_t n_in, size_t least_out,
                         const hd_graph **out) {
    *out = hd_attr_graph(c->n, name);
    if (!*out) return BAD(c, "attribute %s is no graph", name);
    if ((*out)->n_inputs != n_in || (*out)->n_outputs < least_out)
        return BAD(c, "%s has %zu inputs and %zu outputs, want %zu and at least %zu", name,
                   (*out)->n_inputs, (*out)->n_outputs, n_in, least_out);
    return HD_OK;
}

static const struct hd_tensor *sub_in(const hd_graph *s, int i) {
    return &s->tensors[s->inputs[i]];
}
static const struct hd_tensor *sub_out(const hd_graph *s, int i) {
    return &s->tensors[s->outputs[i]];
}

/* Operands first .. are shaped like the graph's inputs from `input` on. */
static bool fits(const struct infer *c, const hd_graph *s, int first, int input) {
    bool ok = true;
    for (int i = first; i < c->n->n_in; i++)
        ok = ok && in(c, i) && same(in(c, i), sub_in(s, input + i - first));
    return ok;
}

static hd_status want_one(struct infer *c, int i, hd_dtype t) {
    TRY(hd_infer_want_type(c, i, t));
    if (in(c, i) && hd_tensor_elems(in(c, i)) != 1)
        return BAD(c, "operand %d ('%s') has %lld values, want 1", i, in(c, i)->name,
                   (long long)hd_tensor_elems(in(c, i)));
    return HD_OK;
}

static hd_status want_outputs(struct infer *c, size_t n) {
    if ((size_t)c->n->n_out <= n) return HD_OK;
    return BAD(c, "%d outputs, its graph has %zu", c->n->n_out, n);
}

hd_status hd_infer_if(struct infer *c) {
    const hd_graph *a = NULL, *b = NULL;
    size_t captures = (size_t)c->n->n_in - 1;
    TRY(want_one(c, 0, HD_BOOL));
    TRY(body_of(c, "then", captures, (size_t)c->n->n_out, &a));
    TRY(body_of(c, "else", captures, (size_t)c->n->n_out, &b));
    bool ok = fits(c, a, 1, 0) && fits(c, b, 1, 0);
    for (int i = 0; i < c->n->n_out; i++) {
        if (ok && same(sub_out(a, i), sub_out(b, i)))
            hd_infer_like(c, i, sub_out(a, i));
        else
            hd_infer_unknown(c, i);
    }
    return HD_OK;
}

static bool always_true(const hd_graph *s, int tensor) {
    const struct hd_tensor *t = &s->tensors[tensor];
    while (!t->data && t->producer >= 0 && s->nodes[t->producer].op == HD_IR_identity) {
        tensor = s->nodes[t->producer].in[0];
        t = &s->tensors[tensor];
    }
    if (t->data) return t->dtype == HD_BOOL && hd_tensor_elems(t) == 1 && *(const bool *)t->data;
    return tensor == s->inputs[1]; /* stays what it was */
}

/* Iterations, when they are known beforehand; else -1. */
static int64_t trip_count(const struct infer *c, const hd_graph *body) {
    const int64_t *most = hd_infer_value(c, 0);
    const unsigned char *cond = hd_infer_value(c, 1);
    if (in(c, 1) && !cond) return -1;
    if (cond && !*cond) return 0;
    if (!most || !always_true(body, body->outputs[0])) return -1;
    return *most < 0 ? 0 : *most;
}

/* [n] in front of the shape of a slice. */
static void stacked(struct infer *c, int o, const struct hd_tensor *slice, int64_t n,
                    int64_t axis) {
    int64_t dim[HD_MAX_RANK];
    if (!slice->known || n < 0 || slice->rank == HD_MAX_RANK || axis > slice->rank) {
        hd_infer_unknown(c, o);
        return;
    }
    for (int i = 0, from = 0; i <= slice->rank; i++) dim[i] = i == axis ? n : slice->dim[from++];
    hd_infer_set(c, o, slice->dtype, slice->rank + 1, dim);
}

hd_status hd_infer_loop(struct infer *c) {
    const hd_graph *body = NULL;
    int64_t n = hd_attr_int(c->n, "n_carried", 0);
    if (n < 0 || n > c->n->n_in - 2)
        return BAD(c, "n_carried is %lld, allowed 0..%d", (long long)n, c->n->n_in - 2);
    TRY(want_one(c, 0, HD_I64));
    TRY(want_one(c, 1, HD_BOOL));
    TRY(body_of(c, "body", (size_t)c->n->n_in, (size_t)n + 1, &body));
    TRY(want_outputs(c, body->n_outputs - 1));
    bool ok = fits(c, body, 2, 2);
    for (int i = 0; i < n; i++) ok = ok && same(sub_in(body, i + 2), sub_out(body, i + 1));
    if (!ok) return hd_infer_later(c);
    for (int i = 0; i < c->n->n_out; i++) {
        if (i < n)
            hd_infer_like(c, i, sub_out(body, i + 1));
        else
            stacked(c, i, sub_out(body, i + 1), trip_count(c, body), 0);
    }
    return HD_OK;
}

/* Slices that go in have lost their axis. */
static bool slice_fits(const struct hd_tensor *x, const struct hd_tensor *slice, int64_t axis) {
    bool ok = slice->known && slice->dtype == x->dtype && slice->rank == x->rank - 1;
    for (int i = 0, d = 0; ok && i < x->rank; i++)
        if (i != axis) ok = x->dim[i] == slice->dim[d++];
    return ok;
}

hd_status hd_infer_scan(struct infer *c) {
    const hd_graph *body = NULL;
    int64_t states = hd_attr_int(c->n, "n_states", 0), slices = hd_attr_int(c->n, "n_scanned", 1);
    int64_t axes[HD_MAX_SCANS], axis, length = -1;
    if (states < 0 || slices < 1 || slices > HD_MAX_SCANS || states + slices > c->n->n_in)
        return BAD(c, "n_states %lld and n_scanned %lld do not fit %d operands", (long long)states,
                   (long long)slices, c->n->n_in);
    TRY(body_of(c, "body", (size_t)c->n->n_in, (size_t)states, &body));
    TRY(want_outputs(c, body->n_outputs));
    if (body->n_outputs - (size_t)states > HD_MAX_SCANS)
        return BAD(c, "%zu scanned outputs, at most %d", body->n_outputs - (size_t)states,
                   HD_MAX_SCANS);
    hd_attr_ints(c->n, "in_axes", axes, HD_MAX_SCANS, 0);
    bool ok = fits(c, body, (int)(states + slices), (int)(states + slices));
    for (int i = 0; i < states; i++)
        ok = ok && in(c, i) && same(in(c, i), sub_in(body, i)) &&
             same(sub_in(body, i), sub_out(body, i));
    for (int i = 0; i < slices; i++) {
        const struct hd_tensor *x = in(c, (int)states + i);
        if (!x) return BAD(c, "operand %d is left out, but required", (int)states + i);
        TRY(hd_infer_norm_axis(c, axes[i], x->rank, &axis));
        if (length >= 0 && length != x->dim[axis])
            return BAD(c, "operand '%s' has %lld slices, the others %lld", x->name,
                       (long long)x->dim[axis], (long long)length);
        length = x->dim[axis];
        ok = ok && slice_fits(x, sub_in(body, (int)states + i), axis);
    }
    if (!ok) return hd_infer_later(c);
    hd_attr_ints(c->n, "out_axes", axes, HD_MAX_SCANS, 0);
    for (int i = 0; i < c->n->n_out; i++) {
        const struct hd_tensor *y = sub_out(body, i);
        if (i < states) {
            hd_infer_like(c, i, y);
            continue;
        }
        TRY(hd_infer_norm_axis(c, axes[i - states], y->rank + 1, &axis));
        stacked(c, i, y, length, axis);
    }
    return HD_OK;
}
