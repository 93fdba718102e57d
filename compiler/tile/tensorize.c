/* Tensorisation: a graph node becomes a layer, that is a window over one or two machine tensors.
 *
 * needs: a legalised graph, mtensors of the node's inputs and output
 * gives: the layer's geometry; for matmul-like nodes packed weights and parameters in the image
 * destroys: nothing
 *
 * Every matmul-like node is one index expression, out[m, y, x] = sum over (ky, kx, c) of
 * in[y*sy + ky*dy - pt, x*sx + kx*dx - pl, c] * w[m, ky, kx, c]: a dense layer is the window that
 * covers its input, a grouped or depthwise convolution is a dense one over the words its channels
 * touch, with zeros.
 */
#include <string.h>

#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

/* First word of a pixel that output tile nt touches. */
static int first_word(const struct hd_layer *l, const struct hd_mtensor *x,
                      const struct hd_machine *m, int nt) {
    int group_in = x->c / l->groups, group_out = l->oc / l->groups;
    return nt * (int)m->n / group_out * group_in / (int)m->k;
}

int hd_layer_x_word(const struct hd_layer *l, const struct hd_mtensor *x,
                    const struct hd_machine *m, int nt) {
    int words = (int)hd_ceil_div(x->c, m->k); /* none behind them: they would be the next pixel's */
    return (int)hd_min(first_word(l, x, m, nt), hd_max(0, words - l->cw));
}

/* Words per tap that output tile nt touches. */
static int words_touched(const struct hd_layer *l, const struct hd_mtensor *x,
                         const struct hd_machine *m, int nt) {
    int group_in = x->c / l->groups, group_out = l->oc / l->groups;
    int last_oc = (int)hd_min((nt + 1) * (int)m->n, l->oc) - 1;
    int end = (last_oc / group_out + 1) * group_in;
    return (int)hd_ceil_div(end, m->k) - first_word(l, x, m, nt);
}

static void matmul_words(const struct hd_lowering *lo, struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    l->nts = (int)hd_ceil_div(l->oc, lo->m->n);
    l->cw = 0;
    for (int nt = 0; nt < l->nts; nt++) l->cw = (int)hd_max(l->cw, words_touched(l, x, lo->m, nt));
    l->x_step = l->nts > 1 ? hd_layer_x_word(l, x, lo->m, 1) : 0;
    l->x_step_uniform = true;
    for (int nt = 0; nt < l->nts; nt++)
        if (hd_layer_x_word(l, x, lo->m, nt) != nt * l->x_step) l->x_step_uniform = false;
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
                    uint8_t *to = lo->image + l->w_offset + at * (size_t)k + (size_t)lane;
                    for (int i = 0; i < run; i++) to[i] = (uint8_t)from[i * taps];
                }
            }
}

/* WM words in the order [nt][plane][ky][kx][cw] and PM words [nt], zero points folded into the
 * bias. w is [plane, M, C/group, kh, kw]; for a dense layer over a flattened image that is the
 * order in which ONNX flattens, too. */
static void pack_weights(struct hd_lowering *lo, struct hd_layer *l, const int8_t *w,
                         const int32_t *bias, const float *scale, int64_t n_scale, int32_t x_zp) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int n = (int)lo->m->n;
    int per_channel = x->c / l->groups * l->kh * l->kw;
    l->w_offset = hd_image_reserve(lo, (size_t)l->nts * (size_t)l->red * hd_wm_word_bytes(lo->m));
    l->p_offset = hd_params_reserve(lo, (size_t)l->nts * (size_t)n * 8);
    for (int oc = 0; oc < l->oc; oc++) {
        uint32_t sum = 0;
        for (int plane = 0; plane < l->planes; plane++) {
            const int8_t *row =
                w + ((size_t)plane * (size_t)l->oc + (size_t)oc) * (size_t)per_channel;
            for (int i = 0; i < per_channel; i++) sum += (uint32_t)(int32_t)row[i];
            pack_channel(lo, l, row, oc, plane);
        }
        uint32_t b = (uint32_t)bias[oc] - (uint32_t)x_zp * sum;
        uint8_t *p = lo->params + l->p_offset + (size_t)oc * 8;
        memcpy(p, &b, 4);
        memcpy(p + 4, &scale[n_scale == 1 ? 0 : oc], 4);
    }
}

static void requant_attrs(struct hd_layer *l, const struct hd_node *n) {
    l->zp = (int32_t)hd_attr_int(n, "y_zp", 0);
    l->lo = (int32_t)hd_attr_int(n, "lo", -128);
    l->hi = (int32_t)hd_attr_int(n, "hi", 127);
}

/* Kernel, stride, dilation, padding and output of a window node. */
void hd_window_attrs(struct hd_layer *l, const struct hd_node *n, const hd_graph *g) {
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    int flat = y->rank == 3; /* one dimension: an image of height 1 */
    int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[4] = {0}, p[4];
    hd_attr_ints(n, "kernel_shape", kernel + flat, 2 - flat, 1);
    hd_attr_ints(n, "strides", stride + flat, 2 - flat, 1);
    hd_attr_ints(n, "dilations", dilation + flat, 2 - flat, 1);
    hd_attr_ints(n, "pads", p, 2 * (2 - flat), 0);
    pad[0] = flat ? 0 : p[0], pad[1] = flat ? p[0] : p[1];
    l->kh = (int)kernel[0], l->kw = (int)kernel[1];
    l->sy = (int)stride[0], l->sx = (int)stride[1];
    l->dy = (int)dilation[0], l->dx = (int)dilation[1];
    l->pt = (int)pad[0], l->pl = (int)pad[1];
    l->oh = flat ? 1 : (int)y->dim[2], l->ow = (int)y->dim[y->rank - 1];
    l->oc = (int)y->dim[1];
}

static void tensorize_matmul(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const hd_graph *g = lo->g;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_tensor *w = &g->tensors[n->in[1]], *scale = &g->tensors[n->in[3]];
    if (n->op == HD_IR_qconv) {
        hd_window_attrs(l, n, g);
        l->groups = (int)hd_attr_int(n, "group", 1);
        l->taps = l->kh * l->kw;
    } else if (n->op == HD_IR_qconvtranspose) {
        hd_window_attrs(l, n, g);
        l->groups = (int)hd_attr_int(n, "group", 1);
        l->up[0] = (struct hd_transposed){l->kh, l->sy, l->dy, l->pt};
        l->up[1] = (struct hd_transposed){l->kw, l->sx, l->dx, l->pl};
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
    const int8_t *bytes = hd_weight_bytes(lo, w, l->planes);
    const struct hd_layer windows = *l;
    matmul_words(lo, l);
    if (hd_takes_windows(lo, l)) {
        *l = windows;
        hd_pack_windows(lo, l, bytes, g->tensors[n->in[2]].data, scale->data,
                        hd_tensor_elems(scale));
        return;
    }
    if (n->op == HD_IR_qconvtranspose)
        hd_transposed_pack(lo, l, bytes, g->tensors[n->in[2]].data, scale->data,
                           hd_tensor_elems(scale));
    else
        pack_weights(lo, l, bytes, g->tensors[n->in[2]].data, scale->data, hd_tensor_elems(scale),
                     l->pad_value);
}

/* Rows of operand i of a sum or product for each row of an image of the result. Dimensions that are
 * rows: all but channels, images and columns. */
static int *rows_of(const struct hd_lowering *lo, const struct hd_node *n, int i) {
    const struct hd_tensor *x = &lo->g->tensors[n->in[i]], *y = &lo->g->tensors[n->out[0]];
    bool rows = lo->rows[n->out[0]], plain = true;
    int first = rows ? 0 : 2, end = y->rank - 1;
    bool only = true;
    int h = lo->tensors[lo->tensor_of[n->out[0]]].h;
    if (x->rank != y->rank) return NULL;
    int *of = hd_new_array(lo->arena, int, (size_t)h);
    for (int r = 0; r < h; r++) {
        int64_t at = r, step = 1;
        for (int d = end - 1; d >= first; d--) {
            of[r] += (int)(x->dim[d] == 1 ? 0 : at % y->dim[d] * step);
            at /= y->dim[d], step *= x->dim[d];
        }
        plain = plain && of[r] == r;
        only = only && of[r] == 0;
    }
    return plain || only ? NULL : of;
}

/* Taps of an average count inside the image, or inside the padding, too. */
static void pool_counts(const struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    bool pads = hd_attr_int(n, "count_include_pad", 0) != 0,
         flat = lo->g->tensors[n->in[0]].rank == 3;
    int64_t p[4];
    hd_attr_ints(n, "pads", p, 2 * (2 - flat), 0);
    l->counts[0] = pads ? -l->pt : 0, l->counts[2] = pads ? -l->pl : 0;
    l->counts[1] = x->h + (pads && !flat ? (int)p[2] : 0);
    l->counts[3] = x->w + (pads ? (int)p[flat ? 1 : 3] : 0);
}

/* needs: hd_machine_refuses() said NULL. See the head of this file. */
hd_status hd_tensorize(struct hd_lowering *lo, int node, int out, struct hd_layer *l) {
    const struct hd_node *n = &lo->g->nodes[node];
    *l = (struct hd_layer){.node = node,
                           .kh = 1,
                           .kw = 1,
                           .sy = 1,
                           .sx = 1,
                           .dy = 1,
                           .dx = 1,
                           .groups = 1,
                           .ppw = 1,
                           .uy = 1,
                           .ux = 1,
                           .planes = 1,
                           .taps = 1,
                           .pm_words = 1};
    for (int i = 1; i < HD_LAYER_INPUTS; i++) l->in[i] = -1;
    l->in[0] = lo->tensor_of[n->in[0]];
    l->result = n->out[out];
    l->out = lo->tensor_of[l->result];
    const struct hd_mtensor *y = &lo->tensors[l->out];
    l->oh = y->h, l->ow = y->w, l->oc = y->c;
    requant_attrs(l, n);
    l->macs = hd_attr_int(n, "moves", 0) ? 0 : hd_node_macs(lo->g, n);
    switch (n->op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qgemm:
        l->kind = HD_LAYER_MATMUL;
        tensorize_matmul(lo, n, l);
        break;
    case HD_IR_qadd:
        l->kind = HD_LAYER_ADD;
        for (int i = 0; i < 2; i++) l->row_of[i] = rows_of(lo, n, i);
        l->in[1] = lo->tensor_of[n->in[1]];
        l->a_imm = -(int32_t)hd_attr_int(n, "a_zp", 0);
        l->b_imm = -(int32_t)hd_attr_int(n, "b_zp", 0);
        l->a_scale = hd_attr_float(n, "a_scale", 1);
        l->b_scale = hd_attr_float(n, "b_scale", 1);
        break;
    case HD_IR_qmul:
        l->kind = HD_LAYER_ADD;
        for (int i = 0; i < 2; i++) l->row_of[i] = rows_of(lo, n, i);
        l->product = true;
        l->in[1] = lo->tensor_of[n->in[1]];
        l->a_imm = -(int32_t)hd_attr_int(n, "a_zp", 0);
        l->b_imm = -(int32_t)hd_attr_int(n, "b_zp", 0);
        l->a_scale = hd_attr_float(n, "scale", 1);
        l->b_scale = 1;
        break;
    case HD_IR_qtable: { /* the byte as it is, then the table */
        bool u8 = lo->tensors[l->in[0]].is_unsigned;
        l->kind = HD_LAYER_RESCALE;
        l->a_scale = 1;
        l->zp = 0, l->lo = u8 ? 0 : -128, l->hi = u8 ? 255 : 127;
        l->table_words = 1;
        l->t_offset = hd_image_reserve(lo, HD_TM_WORD_BYTES);
        memcpy(lo->image + l->t_offset, lo->g->tensors[n->in[1]].data, HD_TM_WORD_BYTES);
        l->weight_bytes = HD_TM_WORD_BYTES;
        break;
    }
    case HD_IR_qavgpool:
    case HD_IR_qmaxpool:
        l->kind = HD_LAYER_POOL;
        hd_window_attrs(l, n, lo->g);
        l->max_pool = n->op == HD_IR_qmaxpool;
        pool_counts(lo, n, l);
        l->a_imm = l->max_pool ? 0 : -(int32_t)hd_attr_int(n, "x_zp", 0);
        l->a_scale = l->max_pool ? 1 : hd_attr_float(n, "scale", 1);
        break;
    case HD_IR_qresize:
        l->kind = HD_LAYER_RESIZE;
        l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
        for (int way = 0; way < 2; way++) {
            l->at[way] = lo->g->tensors[n->in[1 + 2 * way]].data;
            l->by[way] = lo->g->tensors[n->in[2 + 2 * way]].data;
        }
        break;
    case HD_IR_qmean: /* the window is the image */
        l->kind = HD_LAYER_MEAN;
        l->kh = lo->tensors[l->in[0]].h, l->kw = lo->tensors[l->in[0]].w;
        l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
        l->a_scale = hd_attr_float(n, "x_scale", 1);
        l->b_scale = hd_attr_float(n, "scale", 1);
        break;
    case HD_IR_qlstm:
    case HD_IR_qgru:
    case HD_IR_qrnn:
        hd_tensorize_recurrent(lo, n, l);
        break;
    case HD_IR_qrescale:
        l->kind = HD_LAYER_RESCALE;
        l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
        l->a_scale = hd_attr_float(n, "scale", 1);
        break;
    case HD_IR_qmatmul:
        return hd_tensorize_bmm(lo, n, l);
    case HD_IR_qsoftmax:
    case HD_IR_qlayernorm:
        hd_tensorize_rows(lo, n, l);
        break;
    default:
        TRY(hd_tensorize_move(lo, n, out, l));
    }
    if (l->max_pool) {
        l->lo = y->is_unsigned ? 0 : -128;
        l->hi = y->is_unsigned ? 255 : 127;
    }
    if (l->kind != HD_LAYER_MATMUL && l->kind != HD_LAYER_DEPTHWISE)
        l->nts = (int)hd_ceil_div(y->c, lo->m->n);
    return HD_OK;
}
