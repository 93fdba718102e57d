/* quantize(resize(dequantize(x))), linear -> qresize: rows and columns between which each result
 * lies, and how near it is to each.
 *
 * Where results lie is not written down here a second time: golden resizes a ramp, whose values are
 * its places, so what comes out is the place of each result. */
#include <math.h>
#include <string.h>

#include "compiler/pass/qdq.h"
#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

/* Modes whose results are what lies between two neighbours, and at the border the border. */
static bool is_linear(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    const char *where = hd_attr_string(n, "coordinate_transformation_mode", "half_pixel");
    bool same = x->known && y->known && x->rank >= 3 && x->rank <= 5 && x->dim[0] == y->dim[0] &&
                x->dim[1] == y->dim[1];
    for (int i = 1; i < n->n_in; i++) same = same && (n->in[i] < 0 || g->tensors[n->in[i]].data);
    for (int i = 0; same && i < x->rank; i++) same = x->dim[i] > 0 && y->dim[i] > 0;
    return same && n->op == HD_IR_resize &&
           !strcmp(hd_attr_string(n, "mode", "nearest"), "linear") &&
           strcmp(where, "tf_crop_and_resize") && !hd_attr_int(n, "antialias", 0) &&
           !hd_attr_int(n, "exclude_outside", 0) && !hd_attr_get(n, "axes") &&
           !strcmp(hd_attr_string(n, "keep_aspect_ratio_policy", "stretch"), "stretch");
}

/* Results along dimension d are what is there. */
static bool stays(const hd_graph *g, const struct hd_node *n, int d) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    int scales = n->n_in > 2 ? n->in[2] : -1;
    if (scales >= 0 && hd_tensor_elems(&g->tensors[scales]) == x->rank)
        return ((const float *)g->tensors[scales].data)[d] == 1.0f;
    return x->dim[d] == g->tensors[n->out[0]].dim[d];
}

enum hd_resize_kind hd_qdq_linear_resize(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    if (n->op != HD_IR_resize || !is_linear(g, n)) return HD_RESIZE_OTHER;
    if (g->tensors[n->in[0]].rank < 5) return HD_RESIZE_IMAGE;
    if (stays(g, n, 2)) return HD_RESIZE_IMAGES;
    return stays(g, n, 3) && stays(g, n, 4) ? HD_RESIZE_DEPTH : HD_RESIZE_VOLUME;
}

/* Operand i of the node in graph f, where it has one image and channel. */
static int operand(hd_graph *f, const hd_graph *g, const struct hd_node *n, int i) {
    if (i >= n->n_in || n->in[i] < 0) return -1;
    const struct hd_tensor t = g->tensors[n->in[i]];
    int c = hd_graph_const(f, "operand", t.dtype, t.rank, t.dim, t.data);
    if (t.dtype == HD_I64 && hd_tensor_elems(&t) > 1) { /* sizes */
        int64_t v[HD_MAX_RANK];
        memcpy(v, t.data, (size_t)hd_tensor_elems(&t) * sizeof *v);
        v[0] = v[1] = 1;
        c = hd_graph_const(f, "sizes", t.dtype, t.rank, t.dim, v);
    }
    return c;
}

/* Places of the results along dimension d of x, out[n]. */
static hd_status places(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n, int d,
                        double *out) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int64_t dim[HD_MAX_RANK] = {1, 1}, inner = 1, outer = 1;
    for (int i = 2; i < x->rank; i++) dim[i] = x->dim[i];
    for (int i = d + 1; i < x->rank; i++) inner *= y->dim[i], outer *= x->dim[i];
    hd_graph *f = hd_graph_create();
    hd_arena *a = hd_arena_create();
    int in[4] = {hd_graph_tensor(f, "ramp", HD_F64, x->rank, dim)};
    int64_t elems = hd_tensor_elems(&f->tensors[in[0]]);
    double *ramp = hd_new_array(a, double, (size_t)elems + 1);
    for (int64_t i = 0; i < elems; i++) ramp[i] = (double)(i / outer % x->dim[d]);
    hd_graph_input(f, in[0]);
    for (int i = 1; i < 4; i++) in[i] = operand(f, g, n, i);
    int z = hd_graph_tensor(f, "places", HD_F64, 0, NULL);
    int id = hd_graph_node(f, HD_IR_resize, n->name, n->n_in, in, 1, &z);
    hd_graph_output(f, z);
    for (int i = 0; i < n->n_attrs; i++) {
        const struct hd_attr *v = &n->attrs[i];
        if (v->kind == HD_ATTR_STRING) hd_attr_set_string(f, id, v->name, v->s);
        if (v->kind == HD_ATTR_FLOAT) hd_attr_set_float(f, id, v->name, v->f);
        if (v->kind == HD_ATTR_INT) hd_attr_set_int(f, id, v->name, v->i);
    }
    hd_status s = hd_graph_infer(ctx, f);
    struct hd_tensor *t = hd_golden_tensors(f, a);
    t[in[0]].data = ramp;
    if (s == HD_OK) s = hd_golden_eval(ctx, f, NULL, 0, t, a);
    const double *v = s == HD_OK ? t[z].data : NULL;
    for (int64_t i = 0; v && i < y->dim[d]; i++) out[i] = v[i * inner];
    hd_arena_destroy(a);
    hd_graph_destroy(f);
    return s;
}

/* Places and weights of results between them, times `scale`, as constants. */
static void between(hd_graph *g, const double *at, int64_t n, int64_t size, float scale,
                    int out[2]) {
    int32_t *place = hd_new_array(g->arena, int32_t, (size_t)n + 1);
    float *weight = hd_new_array(g->arena, float, 2 * (size_t)n + 1);
    int64_t dim[2] = {n, 2};
    for (int64_t i = 0; i < n; i++) {
        double p = fmin(fmax(floor(at[i]), 0), (double)(size - 1)), f = fmax(at[i] - p, 0);
        place[i] = (int32_t)p;
        weight[2 * i] = (float)(1 - f) * scale, weight[2 * i + 1] = (float)f * scale;
    }
    out[0] = hd_graph_const_i32(g, "resize.at", (int)n, place);
    out[1] = hd_graph_const(g, "resize.by", HD_F32, 2, dim, weight);
}

bool hd_qdq_is_linear_resize(const hd_graph *g, int node) {
    enum hd_resize_kind kind = hd_qdq_linear_resize(g, node);
    return kind != HD_RESIZE_OTHER && kind != HD_RESIZE_VOLUME;
}

bool hd_qdq_resize(struct hd_qmatch *m, int node) {
    hd_graph *g = m->g;
    const struct hd_node n = g->nodes[node];
    struct hd_qparam p;
    int in[5];
    if (hd_qdq_linear_resize(g, node) != HD_RESIZE_IMAGE ||
        !hd_qdq_dequantized(g, n.in[0], &in[0], &p))
        return false;
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    float scale = p.scale / m->y.scale;
    if (!isfinite(scale)) return false;
    double zero = 0;
    between(g, &zero, 1, 1, 1, in + 1); /* of one dimension: the only row */
    for (int d = 2; d < x.rank; d++) {
        bool rows = d < x.rank - 1;
        double *at = hd_new_array(g->arena, double, (size_t)y.dim[d] + 1);
        if (places(m->ctx, g, &n, d, at) != HD_OK) {
            hd_clear(m->ctx);
            return false;
        }
        between(g, at, y.dim[d], x.dim[d], rows ? 1 : scale, in + (rows ? 1 : 3));
    }
    int id = hd_qdq_emit(m, HD_IR_qresize, node, 5, in);
    hd_attr_set_int(g, id, "x_zp", p.zp);
    return true;
}
