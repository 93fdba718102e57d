/* Random movement of data. */
#include "test/random/net.h"

#include <string.h>

#include "runtime/base/num.h"

static int ints(struct net *x, int n, const int64_t *v) {
    return hd_graph_const(x->g, "i", HD_I64, 1, (int64_t[]){n}, v);
}

static void transpose(struct net *x, int in) {
    int64_t dim[HD_MAX_RANK], perm[HD_MAX_RANK];
    int node, rank = net_shape(x, in)->rank;
    for (int i = 0; i < rank; i++) perm[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int k = rng_range(&x->r, 0, i);
        int64_t p = perm[i];
        perm[i] = perm[k], perm[k] = p;
    }
    for (int i = 0; i < rank; i++) dim[i] = net_shape(x, in)->dim[perm[i]];
    net_add(x, HD_IR_transpose, 1, &in, net_shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "perm", rank, perm);
}

/* The same elements in another shape: two neighbouring dimensions become one, or one becomes two.
 */
static void reshape(struct net *x, int in) {
    int64_t dim[HD_MAX_RANK + 1];
    int node, rank = net_shape(x, in)->rank, at = rng_range(&x->r, 0, rank - 1);
    memcpy(dim, net_shape(x, in)->dim, sizeof(int64_t) * HD_MAX_RANK);
    if (rank > 2 && (rank > 4 || rng_next(&x->r) % 2)) {
        if (at == rank - 1) at--;
        dim[at] *= dim[at + 1];
        memmove(dim + at + 1, dim + at + 2, sizeof *dim * (size_t)(rank-- - at - 2));
    } else {
        int64_t part = 1, size = dim[at];
        for (int64_t f = 2; f <= 8; f++)
            if (size % f == 0) part = f;
        memmove(dim + at + 1, dim + at, sizeof *dim * (size_t)(rank++ - at));
        dim[at] = size / part, dim[at + 1] = part;
    }
    net_add(x, HD_IR_reshape, 1, &in, net_shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_ints(x->g, node, "shape", rank, dim);
}

static void concat(struct net *x, int in) {
    int64_t dim[HD_MAX_RANK];
    int node, rank = net_shape(x, in)->rank, axis = rng_range(&x->r, 0, rank - 1), parts[4] = {in},
              n = 1;
    memcpy(dim, net_shape(x, in)->dim, sizeof dim);
    for (int i = 0; i < x->n_made && n < 4; i++) { /* others of that shape but for the axis */
        const struct hd_tensor *t = net_shape(x, x->made[i]);
        bool fits = t->rank == rank && t->dtype == net_shape(x, in)->dtype && rng_next(&x->r) % 3;
        for (int d = 0; d < rank && fits; d++) fits = d == axis || t->dim[d] == dim[d];
        if (!fits || dim[axis] + t->dim[axis] > 200) continue;
        dim[axis] += t->dim[axis];
        parts[n++] = x->made[i];
    }
    if (n < 4 && rng_next(&x->r) % 4 == 0 &&
        net_shape(x, in)->dtype != HD_I16) { /* a constant among them, as class tokens are */
        struct hd_tensor t = *net_shape(x, in);
        t.dim[axis] = rng_range(&x->r, 1, 3);
        dim[axis] += t.dim[axis];
        parts[n++] = parts[0], parts[0] = net_bytes(x, t.dtype, t.rank, t.dim);
    }
    net_add(x, HD_IR_concat, n, parts, net_shape(x, in)->dtype, rank, dim, &node);
    hd_attr_set_int(x->g, node, "axis", axis);
}

static void split(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int axis = rng_range(&x->r, 0, t.rank - 1), out[2];
    if (t.dim[axis] < 2) return;
    int64_t size[2] = {rng_range(&x->r, 1, (int)t.dim[axis] - 1), 0};
    size[1] = t.dim[axis] - size[0];
    int ins[2] = {in, ints(x, 2, size)};
    for (int i = 0; i < 2; i++) {
        t.dim[axis] = size[i];
        out[i] = hd_graph_tensor(x->g, "t", t.dtype, t.rank, t.dim);
    }
    int node = hd_graph_node(x->g, HD_IR_split, "split", 2, ins, 2, out);
    hd_attr_set_int(x->g, node, "axis", axis);
    x->made[x->n_made++] = out[0], x->made[x->n_made++] = out[1];
}

static void slice(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int axis = rng_range(&x->r, 0, t.rank - 1), node;
    int64_t size = t.dim[axis], start = rng_range(&x->r, 0, (int)size - 1),
            end = rng_range(&x->r, (int)start + 1, (int)size), step = rng_range(&x->r, 1, 2);
    if (rng_next(&x->r) % 4 == 0) { /* backwards */
        int64_t first = start;
        start = end - 1, end = first - 1 - size, step = -step;
    }
    int ins[5] = {in, ints(x, 1, &start), ints(x, 1, &end), ints(x, 1, (int64_t[]){axis}),
                  ints(x, 1, &step)};
    int64_t way = step > 0 ? end - start : start - (end + size);
    t.dim[axis] = (way - 1) / (step > 0 ? step : -step) + 1;
    net_add(x, HD_IR_slice, 5, ins, t.dtype, t.rank, t.dim, &node);
}

static void pad(struct net *x, int in) {
    static const char *const modes[] = {"constant", "edge", "reflect", "constant"};
    struct hd_tensor t = *net_shape(x, in);
    int64_t pads[2 * HD_MAX_RANK] = {0};
    int mode = rng_range(&x->r, 0, 3), node;
    int16_t value = (int16_t)rng_range(&x->r, -128, 127);
    for (int d = 0; d < t.rank; d++)
        for (int side = 0; side < 2; side++) {
            int most = mode == 2 ? (int)hd_min(t.dim[d] - 1, 3) : 3;
            if (rng_next(&x->r) % 2) pads[d + side * t.rank] = rng_range(&x->r, 0, most);
        }
    if (t.dtype == HD_I16 && value % 4) value = 0; /* the machine takes no other */
    for (int d = 0; d < t.rank; d++) t.dim[d] += pads[d] + pads[d + t.rank];
    int ins[3] = {in, ints(x, 2 * t.rank, pads),
                  hd_graph_const(x->g, "v", t.dtype, 0, NULL, &value)};
    net_add(x, HD_IR_pad, mode == 3 ? 2 : 3, ins, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_string(x->g, node, "mode", modes[mode]);
}

static void resize(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    float scales[HD_MAX_RANK];
    int node, none = hd_graph_const_f32(x->g, "roi", 0, NULL);
    for (int d = 0; d < t.rank; d++) {
        scales[d] = d < 2 ? 1 : (float)rng_range(&x->r, 1, 3);
        t.dim[d] *= (int64_t)scales[d];
    }
    int ins[3] = {in, none, hd_graph_const_f32(x->g, "scales", t.rank, scales)};
    net_add(x, HD_IR_resize, 3, ins, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_string(x->g, node, "mode", "nearest");
    if (rng_next(&x->r) % 2)
        hd_attr_set_string(x->g, node, "coordinate_transformation_mode", "asymmetric");
}

static void blocks(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    bool to_depth = t.dim[2] % 2 == 0 && t.dim[3] % 2 == 0;
    int node;
    if (!to_depth && t.dim[1] % 4) return;
    t.dim[1] = to_depth ? t.dim[1] * 4 : t.dim[1] / 4;
    for (int d = 2; d < 4; d++) t.dim[d] = to_depth ? t.dim[d] / 2 : t.dim[d] * 2;
    net_add(x, to_depth ? HD_IR_spacetodepth : HD_IR_depthtospace, 1, &in, t.dtype, 4, t.dim,
            &node);
    hd_attr_set_int(x->g, node, "blocksize", 2);
    if (!to_depth && rng_next(&x->r) % 2) hd_attr_set_string(x->g, node, "mode", "CRD");
}

/* Groups of channels change places with those within a group. */
static void shuffle(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int groups = 2, node;
    while (groups <= 4 && t.dim[1] % groups) groups++;
    if (t.dim[1] % groups || t.rank > 5) return;
    int64_t dim[HD_MAX_RANK + 1] = {t.dim[0], groups, t.dim[1] / groups},
                              perm[] = {0, 2, 1, 3, 4, 5};
    for (int d = 2; d < t.rank; d++) dim[d + 1] = t.dim[d];
    int a = net_add(x, HD_IR_reshape, 1, &in, t.dtype, t.rank + 1, dim, &node);
    hd_attr_set_ints(x->g, node, "shape", t.rank + 1, dim);
    dim[1] = dim[2], dim[2] = groups;
    int b = net_add(x, HD_IR_transpose, 1, &a, t.dtype, t.rank + 1, dim, &node);
    hd_attr_set_ints(x->g, node, "perm", t.rank + 1, perm);
    net_add(x, HD_IR_reshape, 1, &b, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_ints(x->g, node, "shape", t.rank, t.dim);
}

/* The halves of the last dimension change places; one changes its sign. */
static void rotate(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int64_t size = t.dim[t.rank - 1], half = size / 2, length = 256, last = t.rank - 1, zero = 0;
    uint8_t table[256];
    int zp = rng_range(&x->r, -20, 20) + (t.dtype == HD_U8 ? 128 : 0), node, part[2];
    if (t.dtype == HD_I16) return; /* tables are of bytes */
    int lo = t.dtype == HD_U8 ? 0 : -128;
    for (int i = 0; i < 256; i++) {
        int v = t.dtype == HD_U8 ? i : (int8_t)i;
        table[i] = (uint8_t)hd_max(lo, hd_min(lo + 255, 2 * zp - v));
    }
    if (size % 2) return;
    int axis = ints(x, 1, &last), middle = ints(x, 1, &half);
    int low[4] = {in, ints(x, 1, &zero), middle, axis},
        high[4] = {in, middle, ints(x, 1, &size), axis};
    t.dim[last] = half;
    part[1] = net_add(x, HD_IR_slice, 4, low, t.dtype, t.rank, t.dim, &node);
    part[0] = net_add(x, HD_IR_slice, 4, high, t.dtype, t.rank, t.dim, &node);
    int ins[2] = {part[0], hd_graph_const(x->g, "neg", t.dtype, 1, &length, table)};
    part[0] = net_add(x, HD_IR_qtable, 2, ins, t.dtype, t.rank, t.dim, &node);
    t.dim[last] = size;
    net_add(x, HD_IR_concat, 2, part, t.dtype, t.rank, t.dim, &node);
    hd_attr_set_int(x->g, node, "axis", last);
}

/* Neighbours of a row, each as channels beside the others. */
static void unfold(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int64_t w = t.dim[3], pads[8] = {0, 0, 0, 1, 0, 0, 0, 1}, index[3 * 64], table[2] = {3, w},
            flat[4] = {t.dim[0], 3 * t.dim[1], t.dim[2], w};
    int8_t edge = (int8_t)rng_range(&x->r, -100, 100);
    int node,
        padded[3] = {in, ints(x, 8, pads), hd_graph_const(x->g, "v", t.dtype, 0, NULL, &edge)};
    if (w > 64) return;
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < w; i++) index[k * w + i] = i + k;
    t.dim[3] += 2;
    int gathers[2] = {net_add(x, HD_IR_pad, 3, padded, t.dtype, 4, t.dim, &node),
                      hd_graph_const(x->g, "i", HD_I64, 2, table, index)};
    int64_t split[5] = {t.dim[0], t.dim[1], t.dim[2], 3, w},
            turned[5] = {t.dim[0], t.dim[1], 3, t.dim[2], w}, perm[5] = {0, 1, 3, 2, 4};
    int a = net_add(x, HD_IR_gather, 2, gathers, t.dtype, 5, split, &node);
    hd_attr_set_int(x->g, node, "axis", 3);
    a = net_add(x, HD_IR_transpose, 1, &a, t.dtype, 5, turned, &node);
    hd_attr_set_ints(x->g, node, "perm", 5, perm);
    a = net_add(x, HD_IR_reshape, 1, &a, t.dtype, 4, flat, &node);
    hd_attr_set_ints(x->g, node, "shape", 4, flat);
    if (rng_next(&x->r) % 2) net_conv_of(x, a, rng_range(&x->r, 1, 24), 1, 1);
}

/* x and a relative of it, stacked behind their channels. */
static void stack(struct net *x, int in) {
    struct hd_tensor t = *net_shape(x, in);
    int node, part[2] = {in, in};
    int64_t one[5] = {t.dim[0], t.dim[1], 1, t.dim[2], t.dim[3]},
            two[5] = {t.dim[0], t.dim[1], 2, t.dim[2], t.dim[3]},
            flat[4] = {t.dim[0], 2 * t.dim[1], t.dim[2], t.dim[3]};
    if (t.dtype == HD_I16) return;
    net_table(x, in);
    if (hd_same_shape(net_shape(x, x->made[x->n_made - 1]), &t) &&
        net_shape(x, x->made[x->n_made - 1])->dtype == t.dtype)
        part[1] = x->made[x->n_made - 1];
    for (int i = 0; i < 2; i++) {
        part[i] = net_add(x, HD_IR_reshape, 1, &part[i], t.dtype, 5, one, &node);
        hd_attr_set_ints(x->g, node, "shape", 5, one);
    }
    int y = net_add(x, HD_IR_concat, 2, part, t.dtype, 5, two, &node);
    hd_attr_set_int(x->g, node, "axis", 2);
    net_add(x, HD_IR_reshape, 1, &y, t.dtype, 4, flat, &node);
    hd_attr_set_ints(x->g, node, "shape", 4, flat);
}

void net_move(struct net *x, int in) {
    static void (*const kind[])(struct net *, int) = {transpose, reshape, concat,  split,
                                                      slice,     pad,     shuffle, rotate,
                                                      resize,    blocks,  unfold,  stack};
    int64_t elems = hd_tensor_elems(net_shape(x, in));
    int pick = rng_range(&x->r, 0, elems > 20000 ? 4 : net_shape(x, in)->rank == 4 ? 11 : 8);
    kind[pick](x, in);
}
