/* Layers of products by packed weights: geometry, packed weights and parameters.
 *
 * Every matmul-like node is one index expression, out[m, y, x] = sum over (ky, kx, c) of
 * in[y*sy + ky*dy - pt, x*sx + kx*dx - pl, c] * w[m, ky, kx, c]: a dense layer is the window that
 * covers its input, a grouped or depthwise convolution is a dense one over the words its channels
 * touch, with zeros.
 */
#include <string.h>

#include "compiler/kind/matmul.h"
#include "runtime/base/num.h"

/* Words per tap that output tile nt touches. */
static int words_touched(const struct hd_layer *l, const struct hd_mtensor *x,
                         const struct hd_machine *m, int nt) {
    int group_in = x->c / l->groups, group_out = l->oc / l->groups;
    int last_oc = (int)hd_min((nt + 1) * (int)m->n, l->oc) - 1;
    int end = (last_oc / group_out + 1) * group_in;
    return (int)hd_ceil_div(end, m->k) - hd_layer_first_word(l, x, m, nt);
}

static void matmul_words(const struct hd_lowering *lo, struct hd_layer *l, struct hd_packed *own) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    l->nts = (int)hd_ceil_div(l->oc, lo->m->n);
    l->cw = 0;
    for (int nt = 0; nt < l->nts; nt++) l->cw = (int)hd_max(l->cw, words_touched(l, x, lo->m, nt));
    own->x_step = l->nts > 1 ? hd_layer_x_word(l, x, lo->m, 1) : 0;
    own->x_step_uniform = true;
    for (int nt = 0; nt < l->nts; nt++)
        if (hd_layer_x_word(l, x, lo->m, nt) != nt * own->x_step) own->x_step_uniform = false;
    l->taps *= l->planes;
    l->red = l->taps * l->cw;
    if (x->gathered) {
        l->im2col = hd_im2col_bytes(l, x->c, lo->m);
        l->cw = l->im2col / (int)lo->m->k, l->red = l->planes * l->cw;
    } else if (x->cp < (int)lo->m->k) {
        l->ppw = (int)lo->m->k / x->cp;
        l->shift = hd_pixel_shift(lo, l, x->n, x->h, x->w, x->cp);
        if (l->shift) lo->tensors[l->in[0]].never_resident = true;
        l->red = l->planes * hd_layer_phase_words(l, hd_layer_phases(l));
    }
}

/* Where tap (ky, kx) of channel c (from the first word that the tile reads) lies in the words of an
 * output tile, in bytes of one column: *word and *lane. Packed pixels have a copy per phase. */
static void place_tap(const struct hd_lowering *lo, const struct hd_layer *l, int phase, int ky,
                      int kx, int c, int *word, int *lane) {
    int k = (int)lo->m->k;
    if (l->im2col) {
        int at = (ky * l->kw + kx) * lo->tensors[l->in[0]].c + c;
        *word = at / k;
        *lane = at % k;
        return;
    }
    if (l->ppw == 1) {
        *word = (ky * l->kw + kx) * l->cw + c / k;
        *lane = c % k;
        return;
    }
    struct hd_phase p = hd_layer_phase(l, phase);
    int pixel = p.off + kx * l->dx;
    *word = hd_layer_phase_words(l, phase) + ky * p.words + pixel / l->ppw;
    *lane = pixel % l->ppw * (k / l->ppw) + c;
}

/* One plane of the weights of output channel oc, [C/group, kh, kw], into its column of WM words. */
static void pack_channel(struct hd_lowering *lo, const struct hd_layer *l, const int8_t *row,
                         int oc, int plane) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int n = (int)lo->m->n, k = (int)lo->m->k, nt = oc / n, taps = l->kh * l->kw;
    int group_in = x->c / l->groups, first = oc / (l->oc / l->groups) * group_in;
    int x_word = hd_layer_x_word(l, x, lo->m, nt);
    int phases = l->ppw > 1 ? hd_layer_phases(l) : 1;
    size_t words = (size_t)nt * (size_t)l->red + (size_t)(plane * (l->red / l->planes));
    for (int ky = 0; ky < l->kh; ky++)
        for (int kx = 0; kx < l->kw; kx++)
            for (int ic = 0, run; ic < group_in; ic += run) {
                const int8_t *from = row + (ic * l->kh + ky) * l->kw + kx;
                run = group_in - ic; /* lanes that follow each other */
                for (int f = 0, word, lane; f < phases; f++) {
                    place_tap(lo, l, f, ky, kx, first + ic - x_word * k, &word, &lane);
                    if (run > k - lane) run = k - lane;
                    size_t at = (words + (size_t)word) * (size_t)n + (size_t)(oc % n);
                    uint8_t *to =
                        lo->image + hd_packed_of(l)->w_offset + at * (size_t)k + (size_t)lane;
                    for (int i = 0; i < run; i++) to[i] = (uint8_t)from[i * taps];
                }
            }
}

/* WM words in the order [nt][plane][ky][kx][cw] and PM words [nt], zero points folded into the
 * bias. w is [plane, M, C/group, kh, kw]; for a dense layer over a flattened image that is the
 * order in which ONNX flattens, too. */
static void pack_weights(struct hd_lowering *lo, const struct hd_layer *l,
                         const struct hd_weights *w, struct hd_packed *own) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int n = (int)lo->m->n;
    int per_channel = x->c / l->groups * l->kh * l->kw;
    own->w_offset = hd_image_reserve(lo, (size_t)l->nts * (size_t)l->red * hd_wm_word_bytes(lo->m));
    own->p_offset = hd_image_reserve(lo, (size_t)l->nts * (size_t)n * 8);
    for (int oc = 0; oc < l->oc; oc++) {
        uint32_t sum = 0;
        for (int plane = 0; plane < l->planes; plane++) {
            const int8_t *row =
                w->w + ((size_t)plane * (size_t)l->oc + (size_t)oc) * (size_t)per_channel;
            for (int i = 0; i < per_channel; i++) sum += (uint32_t)(int32_t)row[i];
            pack_channel(lo, l, row, oc, plane);
        }
        uint32_t b = (uint32_t)w->bias[oc] - (uint32_t)l->pad_value * sum;
        uint8_t *p = lo->image + own->p_offset + (size_t)oc * 8;
        memcpy(p, &b, 4);
        memcpy(p + 4, &w->scale[w->n_scale == 1 ? 0 : oc], 4);
    }
}

hd_status hd_matmul_make(struct hd_lowering *lo, const struct hd_node *n, int out,
                         struct hd_layer *l) {
    (void)out;
    const hd_graph *g = lo->g;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_tensor *w = &g->tensors[n->in[1]], *scale = &g->tensors[n->in[3]];
    struct hd_packed *own = hd_new(lo->arena, struct hd_packed);
    l->own = own;
    if (n->op == HD_IR_qconv) {
        hd_window_attrs(l, n, g);
        l->groups = (int)hd_attr_int(n, "group", 1);
        l->taps = l->kh * l->kw;
    } else if (n->op == HD_IR_qconvtranspose) {
        hd_window_attrs(l, n, g);
        l->groups = (int)hd_attr_int(n, "group", 1);
        own->up[0] = (struct hd_transposed){l->kh, l->sy, l->dy, l->pt};
        own->up[1] = (struct hd_transposed){l->kw, l->sx, l->dx, l->pl};
        hd_transposed_window(l);
    } else { /* qgemm: the window is the whole image behind a flatten, or one pixel per row */
        bool flat = (int64_t)x->c != w->dim[1];
        l->kh = flat ? x->h : 1, l->kw = flat ? x->w : 1;
        l->oh = flat ? 1 : x->h, l->ow = flat ? 1 : x->w;
        l->oc = (int)w->dim[0];
        l->taps = l->kh * l->kw;
    }
    l->pad_value = (int)hd_attr_int(n, "x_zp", 0);
    l->weight_bytes = hd_tensor_elems(w) + l->oc * 8;
    l->planes = hd_weight_planes(w);
    const struct hd_weights packed = {.w = hd_weight_bytes(lo, w, l->planes),
                                      .bias = g->tensors[n->in[2]].data,
                                      .scale = scale->data,
                                      .n_scale = hd_tensor_elems(scale)};
    const struct hd_layer windows = *l;
    matmul_words(lo, l, own);
    if (l->kind != &hd_kind_wide && hd_takes_windows(lo, l)) {
        *l = windows;
        hd_pack_windows(lo, l, &packed, own);
        return HD_OK;
    }
    if (n->op == HD_IR_qconvtranspose)
        hd_transposed_pack(lo, l, &packed, own);
    else
        pack_weights(lo, l, &packed, own);
    return HD_OK;
}

/* ---- refusals ---- */

static const char *refuses_matmul(const hd_graph *g, const struct hd_node *n, const char **hint) {
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    if (!w->data || !g->tensors[n->in[2]].data || !g->tensors[n->in[3]].data) {
        *hint = "export the network with constant weights";
        return "weights, bias or scale are not constant";
    }
    if (hd_weight_planes(w) > HD_PLANES) {
        *hint = "quantise weights to int8";
        return "weights have more than 9 bits";
    }
    if (n->op != HD_IR_qgemm && g->tensors[n->in[0]].rank > 4) {
        *hint = "split it into 2-D convolutions";
        return "convolution has more than two dimensions";
    }
    return NULL;
}

/* Every pixel of a block has a PM word of its own, and a chunk takes at most a quarter of PM. */
static const char *refuses_transposed(const struct hd_lowering *lo, const struct hd_node *n,
                                      const char **hint) {
    int64_t stride[2] = {1, 1};
    hd_attr_ints(n, "strides", stride, lo->g->tensors[n->in[0]].rank - 2, 1);
    if (n->op != HD_IR_qconvtranspose ||
        stride[0] * stride[1] <= hd_eighths(hd_pm_words(lo->m), hd_knob(lo)->block))
        return NULL;
    *hint = "split the upsampling into two layers, or use a machine with a larger pm_bytes";
    return "strides need more than a quarter of the parameter memory";
}

const char *hd_matmul_refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const struct hd_node *n = &lo->g->nodes[node];
    const char *why = refuses_matmul(lo->g, n, out_hint);
    return why ? why : refuses_transposed(lo, n, out_hint);
}

enum hd_wish hd_matmul_wish(const struct hd_node *n) {
    return n->op == HD_IR_qgemm ? HD_WISH_ROWS : HD_WISH_IMAGE;
}

bool hd_matmul_packs_pixels(const struct hd_node *n) {
    return n->op == HD_IR_qconv && hd_attr_int(n, "group", 1) == 1;
}

/* A dense layer's operand is its own rows, or an image behind a flatten. */
enum hd_flat hd_matmul_flat(const struct hd_lowering *lo, const struct hd_node *n) {
    struct hd_mtensor x;
    if (n->op != HD_IR_qgemm) return HD_FLAT_NONE;
    hd_machine_shape(lo, n->in[0], &x);
    return x.c == lo->g->tensors[n->in[1]].dim[1] ? HD_FLAT_MAY : HD_FLAT_MUST;
}
