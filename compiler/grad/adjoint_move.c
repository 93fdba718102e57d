/* Adjoints of data movement, by position and by index. */
#include <string.h>

#include "compiler/grad/adjoint.h"
#include "compiler/ir/move.h"

/* ---- by position ---------------------------------------------------------------------------- */

void hd_adjoint_reshape(struct hd_adjoint *a) {
    a->dx[0] = hd_b_like(a->b, a->dy[0], a->n.in[0]);
}

void hd_adjoint_transpose(struct hd_adjoint *a) {
    int rank = hd_b_shape(a->b, a->n.in[0]).rank;
    int64_t perm[HD_MAX_RANK], back[HD_MAX_RANK];
    if (!hd_attr_ints(&a->n, "perm", perm, HD_MAX_RANK, 0))
        for (int d = 0; d < rank; d++) perm[d] = rank - 1 - d;
    for (int d = 0; d < rank; d++) back[perm[d]] = d;
    a->dx[0] = hd_b_transpose(a->b, a->dy[0], back);
}

void hd_adjoint_concat(struct hd_adjoint *a) {
    int64_t at = 0, axis = hd_a_axis(a, "axis", 0, hd_b_shape(a->b, a->n.out[0]).rank);
    for (int i = 0; i < a->n.n_in; i++) {
        int64_t size = hd_b_shape(a->b, a->n.in[i]).dim[axis];
        if (a->want[i]) a->dx[i] = hd_b_slice(a->b, a->dy[0], (int)axis, at, at + size);
        at += size;
    }
}

void hd_adjoint_split(struct hd_adjoint *a) {
    int64_t axis = hd_a_axis(a, "axis", 0, hd_b_shape(a->b, a->n.in[0]).rank);
    int *part = hd_new_array(a->b->arena, int, (size_t)a->n.n_out);
    for (int i = 0; i < a->n.n_out; i++) {
        part[i] = a->dy[i];
        if (part[i] >= 0) continue;
        if (a->n.out[i] < 0) {
            hd_b_fail(a->b, &a->n, "a part that nobody wants; name it");
            return;
        }
        struct hd_tensor y = hd_b_shape(a->b, a->n.out[i]);
        part[i] = hd_b_filled(a->b, &y, 0);
    }
    a->dx[0] = hd_b_concat(a->b, a->n.n_out, part, axis);
}

/* The places that a slice takes, along one axis. */
struct cut {
    int axis;
    int64_t from, step, n;
};

static int slice_cuts(struct hd_adjoint *a, struct cut *cut) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]), y = hd_b_shape(a->b, a->n.out[0]);
    int64_t start[HD_MAX_RANK], axes[HD_MAX_RANK], step[HD_MAX_RANK];
    int n = hd_a_ints(a, 1, start, HD_MAX_RANK), n_axes = hd_a_ints(a, 3, axes, HD_MAX_RANK);
    int n_steps = hd_a_ints(a, 4, step, HD_MAX_RANK);
    if (n < 0 || n_axes < 0 || n_steps < 0) return -1;
    for (int i = 0; i < n; i++) {
        int64_t d = n_axes ? axes[i] : i, s = n_steps ? step[i] : 1;
        d = d < 0 ? d + x.rank : d;
        cut[i] = (struct cut){(int)d, hd_slice_start(start[i], s, x.dim[d]), s, y.dim[d]};
    }
    return n;
}

/* Places from, from + step, ..; zeros elsewhere. */
static int uncut(struct hd_back *b, int g, const struct cut *c, int64_t size) {
    struct hd_tensor t = hd_b_shape(b, g), x = t;
    if (c->step == 1) return hd_b_pad(b, g, c->axis, c->from, size - c->from - c->n);
    int64_t *at = hd_new_array(b->arena, int64_t, (size_t)c->n + 1);
    for (int64_t i = 0; i < c->n; i++) at[i] = c->from + i * c->step;
    x.dim[c->axis] = size;
    return hd_b_scatter(b, g, hd_b_vector(b, (int)c->n, at), &x, c->axis);
}

void hd_adjoint_slice(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    struct cut cut[HD_MAX_RANK];
    int n = slice_cuts(a, cut), g = a->dy[0];
    for (int i = 0; i < n; i++) g = uncut(a->b, g, &cut[i], x.dim[cut[i].axis]);
    if (n >= 0) a->dx[0] = g;
}

void hd_adjoint_expand(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    a->dx[0] = hd_b_unbroadcast(a->b, a->dy[0], &x);
}

/* Sums of the copies, one axis after the other. */
void hd_adjoint_tile(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]), y = hd_b_shape(a->b, a->n.out[0]);
    int g = a->dy[0];
    for (int d = 0; d < x.rank; d++) {
        if (y.dim[d] == x.dim[d]) continue;
        int64_t inner = 1, outer = 1, one = 1;
        for (int i = 0; i < d; i++) outer *= x.dim[i];
        for (int i = d; i < x.rank; i++) inner *= i == d ? x.dim[i] : y.dim[i];
        int64_t dim[3] = {outer, x.dim[d] ? y.dim[d] / x.dim[d] : 1, inner};
        g = hd_b_reduce(a->b, HD_IR_reducesum, hd_b_reshape(a->b, g, 3, dim), 1, &one, false);
    }
    a->dx[0] = hd_b_reshape(a->b, g, x.rank, x.dim);
}

/* Where element i of the padded axis comes from. */
static int64_t source(int64_t i, int64_t size, char mode) {
    if (mode == 'e') return i < 0 ? 0 : i >= size ? size - 1 : i;
    if (mode == 'w') return ((i % size) + size) % size;
    int64_t turn = size > 1 ? 2 * (size - 1) : 1;
    i = ((i % turn) + turn) % turn;
    return i < size ? i : turn - i;
}

void hd_adjoint_pad(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]), y = hd_b_shape(b, a->n.out[0]), part = y;
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int n = hd_a_ints(a, 1, list, 2 * HD_MAX_RANK), n_axes = hd_a_ints(a, 3, axes, HD_MAX_RANK);
    const char *mode = hd_attr_string(&a->n, "mode", "constant");
    if (n < 0 || n_axes < 0) return;
    for (int i = 0; i < n_axes; i++) axes[i] += axes[i] < 0 ? x.rank : 0;
    hd_pads_spread(x.rank, list, n_axes, axes, pads);
    int g = a->dy[0];
    for (int d = 0; d < x.rank; d++) {
        if (!pads[d] && !pads[d + x.rank]) continue;
        part.dim[d] = x.dim[d];
        if (*mode == 'c') {
            g = hd_b_pad(b, g, d, -pads[d], -pads[d + x.rank]);
            continue;
        }
        int64_t *at = hd_new_array(b->arena, int64_t, (size_t)y.dim[d] + 1);
        for (int64_t i = 0; i < y.dim[d]; i++) at[i] = source(i - pads[d], x.dim[d], *mode);
        if (pads[d] < 0 || pads[d + x.rank] < 0) {
            hd_b_fail(b, &a->n, "negative pads in a mode other than constant");
            return;
        }
        g = hd_b_scatter(b, g, hd_b_vector(b, (int)y.dim[d], at), &part, d);
    }
    if (a->want[0]) a->dx[0] = g;
    if (a->n.n_in < 3 || !a->want[2]) return;
    struct hd_tensor v = hd_b_shape(b, a->n.in[2]); /* what went nowhere else */
    int all = hd_b_reduce(b, HD_IR_reducesum, a->dy[0], 0, NULL, false);
    int used = hd_b_reduce(b, HD_IR_reducesum, g, 0, NULL, false);
    a->dx[2] = hd_b_reshape(b, hd_b(b, sub, all, used), v.rank, v.dim);
}

/* One becomes the other, but for columns first (CRD), which a transpose does. */
static int blocks(struct hd_adjoint *a, enum hd_ir_op op) {
    int node = hd_b_start(a->b, op, 1, a->dy, 1);
    hd_b_int(a->b, node, "blocksize", hd_attr_int(&a->n, "blocksize", 1));
    return hd_b_end(a->b, node);
}

void hd_adjoint_spacetodepth(struct hd_adjoint *a) {
    a->dx[0] = blocks(a, HD_IR_depthtospace);
}

void hd_adjoint_depthtospace(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int64_t size = hd_attr_int(&a->n, "blocksize", 1);
    if (strcmp(hd_attr_string(&a->n, "mode", "DCR"), "CRD") != 0) {
        a->dx[0] = blocks(a, HD_IR_spacetodepth);
        return;
    }
    int64_t dim[6] = {x.dim[0], x.dim[1] / (size * size), x.dim[2], size, x.dim[3], size};
    int g = hd_b_reshape(b, a->dy[0], 6, dim);
    a->dx[0] = hd_b_like(b, hd_b_transpose(b, g, (int64_t[]){0, 1, 3, 5, 2, 4}), a->n.in[0]);
}

/* The same movement once more, with the other operands as they are. */
static int again(struct hd_adjoint *a) {
    int in[3] = {a->dy[0], hd_a_in(a, 1), hd_a_in(a, 2)};
    int node = hd_b_start(a->b, a->n.op, a->n.n_in, in, 1);
    hd_b_copy(a->b, node, &a->n);
    return hd_b_end(a->b, node);
}

void hd_adjoint_trilu(struct hd_adjoint *a) {
    a->dx[0] = again(a);
}

void hd_adjoint_reversesequence(struct hd_adjoint *a) {
    a->dx[0] = again(a);
}

/* ---- by index ------------------------------------------------------------------------------- */

void hd_adjoint_gather(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    int64_t axis = hd_a_axis(a, "axis", 0, x.rank);
    a->dx[0] = hd_b_scatter(a->b, a->dy[0], a->n.in[1], &x, axis);
}

void hd_adjoint_gatherelements(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    int in[3] = {hd_b_filled(a->b, &x, 0), a->n.in[1], a->dy[0]};
    int node = hd_b_start(a->b, HD_IR_scatterelements, 3, in, 1);
    hd_b_int(a->b, node, "axis", hd_attr_int(&a->n, "axis", 0));
    hd_b_string(a->b, node, "reduction", "add");
    a->dx[0] = hd_b_end(a->b, node);
}

void hd_adjoint_gathernd(struct hd_adjoint *a) {
    struct hd_tensor x = hd_b_shape(a->b, a->n.in[0]);
    if (hd_attr_int(&a->n, "batch_dims", 0)) {
        hd_b_fail(a->b, &a->n, "batch_dims");
        return;
    }
    int in[3] = {hd_b_filled(a->b, &x, 0), a->n.in[1], a->dy[0]};
    int node = hd_b_start(a->b, HD_IR_scatternd, 3, in, 1);
    hd_b_string(a->b, node, "reduction", "add");
    a->dx[0] = hd_b_end(a->b, node);
}

/* y = x with updates at the places of the index, instead of what is there (no place twice), or
 * added to it. */
void hd_adjoint_scatter(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    const char *how = hd_attr_string(&a->n, "reduction", "none");
    bool elements = a->n.op == HD_IR_scatterelements, none = !strcmp(how, "none");
    if (!none && strcmp(how, "add") != 0) {
        hd_b_fail(b, &a->n, "a reduction other than none and add");
        return;
    }
    if (a->want[0]) {
        struct hd_tensor u = hd_b_shape(b, a->n.in[2]);
        int in[3] = {a->dy[0], a->n.in[1], none ? hd_b_filled(b, &u, 0) : -1};
        int node = none ? hd_b_start(b, a->n.op, 3, in, 1) : -1;
        if (node >= 0) hd_b_copy(b, node, &a->n);
        a->dx[0] = none ? hd_b_end(b, node) : a->dy[0];
    }
    if (!a->want[2]) return;
    int in[2] = {a->dy[0], a->n.in[1]};
    int node = hd_b_start(b, elements ? HD_IR_gatherelements : HD_IR_gathernd, 2, in, 1);
    if (elements) hd_b_int(b, node, "axis", hd_attr_int(&a->n, "axis", 0));
    a->dx[2] = hd_b_end(b, node);
}
