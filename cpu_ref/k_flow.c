/* Control flow: kernels that run graphs. */
#include <string.h>

#include "cpu_ref/golden.h"
#include "cpu_ref/kernels.h"

/* A loop that runs longer is taken for one that does not end. */
enum { LOOP_MAX = 1 << 24 };

/* Tensors of a run of `body`, its inputs not yet set. */
static struct hd_tensor *open_body(const hd_graph *body, hd_arena *a) {
    return hd_golden_tensors(body, a);
}

static void give(struct hd_tensor *to, const struct hd_tensor *from, const void *data) {
    to->dtype = from->dtype;
    to->rank = from->rank;
    memcpy(to->dim, from->dim, sizeof to->dim);
    to->known = true;
    to->data = data;
}

static void give_scalar(struct hd_tensor *to, hd_dtype t, const void *data) {
    give(to, &(struct hd_tensor){.dtype = t}, data);
}

/* A copy of t and its data in `a`, which outlives the run that made it. */
static struct hd_tensor keep(const struct hd_tensor *t, hd_arena *a) {
    struct hd_tensor y = *t;
    y.data = hd_dup(a, t->data, hd_tensor_bytes(t));
    return y;
}

static hd_status put_result(const struct hd_kernel *k, int i, const struct hd_tensor *t) {
    void *to = hd_k_out_data(k, i);
    if (i >= k->n->n_out || k->n->out[i] < 0) return HD_OK;
    const struct hd_tensor *y = hd_k_out_n(k, i);
    bool same = to && y->dtype == t->dtype && y->rank == t->rank;
    for (int d = 0; same && d < t->rank; d++) same = y->dim[d] == t->dim[d];
    if (!same) TRY(hd_k_result(k, i, t->dtype, t->rank, t->dim, &to));
    if (hd_tensor_bytes(t)) memcpy(to, t->data, hd_tensor_bytes(t));
    return HD_OK;
}

/* Source: ONNX If-16. */
hd_status k_if(const struct hd_kernel *k) {
    const hd_graph *g = hd_attr_graph(k->n, *(const uint8_t *)k->in[0] ? "then" : "else");
    struct hd_tensor *t = open_body(g, k->arena);
    for (int i = 1; i < k->n->n_in; i++)
        if (k->in[i]) give(&t[g->inputs[i - 1]], hd_k_in(k, i), k->in[i]);
    TRY(hd_golden_eval(k->ctx, g, NULL, 0, t, k->arena));
    for (int i = 0; i < k->n->n_out; i++) TRY(put_result(k, i, &t[g->outputs[i]]));
    return HD_OK;
}

/* Slices of results, gathered over the iterations. */
struct gathered {
    struct hd_tensor *slice; /* [iterations] */
    size_t n, cap;
};

/* Stacks the slices along a new axis.  reverse: the first iteration's comes last. An empty list has
 * the shape that the graph knows. */
static hd_status put_stack(const struct hd_kernel *k, int o, const struct gathered *s,
                           const struct hd_tensor *known, int64_t axis, bool reverse) {
    struct hd_tensor y = s->n ? s->slice[0] : *known;
    if (o >= k->n->n_out || k->n->out[o] < 0) return HD_OK;
    if (!y.known || y.rank == HD_MAX_RANK)
        return hd_fail(k->ctx, HD_UNSUPPORTED, "result %d is stacked from %zu slices of %s", o,
                       s->n, y.known ? "the largest rank" : "unknown shape");
    if (axis < 0) axis += y.rank + 1;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < y.rank; i++) *(i < axis ? &outer : &inner) *= y.dim[i];
    for (int i = y.rank; i > axis; i--) y.dim[i] = y.dim[i - 1];
    y.dim[axis] = (int64_t)s->n;
    y.rank++;
    size_t bytes = (size_t)inner * hd_dtype_bytes(y.dtype), row = hd_tensor_bytes(&y);
    TRY(hd_shape_check(k->ctx, k->n->name, y.dtype, y.rank, y.dim));
    char *data = hd_alloc(k->arena, row + 1);
    for (size_t i = 0; i < s->n; i++) {
        const struct hd_tensor *x = &s->slice[reverse ? s->n - 1 - i : i];
        if (x->dtype != y.dtype || hd_tensor_bytes(x) != bytes * (size_t)outer)
            return hd_fail(k->ctx, HD_INVALID,
                           "result %d: iteration %zu gives a slice of another shape than the first",
                           o, i);
        for (int64_t q = 0; q < outer && bytes; q++)
            memcpy(data + ((size_t)q * s->n + i) * bytes, (const char *)x->data + (size_t)q * bytes,
                   bytes);
    }
    y.data = data;
    return put_result(k, o, &y);
}

/* Runs one iteration in an arena of its own; `values` (inputs of the body) come from `hold`, and
 * the results are copied there. */
static hd_status iterate(const struct hd_kernel *k, const hd_graph *body,
                         const struct hd_tensor *values, struct hd_tensor *results,
                         hd_arena *hold) {
    hd_arena *a = hd_arena_create();
    struct hd_tensor *t = open_body(body, a);
    for (size_t i = 0; i < body->n_inputs; i++)
        if (values[i].data) give(&t[body->inputs[i]], &values[i], values[i].data);
    hd_status s = hd_golden_eval(k->ctx, body, NULL, 0, t, a);
    for (size_t i = 0; s == HD_OK && i < body->n_outputs; i++)
        results[i] = keep(&t[body->outputs[i]], hold);
    hd_arena_destroy(a);
    return s;
}

static bool truth(const struct hd_tensor *t) {
    return t->dtype == HD_BOOL && hd_tensor_elems(t) == 1 && *(const uint8_t *)t->data;
}

/* Source: ONNX Loop-16. */
hd_status k_loop(const struct hd_kernel *k) {
    const hd_graph *body = hd_attr_graph(k->n, "body");
    size_t n = (size_t)hd_attr_int(k->n, "n_carried", 0), scans = body->n_outputs - 1 - n;
    int64_t most = k->in[0] ? *(const int64_t *)k->in[0] : INT64_MAX, trip;
    uint8_t go = k->in[1] ? *(const uint8_t *)k->in[1] : 1;
    struct hd_tensor *in = hd_new_array(k->arena, struct hd_tensor, body->n_inputs);
    struct hd_tensor *out = hd_new_array(k->arena, struct hd_tensor, body->n_outputs);
    struct gathered *list = hd_new_array(k->arena, struct gathered, scans + 1);
    if (!k->in[0] && !k->in[1])
        return hd_fail(k->ctx, HD_INVALID, "neither a trip count nor a condition: it never ends");
    for (size_t i = 2; i < body->n_inputs; i++)
        if (k->in[i]) give(&in[i], hd_k_in(k, (int)i), k->in[i]);
    give_scalar(&in[0], HD_I64, &trip);
    give_scalar(&in[1], HD_BOOL, &go);
    for (trip = 0; trip < most && go; trip++) {
        if (trip == LOOP_MAX)
            return hd_fail(k->ctx, HD_UNSUPPORTED, "still running after %d iterations", LOOP_MAX);
        TRY(iterate(k, body, in, out, k->arena));
        go = truth(&out[0]);
        for (size_t i = 0; i < n; i++) in[i + 2] = out[i + 1];
        for (size_t i = 0; i < scans; i++)
            *hd_push(k->arena, list[i].slice, list[i].n, list[i].cap) = out[i + 1 + n];
    }
    for (size_t i = 0; i < n; i++) TRY(put_result(k, (int)i, &in[i + 2]));
    for (size_t i = 0; i < scans; i++)
        TRY(put_stack(k, (int)(i + n), &list[i], &body->tensors[body->outputs[i + 1 + n]], 0,
                      false));
    return HD_OK;
}

/* Slice `at` of x along `axis`, dense, in `a`. */
static struct hd_tensor slice_of(const struct hd_tensor *x, int64_t axis, int64_t at, hd_arena *a) {
    struct hd_tensor y = *x;
    size_t outer = 1, inner = hd_dtype_bytes(x->dtype), size = (size_t)x->dim[axis];
    for (int i = 0; i < x->rank; i++)
        if (i != axis) *(i < axis ? &outer : &inner) *= (size_t)x->dim[i];
    for (int64_t i = axis; i + 1 < x->rank; i++) y.dim[i] = x->dim[i + 1];
    y.rank--;
    char *data = hd_alloc(a, outer * inner + 1);
    for (size_t o = 0; o < outer && inner; o++)
        memcpy(data + o * inner, (const char *)x->data + (o * size + (size_t)at) * inner, inner);
    y.data = data;
    return y;
}

/* Source: ONNX Scan-9 (opset 8 is brought to this form on import). */
hd_status k_scan(const struct hd_kernel *k) {
    const hd_graph *body = hd_attr_graph(k->n, "body");
    size_t states = (size_t)hd_attr_int(k->n, "n_states", 0), scans = body->n_outputs - states;
    size_t slices = (size_t)hd_attr_int(k->n, "n_scanned", 1);
    int64_t axes[HD_MAX_SCANS], reverse[HD_MAX_SCANS];
    struct hd_tensor *in = hd_new_array(k->arena, struct hd_tensor, body->n_inputs);
    struct hd_tensor *out = hd_new_array(k->arena, struct hd_tensor, body->n_outputs + 1);
    struct gathered *list = hd_new_array(k->arena, struct gathered, scans + 1);
    hd_attr_ints(k->n, "in_axes", axes, HD_MAX_SCANS, 0);
    hd_attr_ints(k->n, "in_reverse", reverse, HD_MAX_SCANS, 0);
    for (size_t i = 0; i < body->n_inputs; i++)
        if (k->in[i]) give(&in[i], hd_k_in(k, (int)i), k->in[i]);
    for (size_t i = 0; i < slices; i++)
        if (axes[i] < 0) axes[i] += hd_k_in(k, (int)(states + i))->rank;
    int64_t length = hd_k_in(k, (int)states)->dim[axes[0]];
    for (int64_t step = 0; step < length; step++) {
        for (size_t i = 0; i < slices; i++)
            in[states + i] = slice_of(hd_k_in(k, (int)(states + i)), axes[i],
                                      reverse[i] ? length - 1 - step : step, k->arena);
        TRY(iterate(k, body, in, out, k->arena));
        for (size_t i = 0; i < states; i++) in[i] = out[i];
        for (size_t i = 0; i < scans; i++)
            *hd_push(k->arena, list[i].slice, list[i].n, list[i].cap) = out[states + i];
    }
    hd_attr_ints(k->n, "out_axes", axes, HD_MAX_SCANS, 0);
    hd_attr_ints(k->n, "out_reverse", reverse, HD_MAX_SCANS, 0);
    for (size_t i = 0; i < states; i++) TRY(put_result(k, (int)i, &in[i]));
    for (size_t i = 0; i < scans; i++)
        TRY(put_stack(k, (int)(states + i), &list[i], &body->tensors[body->outputs[states + i]],
                      axes[i], reverse[i] != 0));
    return HD_OK;
}
