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

enum { FEW_WORDS = 16 }; /* one word of so many is worth an operation of its own */

/* Weights of output tile nt that are not 0 for a word of the operand's pixels. */
static bool reads_word(const struct hd_lowering *lo, const struct hd_layer *l,
                       const struct hd_weights *w, int nt, int word) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int n = (int)lo->m->n, k = (int)lo->m->k, c = x->c / l->groups;
    int behind = hd_channels_in(x, word * k), to = hd_channels_in(x, (word + 1) * k);
    for (int oc = nt * n; oc < l->oc && oc < (nt + 1) * n; oc++) {
        int first = oc / (l->oc / l->groups) * c; /* channel of its group */
        int from = (int)hd_max(0, behind - first), end = (int)hd_min(c, to - first);
        for (int plane = 0; plane < l->planes; plane++) {
            const int8_t *row = w->w + ((int64_t)plane * l->oc + oc) * c * w->taps;
            for (int64_t i = (int64_t)from * w->taps; i < (int64_t)end * w->taps; i++)
                if (row[i]) return true;
        }
    }
    return false;
}

/* Whether each output tile can do with cw words of a pixel from some word on, and as many that lie
 * `gap` words behind those. None lies behind the pixel: it would be the next one's. */
static bool words_do(const struct hd_layer *l, const bool *reads, int words, int gap, int cw,
                     int *out_first) {
    for (int nt = 0; nt < l->nts; nt++, reads += words) {
        int first = 0;
        while (first < words - gap - cw && !reads[first]) first++;
        for (int i = 0; i < words; i++) {
            int behind = i - first - (gap && i - first >= gap ? gap : 0);
            if (reads[i] && (behind < 0 || behind >= cw)) return false;
        }
        out_first[nt] = first;
    }
    return true;
}

/* The words that output tiles read. A group reads its own; weights that move channels, only few:
 * one part of a pixel, or two, as where channels of two halves come in turn. */
static void find_words(const struct hd_lowering *lo, struct hd_layer *l, const struct hd_weights *w,
                       struct hd_packed *own) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int words = x->gathered ? 1 : (int)hd_ceil_div(hd_lane(x, x->c), lo->m->k), most = 0;
    bool *reads = hd_new_array(lo->arena, bool, (size_t)(l->nts * words));
    int *first = hd_new_array(lo->arena, int, (size_t)l->nts);
    own->first = first;
    for (int i = 0, n = 0; i < l->nts * words; i++) {
        reads[i] = reads_word(lo, l, w, i / words, i % words);
        n = (i % words ? n : 0) + reads[i], most = (int)hd_max(most, n);
    }
    for (l->cw = 1; !words_do(l, reads, words, 0, l->cw, first);) l->cw++;
    int best = l->cw;
    for (int gap = 1; l->taps == 1 && !own->up[0].k && gap < words; gap++)
        for (int cw = (int)hd_max(1, (most + 1) / 2); 2 * cw < best && gap + cw <= words; cw++)
            if (words_do(l, reads, words, gap, cw, first)) best = 2 * cw, own->gap = gap;
    if (own->gap) l->cw = best / 2, l->taps = 2;
    words_do(l, reads, words, own->gap, l->cw, first);
    own->even = true;
    for (int nt = 2; nt < l->nts; nt++)
        if (first[nt] - first[nt - 1] != first[1] - first[0]) own->even = false;
}

static void matmul_words(const struct hd_lowering *lo, struct hd_layer *l,
                         const struct hd_weights *w, struct hd_packed *own) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    l->nts = (int)hd_ceil_div(l->oc, lo->m->n);
    find_words(lo, l, w, own);
    l->taps *= l->planes;
    l->red = l->taps * l->cw;
    if (x->gathered) {
        l->turned = hd_turns_windows(lo, l);
        l->im2col = hd_im2col_bytes(l, x->c, lo->m);
        l->cw = l->im2col / (int)lo->m->k, l->red = l->planes * l->cw;
    } else if (x->cp < (int)lo->m->k) {
        l->ppw = (int)lo->m->k / x->cp;
        l->shift = hd_pixel_shift(lo, l, x->n, x->h, x->w, x->cp);
        if (l->shift) lo->tensors[l->in[0]].never_resident = true;
        l->red = l->planes * hd_layer_phase_words(l, hd_layer_phases(l));
    }
}

uint8_t *hd_packed_byte(struct hd_lowering *lo, const struct hd_layer *l, int oc, int plane,
                        int word, int lane) {
    size_t n = lo->m->n, words = (size_t)oc / n * (size_t)l->red + (size_t)word;
    words += (size_t)(plane * (l->red / l->planes));
    return lo->image + hd_packed_of(l)->w_offset + (words * n + (size_t)oc % n) * lo->m->k +
           (size_t)lane;
}

int hd_group_lane(const struct hd_lowering *lo, const struct hd_layer *l, int oc) {
    return oc / (l->oc / l->groups) * (lo->tensors[l->in[0]].c / l->groups) -
           hd_packed_of(l)->first[oc / (int)lo->m->n] * (int)lo->m->k;
}

/* Where tap (ky, kx) of channel c, counted from the first word that its tile reads, lies in the
 * words of an output tile: *word, -1 where it does not read it, and *lane. Packed pixels have a
 * copy per phase. */
static void place_tap(const struct hd_lowering *lo, const struct hd_layer *l, int phase, int ky,
                      int kx, int c, int *word, int *lane) {
    int k = (int)lo->m->k, gap = hd_packed_of(l)->gap;
    if (l->im2col) {
        int at = (ky * l->kw + kx) * lo->tensors[l->in[0]].c + c;
        *word = at / k;
        *lane = at % k;
        return;
    }
    if (l->ppw == 1) {
        int at = (int)hd_floor_to(c, k) / k, part = gap && at >= gap;
        *lane = c - at * k;
        at -= part * gap;
        *word = at < 0 || at >= l->cw ? -1 : (ky * l->kw + kx + part) * l->cw + at;
        return;
    }
    struct hd_phase p = hd_layer_phase(l, phase);
    int pixel = p.off + kx * l->dx;
    *word = hd_layer_phase_words(l, phase) + ky * p.words + pixel / l->ppw;
    *lane = pixel % l->ppw * (k / l->ppw) + c;
}

/* One plane of the weights of output channel oc, [C/group, kh, kw], into its column of WM words;
 * returns their sum. */
static uint32_t pack_channel(struct hd_lowering *lo, const struct hd_layer *l, const int8_t *row,
                             int oc, int plane) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int k = (int)lo->m->k, taps = l->kh * l->kw, lead = hd_group_lane(lo, l, oc);
    int group_in = x->c / l->groups;
    int phases = l->ppw > 1 ? hd_layer_phases(l) : 1;
    uint32_t sum = 0;
    for (int i = 0; i < group_in * taps; i++) sum += (uint32_t)(int32_t)row[i];
    for (int ky = 0; ky < l->kh; ky++)
        for (int kx = 0; kx < l->kw; kx++)
            for (int ic = 0, run; ic < group_in; ic += run) {
                const int8_t *from = row + (ic * l->kh + ky) * l->kw + kx;
                run = x->lane ? 1 : group_in - ic; /* lanes that follow each other */
                for (int f = 0, word, lane; f < phases; f++) {
                    place_tap(lo, l, f, ky, kx, lead + hd_lane(x, ic), &word, &lane);
                    if (run > k - lane) run = k - lane;
                    if (word < 0) continue;
                    uint8_t *to = hd_packed_byte(lo, l, oc, plane, word, lane);
                    for (int i = 0; i < run; i++) to[i] = (uint8_t)from[i * taps];
                }
            }
    return sum;
}

/* WM words in the order [nt][plane][ky][kx][cw] and PM words [nt][pixel of a block], zero points
 * folded into the bias. w is [plane, M, C/group, kh, kw]; for a dense layer over a flattened image
 * that is the order in which ONNX flattens, too. */
static void pack_weights(struct hd_lowering *lo, const struct hd_layer *l,
                         const struct hd_weights *w, struct hd_packed *own) {
    size_t n = lo->m->n, subs = (size_t)hd_layer_subs(l);
    size_t per_channel = (size_t)(lo->tensors[l->in[0]].c / l->groups) * (size_t)w->taps;
    own->w_offset = hd_image_reserve(lo, (size_t)l->nts * (size_t)l->red * hd_wm_word_bytes(lo->m));
    own->p_offset = hd_image_reserve(lo, (size_t)l->nts * subs * n * 8);
    for (int oc = 0; oc < l->oc; oc++)
        for (size_t i = 0; i < subs; i++) {
            uint32_t sum = 0;
            for (int plane = 0; plane < l->planes; plane++) {
                const int8_t *row = w->w + (size_t)(plane * l->oc + oc) * per_channel;
                sum += own->up[0].k ? hd_transposed_pack(lo, l, row, oc, (int)i, plane)
                                    : pack_channel(lo, l, row, oc, plane);
            }
            uint32_t b = (uint32_t)w->bias[oc] - (uint32_t)l->pad_value * sum;
            size_t word = (size_t)oc / n * subs + i;
            uint8_t *p = lo->image + own->p_offset + (word * n + (size_t)oc % n) * 8;
            memcpy(p, &b, 4);
            memcpy(p + 4, &w->scale[w->n_scale == 1 ? 0 : oc], 4);
        }
}

/* Words that have more than zeros; and whether those of planes behind the first are few. */
static void find_live(struct hd_lowering *lo, const struct hd_layer *l, struct hd_packed *own) {
    int64_t n = (int64_t)l->nts * l->red, first = l->red / l->planes, few = 0;
    size_t bytes = hd_wm_word_bytes(lo->m);
    bool *live = hd_new_array(lo->arena, bool, (size_t)n);
    const uint8_t *word = lo->image + own->w_offset;
    for (int64_t i = 0; i < n; i++, word += bytes) {
        for (size_t b = 0; b < bytes && !live[i]; b++) live[i] = word[b] != 0;
        few += live[i] && i % l->red >= first;
    }
    own->live = live;
    own->sparse = l->ppw == 1 && FEW_WORDS * few <= n - (int64_t)l->nts * first;
}

hd_status hd_matmul_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const hd_graph *g = lo->g;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    const struct hd_tensor *w = &g->tensors[n->in[1]], *scale = &g->tensors[n->in[3]];
    struct hd_packed *own = hd_new(lo->arena, struct hd_packed);
    l->own = own;
    if (n->op != HD_IR_qgemm) hd_window_attrs(l, n, g);
    l->groups = (int)hd_attr_int(n, "group", 1);
    if (n->op == HD_IR_qconv) {
        l->taps = l->kh * l->kw;
    } else if (n->op == HD_IR_qconvtranspose) {
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
                                      .taps = hd_tensor_elems(w) / w->dim[0] / (x->c / l->groups),
                                      .bias = g->tensors[n->in[2]].data,
                                      .scale = scale->data,
                                      .n_scale = hd_tensor_elems(scale)};
    const struct hd_layer windows = *l;
    matmul_words(lo, l, &packed, own);
    if (l->kind != &hd_kind_wide && hd_takes_windows(lo, l)) {
        *l = windows;
        hd_pack_windows(lo, l, &packed, own);
        return HD_OK;
    }
    pack_weights(lo, l, &packed, own);
    if (l->planes > 1) find_live(lo, l, own);
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
