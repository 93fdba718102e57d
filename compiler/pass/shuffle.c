/* Channel shuffles as convolutions, for the machine.
 *
 *   reshape [N,C,..] -> [N,f1,f2,..], transpose of the f, reshape -> [N,C,..]   -> qconv 1x1
 *
 * needs: shapes, integers of 8 bits. gives: the same values: weights are one 1 in each row, the
 * scale is 1. destroys: the reshapes and the transpose, where nothing else reads them.
 *
 * The channels of a pixel lie side by side in memory, so that moving them costs an access a byte;
 * the matrix unit moves K of them a cycle. Beyond CHANNELS_MOST the matrix, C x C, is the larger
 * cost.
 */
#include <string.h>

#include "compiler/pass/pass.h"

enum { CHANNELS_MOST = 512 };

static int64_t product(const int64_t *dim, int from, int to) {
    int64_t p = 1;
    for (int i = from; i < to; i++) p *= dim[i];
    return p;
}

/* Factors of C in the dimensions [1, *out_end) of the split tensor; behind them is the image. */
static bool splits_channels(const struct hd_tensor *x, const struct hd_tensor *split,
                            int *out_end) {
    int end = 1;
    int64_t channels = 1;
    if (split->rank < 3 || split->dim[0] != x->dim[0]) return false;
    while (end < split->rank && channels < x->dim[1]) channels *= split->dim[end++];
    *out_end = end;
    return channels == x->dim[1] && end > 2 &&
           product(split->dim, end, split->rank) == product(x->dim, 2, x->rank);
}

/* source[o] = the channel that becomes channel o. */
static void trace(const struct hd_tensor *split, const int64_t *perm, int end, int64_t channels,
                  int64_t *source) {
    for (int64_t o = 0; o < channels; o++) {
        int64_t index[HD_MAX_RANK] = {0}, rest = o, at = 0;
        for (int d = end - 1; d >= 1; d--) {
            index[perm[d]] = rest % split->dim[perm[d]];
            rest /= split->dim[perm[d]];
        }
        for (int d = 1; d < end; d++) at = at * split->dim[d] + index[d];
        source[o] = at;
    }
}

/* A 1x1 qconv of bytes x by weights i8 [channels, C, 1, ..] with one 1 in each row, to tensor y:
 * channels change places. Returns the node. */
static int channels_conv(hd_graph *g, const char *name, int x, int64_t channels, const int8_t *w,
                         int y) {
    const struct hd_tensor t = g->tensors[x];
    int64_t w_dim[4] = {channels, t.dim[1], 1, 1}, ones[2] = {1, 1}, pads[4] = {0}, one = 1;
    bool is_signed = t.dtype == HD_I8;
    int32_t *bias = hd_new_array(g->arena, int32_t, (size_t)channels);
    float scale = 1;
    int in[4] = {
        x, hd_graph_const(g, hd_sprintf(g->arena, "%s.moves", name), HD_I8, t.rank, w_dim, w),
        hd_graph_const(g, hd_sprintf(g->arena, "%s.bias", name), HD_I32, 1, &channels, bias),
        hd_graph_const(g, hd_sprintf(g->arena, "%s.one", name), HD_F32, 1, &one, &scale)};
    int id = hd_graph_node(g, HD_IR_qconv, name, 4, in, 1, &y);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    hd_attr_set_int(g, id, "x_zp", 0);
    hd_attr_set_int(g, id, "y_zp", 0);
    hd_attr_set_int(g, id, "lo", is_signed ? -128 : 0);
    hd_attr_set_int(g, id, "hi", is_signed ? 127 : 255);
    hd_attr_set_int(g, id, "group", 1);
    hd_attr_set_int(g, id, "moves", 1); /* its products are no work of the network */
    hd_attr_set_ints(g, id, "kernel_shape", t.rank - 2, ones);
    hd_attr_set_ints(g, id, "strides", t.rank - 2, ones);
    hd_attr_set_ints(g, id, "pads", 2 * (t.rank - 2), pads);
    return id;
}

/* Node `last` ends such a chain: a convolution takes its place. */
static void shuffle(hd_graph *g, int last) {
    const struct hd_tensor *y = &g->tensors[g->nodes[last].out[0]];
    int turned = g->nodes[last].in[0], turn = g->tensors[turned].producer;
    if (turn < 0 || g->nodes[turn].op != HD_IR_transpose || hd_graph_only_user(g, turned) != last)
        return;
    int split = g->nodes[turn].in[0], first = g->tensors[split].producer;
    if (first < 0 || g->nodes[first].op != HD_IR_reshape || hd_graph_only_user(g, split) != turn)
        return;
    int from = g->nodes[first].in[0], end;
    int64_t perm[HD_MAX_RANK];
    const struct hd_tensor *x = &g->tensors[from], *s = &g->tensors[split];
    int n_perm = hd_attr_ints(&g->nodes[turn], "perm", perm, HD_MAX_RANK, 0);
    bool bytes = x->dtype == HD_I8 || x->dtype == HD_U8;
    if (!bytes || !x->known || !s->known || x->data || x->rank < 3 || x->rank > 4 ||
        x->rank != y->rank || memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim) ||
        x->dim[1] > CHANNELS_MOST || n_perm != s->rank || !splits_channels(x, s, &end))
        return;
    for (int d = 0; d < s->rank; d++)
        if ((d < 1 || d >= end) && perm[d] != d) return; /* moves more than channels */
    int64_t source[CHANNELS_MOST];
    trace(s, perm, end, x->dim[1], source);
    int64_t c = x->dim[1];
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)(c * c));
    for (int64_t o = 0; o < c; o++) w[o * c + source[o]] = 1;
    int out = g->nodes[last].out[0];
    const char *name = g->nodes[last].name;
    hd_graph_kill(g, last);
    hd_graph_swap_names(g, channels_conv(g, name, from, c, w, out), last);
    hd_graph_kill(g, turn);
    hd_graph_kill(g, first);
}

hd_status hd_pass_shuffle(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_reshape) shuffle(g, (int)i);
    return hd_graph_infer(ctx, g);
}
