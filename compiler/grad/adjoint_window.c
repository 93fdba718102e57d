/* Adjoints of convolutions and pools, of any number of spatial dimensions. */
#include "compiler/grad/adjoint.h"
#include "compiler/ir/window.h"

/* ---- windows as attributes ------------------------------------------------------------------ */

/* Attributes of a convolution whose places have this stride and taps this dilation. */
static void set_window(struct hd_back *b, int node, const struct hd_window_nd *v,
                       const int64_t *stride, const int64_t *dilation, const int64_t *after) {
    int64_t pads[2 * HD_MAX_SPATIAL];
    for (int d = 0; d < v->sp; d++) pads[d] = v->before[d], pads[d + v->sp] = after[d];
    hd_b_ints(b, node, "strides", v->sp, stride);
    hd_b_ints(b, node, "dilations", v->sp, dilation);
    hd_b_ints(b, node, "pads", 2 * v->sp, pads);
}

/* Spreads g [N,M,out..] over the image that the windows v read: the adjoint of reading. w:
 * [M,C/group,k..] as a convolution has it. */
static int spread(struct hd_back *b, int g, int w, const struct hd_window_nd *v, int64_t group) {
    int64_t after[HD_MAX_SPATIAL], extra[HD_MAX_SPATIAL];
    for (int d = 0; d < v->sp; d++) { /* what g reaches, against the size of the image */
        int64_t reach = (v->out[d] - 1) * v->stride[d] + (v->kernel[d] - 1) * v->dilation[d] + 1;
        int64_t over = reach - v->before[d] - v->in[d];
        after[d] = over > 0 ? over : 0;
        extra[d] = over < 0 ? -over : 0;
    }
    int node = hd_b_start(b, HD_IR_convtranspose, 2, (int[]){g, w}, 1);
    set_window(b, node, v, v->stride, v->dilation, after);
    hd_b_ints(b, node, "kernel_shape", v->sp, v->kernel);
    hd_b_ints(b, node, "output_padding", v->sp, extra);
    hd_b_int(b, node, "group", group);
    return hd_b_end(b, node);
}

/* x [N, group * n, ..] -> [n, group * N, ..]: images become channels. */
static int images_inside(struct hd_back *b, int x, int64_t group) {
    struct hd_tensor t = hd_b_shape(b, x);
    int64_t pixels = 1, n = t.dim[1] / group;
    for (int d = 2; d < t.rank; d++) pixels *= t.dim[d];
    x = hd_b_reshape(b, x, 4, (int64_t[]){t.dim[0], group, n, pixels});
    x = hd_b_transpose(b, x, (int64_t[]){2, 1, 0, 3});
    t.dim[1] = group * t.dim[0], t.dim[0] = n;
    return hd_b_reshape(b, x, t.rank, t.dim);
}

/* x [N, group * n, ..] -> [group * n, N, ..]: the same as weights. */
static int images_as_taps(struct hd_back *b, int x) {
    int64_t perm[HD_MAX_RANK];
    for (int d = 0; d < HD_MAX_RANK; d++) perm[d] = d;
    perm[0] = 1, perm[1] = 0;
    return hd_b_transpose(b, x, perm);
}

/* Gradient of the weights [M,C/group,k..] of the convolution that reads `big` [N,C,in..] and makes
 * `small` [N,M,out..]: a convolution whose weights are `small`, with strides and dilations
 * exchanged. It may have places behind the last tap. */
static int weights(struct hd_back *b, int big, int small, const struct hd_window_nd *v,
                   int64_t group) {
    int in[2] = {images_inside(b, big, group), images_as_taps(b, small)};
    int node = hd_b_start(b, HD_IR_conv, 2, in, 1);
    set_window(b, node, v, v->dilation, v->stride, v->after);
    hd_b_ints(b, node, "kernel_shape", v->sp, v->out);
    hd_b_int(b, node, "group", group);
    int w = hd_b_end(b, node);
    for (int d = 0; d < v->sp; d++) w = hd_b_slice(b, w, d + 2, 0, v->kernel[d]);
    return images_as_taps(b, w);
}

/* Over images and pixels: the gradient of a bias. */
static int per_channel(struct hd_back *b, int g) {
    int64_t axes[HD_MAX_RANK] = {0};
    int rank = hd_b_shape(b, g).rank;
    for (int d = 2; d < rank; d++) axes[d - 1] = d;
    return hd_b_reduce(b, HD_IR_reducesum, g, rank - 1, axes, false);
}

static bool window(struct hd_adjoint *a, bool transposed, struct hd_window_nd *v) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    bool weighted = a->n.op == HD_IR_conv || transposed;
    struct hd_tensor w = weighted ? hd_b_shape(b, a->n.in[1]) : x;
    const int64_t *kernel = weighted ? w.dim + 2 : NULL;
    b->status = transposed ? hd_window_transposed_get(b->ctx, &a->n, &x, kernel, v)
                           : hd_window_nd_get(b->ctx, &a->n, &x, kernel, v);
    return b->status == HD_OK;
}

/* ---- convolutions --------------------------------------------------------------------------- */

void hd_adjoint_conv(struct hd_adjoint *a) {
    struct hd_window_nd v;
    int64_t group = hd_attr_int(&a->n, "group", 1);
    if (!window(a, false, &v)) return;
    if (a->want[0]) a->dx[0] = spread(a->b, a->dy[0], a->n.in[1], &v, group);
    if (a->want[1]) a->dx[1] = weights(a->b, a->n.in[0], a->dy[0], &v, group);
    if (a->n.n_in > 2 && a->want[2]) a->dx[2] = per_channel(a->b, a->dy[0]);
}

/* Its window as that of the convolution of which it is the adjoint: image and places exchanged. */
void hd_adjoint_convtranspose(struct hd_adjoint *a) {
    struct hd_window_nd v, t;
    struct hd_back *b = a->b;
    int64_t group = hd_attr_int(&a->n, "group", 1);
    if (!window(a, true, &t)) return;
    v = t;
    for (int d = 0; d < t.sp; d++) {
        v.in[d] = t.out[d], v.out[d] = t.in[d];
        int64_t reach = (v.out[d] - 1) * v.stride[d] + (v.kernel[d] - 1) * v.dilation[d] + 1;
        v.after[d] = reach - v.before[d] - v.in[d];
        if (v.after[d] < 0) v.after[d] = 0;
    }
    if (a->want[0]) {
        struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
        int node = hd_b_start(b, HD_IR_conv, 2, (int[]){a->dy[0], a->n.in[1]}, 1);
        set_window(b, node, &v, v.stride, v.dilation, v.after);
        hd_b_ints(b, node, "kernel_shape", v.sp, v.kernel);
        hd_b_int(b, node, "group", group);
        int d = hd_b_end(b, node);
        for (int i = 2; i < x.rank; i++) d = hd_b_slice(b, d, i, 0, x.dim[i]);
        a->dx[0] = d;
    }
    if (a->want[1]) a->dx[1] = weights(b, a->dy[0], a->n.in[0], &v, group);
    if (a->n.n_in > 2 && a->want[2]) a->dx[2] = per_channel(b, a->dy[0]);
}

/* ---- pools ---------------------------------------------------------------------------------- */

/* The gradient goes to the place of each largest element. */
void hd_adjoint_maxpool(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]), y = hd_b_shape(b, a->n.out[0]);
    struct hd_tensor flat = {.dtype = x.dtype, .rank = 1, .dim = {hd_tensor_elems(&x)}};
    int64_t n = hd_tensor_elems(&y);
    int node = hd_b_start(b, HD_IR_maxpool, 1, a->n.in, 2);
    if (node >= 0) hd_b_copy(b, node, &a->n);
    hd_b_int(b, node, "storage_order", 0);
    if (hd_b_end(b, node) < 0) return;
    int at = hd_b_reshape(b, b->g->nodes[node].out[1], 1, &n);
    a->dx[0] = hd_b_like(b, hd_b_scatter(b, a->dy[0], at, &flat, 0), a->n.in[0]);
}

/* Ones [C,1,k..]: the weights of a sum over the window, channel by channel. */
static int window_of_ones(struct hd_back *b, const struct hd_window_nd *v, hd_dtype t) {
    struct hd_tensor w = {.dtype = t, .rank = v->sp + 2, .dim = {v->c, 1}};
    for (int d = 0; d < v->sp; d++) w.dim[d + 2] = v->kernel[d];
    return hd_b_filled(b, &w, 1);
}

/* How many taps of window `at` along dimension d count. */
static int64_t taps(const struct hd_window_nd *v, int d, int64_t at, bool padding) {
    int64_t n = 0;
    for (int64_t k = 0; k < v->kernel[d]; k++) {
        int64_t i = at * v->stride[d] + k * v->dilation[d] - v->before[d];
        n += padding ? i < v->in[d] + v->after[d] : i >= 0 && i < v->in[d];
    }
    return n;
}

/* g divided by the number of elements of each mean: a factor for each dimension. */
static int per_element(struct hd_back *b, int g, const struct hd_window_nd *v, bool padding) {
    hd_dtype t = hd_b_shape(b, g).dtype;
    for (int d = 0; d < v->sp; d++) {
        struct hd_tensor s = {.dtype = t, .rank = v->sp - d, .dim = {v->out[d]}};
        for (int i = 1; i < s.rank; i++) s.dim[i] = 1;
        int64_t *count = hd_new_array(b->arena, int64_t, (size_t)v->out[d] + 1);
        for (int64_t i = 0; i < v->out[d]; i++) count[i] = taps(v, d, i, padding);
        int by = hd_b_cast(b, hd_b_vector(b, (int)v->out[d], count), t);
        g = hd_b(b, div, g, hd_b_reshape(b, by, s.rank, s.dim));
    }
    return g;
}

void hd_adjoint_avgpool(struct hd_adjoint *a) {
    struct hd_window_nd v;
    if (!window(a, false, &v)) return;
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    bool whole = true; /* one window, the image */
    for (int d = 0; d < v.sp; d++) whole = whole && v.kernel[d] == v.in[d] && v.out[d] == 1;
    int g = per_element(a->b, a->dy[0], &v, hd_attr_int(&a->n, "count_include_pad", 0) != 0);
    for (int d = 0; d < v.sp; d++) whole = whole && !v.before[d] && !v.after[d];
    a->dx[0] = whole ? hd_b_expand(a->b, g, x.rank, x.dim)
                     : spread(a->b, g, window_of_ones(a->b, &v, x.dtype), &v, v.c);
}

/* y = (sum |x|^p)^(1/p): dx = sign(x) |x|^(p-1) times the windows' g y^(1-p). */
void hd_adjoint_lppool(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_window_nd v;
    if (!window(a, false, &v)) return;
    hd_dtype t = hd_b_shape(b, a->n.in[0]).dtype;
    double p = (double)hd_attr_int(&a->n, "p", 2);
    int x = a->n.in[0];
    int g = hd_b(b, mul, a->dy[0], hd_b(b, pow, a->n.out[0], hd_b_number(b, t, 1 - p)));
    int own = hd_b(b, pow, hd_b(b, abs, x), hd_b_number(b, t, p - 1));
    int from = spread(b, g, window_of_ones(b, &v, t), &v, v.c);
    a->dx[0] = hd_b(b, mul, hd_b(b, mul, hd_b(b, sign, x), own), from);
}

void hd_adjoint_maxunpool(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor y = hd_b_shape(b, a->n.out[0]);
    int64_t n = hd_tensor_elems(&y);
    if (hd_a_has(a, 2)) {
        hd_b_fail(b, &a->n, "an output_shape");
        return;
    }
    int flat = hd_b_reshape(b, a->dy[0], 1, &n);
    if (a->want[0]) a->dx[0] = hd_b(b, gather, flat, a->n.in[1]);
}
