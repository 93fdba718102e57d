/* Constants of the q operations: weights without zero point, biases in accumulator steps, scales.
 * The arithmetic is part of docs/numerics.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/qdq.h"
#include "runtime/base/memory.h"
#include "runtime/base/num.h"

const struct hd_node *hd_qdq_maker(const hd_graph *g, int tensor) {
    int p = tensor < 0 ? -1 : g->tensors[tensor].producer;
    return p < 0 || g->nodes[p].n_out != 1 ? NULL : &g->nodes[p];
}

int32_t hd_qdq_int_at(const struct hd_tensor *t, int64_t i) {
    switch (t->dtype) {
    case HD_I8:
        return ((const int8_t *)t->data)[i];
    case HD_U8:
        return ((const uint8_t *)t->data)[i];
    case HD_I16:
        return ((const int16_t *)t->data)[i];
    case HD_U16:
        return ((const uint16_t *)t->data)[i];
    default:
        return ((const int32_t *)t->data)[i];
    }
}

static bool good_scale(float s) {
    return isfinite(s) && s > 0.0f;
}

bool hd_qdq_param_any(const hd_graph *g, const struct hd_node *n, struct hd_qparam *out) {
    const struct hd_tensor *s = &g->tensors[n->in[1]], *z = &g->tensors[n->in[2]];
    if (!s->data || !z->data || hd_tensor_elems(s) != 1 || hd_tensor_elems(z) != 1) return false;
    if (z->dtype != HD_I8 && z->dtype != HD_U8 && z->dtype != HD_I16) return false;
    *out = (struct hd_qparam){
        .type = z->dtype, .scale = *(const float *)s->data, .zp = hd_qdq_int_at(z, 0)};
    return good_scale(out->scale);
}

bool hd_qdq_param(const hd_graph *g, const struct hd_node *n, struct hd_qparam *out) {
    return hd_qdq_param_any(g, n, out) && out->type != HD_I16;
}

/* Value i of the output channel c for a tensor whose channel axis is `axis`. */
static int64_t channel_of(const struct hd_tensor *t, int axis, int64_t i) {
    for (int d = t->rank - 1; d > axis; d--) i /= t->dim[d];
    return i % t->dim[axis];
}

/* w - zp as int16, in [N,K...] order, in memory of malloc. */
static int16_t *centred(const struct hd_tensor *w, const struct hd_tensor *z, int axis, bool swap) {
    int64_t n = hd_tensor_elems(w), cols = swap ? w->dim[1] : 1, rows = swap ? w->dim[0] : n;
    int16_t *v = malloc(((size_t)n + 1) * sizeof *v);
    HD_MEMORY(v);
    bool per_channel = hd_tensor_elems(z) > 1;
    const int32_t zero = hd_qdq_int_at(z, 0);
    for (int64_t i = 0, r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++, i++) {
            int32_t zp = per_channel ? hd_qdq_int_at(z, channel_of(w, axis, i)) : zero;
            v[c * rows + r] = (int16_t)(hd_qdq_int_at(w, i) - zp);
        }
    return v;
}

/* Stores centred weights as i8 when they fit, else i16 (which only the host computes); frees v. */
static int weights_const(hd_graph *g, const struct hd_tensor *w, int16_t *v, bool swap) {
    int64_t dim[HD_MAX_RANK], n = hd_tensor_elems(w);
    struct hd_tensor t = *w; /* the array of tensors may move */
    memcpy(dim, t.dim, sizeof dim);
    if (swap) dim[0] = t.dim[1], dim[1] = t.dim[0];
    bool fits = true;
    for (int64_t i = 0; i < n && fits; i++) fits = v[i] >= -128 && v[i] <= 127;
    const char *name = hd_sprintf(g->arena, "%s.%s", t.name, fits ? "i8" : "i16");
    int8_t *bytes = (int8_t *)v; /* in its place: element i is read before byte i is written */
    for (int64_t i = 0; i < n && fits; i++) bytes[i] = (int8_t)v[i];
    int id = hd_graph_const(g, name, fits ? HD_I8 : HD_I16, t.rank, dim, v);
    free(v);
    return id;
}

bool hd_qdq_weights(hd_graph *g, int t, int axis, bool swap, struct hd_qweights *out) {
    const struct hd_node *d = hd_qdq_maker(g, t);
    if (!d || d->op != HD_IR_dequantize) return false;
    const struct hd_tensor *w = &g->tensors[d->in[0]], *s = &g->tensors[d->in[1]],
                           *z = &g->tensors[d->in[2]];
    if (!w->data || !s->data || !z->data || (w->dtype != HD_I8 && w->dtype != HD_U8)) return false;
    out->n = w->dim[axis];
    out->n_scale = hd_tensor_elems(s);
    if (out->n_scale != 1 && (out->n_scale != out->n || hd_attr_int(d, "axis", 1) != axis))
        return false;
    out->scale = s->data;
    for (int64_t i = 0; i < out->n_scale; i++)
        if (!good_scale(out->scale[i])) return false;
    bool zero = true;
    for (int64_t i = 0; i < hd_tensor_elems(z); i++) zero = zero && hd_qdq_int_at(z, i) == 0;
    if (zero && w->dtype == HD_I8 && !swap)
        out->tensor = d->in[0]; /* shared, not copied */
    else
        out->tensor = weights_const(g, w, centred(w, z, axis, swap), swap);
    return true;
}

void hd_qdq_transpose_weights(hd_graph *g, int64_t group, struct hd_qweights *w) {
    struct hd_tensor t = g->tensors[w->tensor];
    int64_t mg = t.dim[1], cg = t.dim[0] / group, kernel = 1;
    size_t bytes = t.dtype == HD_I8 ? 1 : 2;
    for (int i = 2; i < t.rank; i++) kernel *= t.dim[i];
    char *v = hd_alloc(g->arena, (size_t)hd_tensor_elems(&t) * bytes + 1);
    for (int64_t m = 0; m < mg * group; m++)
        for (int64_t c = 0; c < cg; c++)
            memcpy(v + (size_t)((m * cg + c) * kernel) * bytes,
                   (const char *)t.data +
                       (size_t)(((m / mg * cg + c) * mg + m % mg) * kernel) * bytes,
                   (size_t)kernel * bytes);
    float *scale = hd_new_array(g->arena, float, (size_t)(mg * group) + 1);
    for (int64_t m = 0; m < mg * group; m++) scale[m] = w->scale[w->n_scale == 1 ? 0 : m % mg];
    t.dim[0] = mg * group, t.dim[1] = cg;
    w->tensor =
        hd_graph_const(g, hd_sprintf(g->arena, "%s.turned", t.name), t.dtype, t.rank, t.dim, v);
    w->n = w->n_scale = mg * group;
    w->scale = scale;
}

/* acc_scale[c] = x_scale * w_scale[c], rounded to binary32. */
static float acc_scale(const struct hd_qweights *w, float x_scale, int64_t c) {
    return x_scale * w->scale[w->n_scale == 1 ? 0 : c];
}

static bool round_bias(double v, int32_t *out) {
    double r = rint(v);
    if (!(r >= -2147483648.0 && r <= 2147483647.0)) return false;
    *out = (int32_t)r;
    return true;
}

/* One value of the bias in accumulator steps: as stored when the scales agree, else rescaled. */
static bool bias_value(const hd_graph *g, const struct hd_node *d, const struct hd_tensor *f,
                       int64_t i, float scale, int32_t *out) {
    if (!d) return round_bias((double)((const float *)f->data)[i] / (double)scale, out);
    const struct hd_tensor *b = &g->tensors[d->in[0]], *s = &g->tensors[d->in[1]],
                           *z = &g->tensors[d->in[2]];
    int64_t c = hd_tensor_elems(s) == 1 ? 0 : i;
    int64_t q = (int64_t)hd_qdq_int_at(b, i) - hd_qdq_int_at(z, c);
    float bs = ((const float *)s->data)[c];
    if (fabsf(bs - scale) <= 1e-3f * scale) return round_bias((double)q, out);
    return round_bias((double)((float)q * bs) / (double)scale, out);
}

bool hd_qdq_bias(hd_graph *g, int t, const struct hd_qweights *w, float x_scale, int *out) {
    const struct hd_tensor *b = t < 0 ? NULL : &g->tensors[t];
    const struct hd_node *d = t < 0 ? NULL : hd_qdq_maker(g, t);
    if (d) {
        if (d->op != HD_IR_dequantize) return false;
        const struct hd_tensor *x = &g->tensors[d->in[0]], *s = &g->tensors[d->in[1]],
                               *z = &g->tensors[d->in[2]];
        int64_t ns = hd_tensor_elems(s);
        if (!x->data || !s->data || !z->data || (ns != 1 && ns != hd_tensor_elems(x))) return false;
    } else if (b && (!b->data || b->dtype != HD_F32)) {
        return false;
    }
    int64_t n = b ? hd_tensor_elems(b) : 0;
    if (b && n != 1 && (n != w->n || b->dim[b->rank - 1] != n)) return false;
    int32_t *v = calloc((size_t)w->n + 1, sizeof *v);
    HD_MEMORY(v);
    bool ok = true;
    for (int64_t c = 0; b && c < w->n && ok; c++)
        ok = bias_value(g, d, b, n == 1 ? 0 : c, acc_scale(w, x_scale, c), &v[c]);
    if (ok) {
        const char *name = b ? b->name : "bias";
        *out = hd_graph_const_i32(g, hd_sprintf(g->arena, "%s.i32", name), (int)w->n, v);
    }
    free(v);
    return ok;
}

bool hd_qdq_sums_fit(const hd_graph *g, const struct hd_qweights *w, int bias,
                     const struct hd_qparam *x) {
    const struct hd_tensor *t = &g->tensors[w->tensor];
    const int32_t *b = g->tensors[bias].data;
    int64_t most = hd_max((int64_t)x->zp + 32768, 32767 - (int64_t)x->zp), n = hd_tensor_elems(t);
    if (x->type != HD_I16) return true;
    for (int64_t c = 0, per = n / hd_max(w->n, 1); c < w->n; c++) {
        int64_t sum = 0;
        for (int64_t i = c * per; i < (c + 1) * per; i++)
            sum += llabs((int64_t)hd_qdq_int_at(t, i));
        if (sum * most + llabs((int64_t)b[c]) > INT32_MAX) return false;
    }
    return true;
}

bool hd_qdq_scale(hd_graph *g, const struct hd_qweights *w, float x_scale, float y_scale,
                  int *out) {
    float *v = malloc(((size_t)w->n + 1) * sizeof *v);
    HD_MEMORY(v);
    bool ok = true;
    for (int64_t c = 0; c < w->n; c++) {
        v[c] = acc_scale(w, x_scale, c) / y_scale;
        ok = ok && good_scale(v[c]) && good_scale(acc_scale(w, x_scale, c));
    }
    if (ok)
        *out = hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.scale", g->tensors[w->tensor].name),
                                  (int)w->n, v);
    free(v);
    return ok;
}
