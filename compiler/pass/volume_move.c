/* Part of pass volume: joins and parts of volumes, of what has images already. */
#include "compiler/pass/volume.h"

#include <string.h>

#include "compiler/ir/move.h"

/* The dimension of an image that one of a volume is. */
static int image_axis(int64_t axis) {
    return axis < DEPTH ? (int)axis : (int)axis - 1;
}

/* Tensor y of these images. */
static void made_of(struct volume *v, int images, int y, bool whole) {
    hd_volume_from_images(v, images, y);
    v->made[y] = whole;
}

bool hd_volume_concat(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int in[HD_MAX_OPERANDS], y = n.out[0];
    int64_t axis = hd_attr_int(&n, "axis", 0), at = 0;
    bool any = false, all = hd_volume_is(v->g, y);
    if (axis < 0) axis += RANK;
    for (int k = 0; all && k < n.n_in; k++) {
        all = hd_volume_is(v->g, n.in[k]) && (size_t)n.in[k] < v->n;
        any = any || (all && hd_volume_has_images(v, n.in[k]));
    }
    if (!all || !any) return false;
    const struct hd_tensor t = v->g->tensors[y];
    int64_t depth = t.dim[DEPTH], images = t.dim[0] * depth,
            dim[4] = {images, t.dim[1], t.dim[3], t.dim[4]};
    bool in_order = axis != DEPTH || t.dim[0] == 1;
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)images);
    for (int k = 0, z = 0; k < n.n_in; k++) { /* where the images of operand k go */
        int64_t d = v->g->tensors[n.in[k]].dim[DEPTH];
        for (int64_t i = 0; !in_order && i < t.dim[0] * d; i++)
            index[i / d * depth + z + i % d] = at++;
        z += (int)d;
    }
    for (int k = 0; k < n.n_in; k++) in[k] = hd_volume_images(v, n.in[k]);
    hd_graph_kill(v->g, node);
    int made = hd_volume_join(v, n.n_in, in, axis == DEPTH ? 0 : image_axis(axis), dim, y);
    if (!in_order) made = hd_volume_gathered(v, made, images, index);
    made_of(v, made, y, true);
    return true;
}

/* A part of a volume: elements start, start + step, .. of each dimension. */
struct part {
    int64_t start[RANK], step[RANK];
};

/* Images of y, a part of volume x; -1: of some dimension of an image it goes backwards. */
static int images_of_part(struct volume *v, int x, const struct part *p, int y) {
    const struct hd_tensor from = v->g->tensors[x], to = v->g->tensors[y];
    int64_t starts[3], ends[3], steps[3], axes[3], n = 0, depth = to.dim[DEPTH],
                                                   count = to.dim[0] * depth;
    bool moves = false;
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)count + 1);
    for (int d = 0; d < RANK; d++) {
        if (d == 0 || d == DEPTH || from.dim[d] == to.dim[d]) continue;
        if (p->step[d] < 1) return -1;
        starts[n] = p->start[d], steps[n] = p->step[d], axes[n] = image_axis(d);
        ends[n++] = p->start[d] + (to.dim[d] - 1) * p->step[d] + 1;
    }
    for (int64_t i = 0; i < count; i++) {
        index[i] = (p->start[0] + i / depth * p->step[0]) * from.dim[DEPTH] + p->start[DEPTH] +
                   i % depth * p->step[DEPTH];
        moves = moves || index[i] != i;
    }
    int images = hd_volume_images(v, x);
    if (moves || count != from.dim[0] * from.dim[DEPTH])
        images = hd_volume_gathered(v, images, count, index);
    if (!n) return images;
    int64_t dim[4] = {count, to.dim[1], to.dim[3], to.dim[4]};
    hd_graph *g = v->g;
    int in[5] = {images, hd_graph_const(g, "starts", HD_I64, 1, &n, starts),
                 hd_graph_const(g, "ends", HD_I64, 1, &n, ends),
                 hd_graph_const(g, "axes", HD_I64, 1, &n, axes),
                 hd_graph_const(g, "steps", HD_I64, 1, &n, steps)};
    int made = hd_volume_tensor(v, y, 4, dim);
    hd_graph_node(g, HD_IR_slice, g->tensors[made].name, 5, in, 1, &made);
    return made;
}

/* What slice `n` takes; false: where is known in the run only. */
static bool slice_part(const hd_graph *g, const struct hd_node *n, struct part *p) {
    int64_t list[4][RANK];
    int count[4] = {0};
    for (int k = 0; k < 4; k++) {
        if (k + 1 >= n->n_in || n->in[k + 1] < 0) continue;
        count[k] = hd_const_list(&g->tensors[n->in[k + 1]], list[k], RANK);
        if (count[k] < 0 || (k && count[k] != count[0])) return false;
    }
    const int64_t *dim = g->tensors[n->in[0]].dim;
    for (int d = 0; d < RANK; d++) p->start[d] = 0, p->step[d] = 1;
    for (int i = 0; i < count[0]; i++) {
        int64_t d = count[2] ? list[2][i] : i;
        if (d < 0) d += RANK;
        p->step[d] = count[3] ? list[3][i] : 1;
        p->start[d] = hd_slice_start(list[0][i], p->step[d], dim[d]);
    }
    return true;
}

bool hd_volume_slice(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct part p;
    int y = n.out[0];
    if (!hd_volume_has_images(v, n.in[0]) || !hd_volume_is(v->g, y) || !slice_part(v->g, &n, &p))
        return false;
    int images = images_of_part(v, n.in[0], &p, y);
    if (images < 0) return false;
    hd_graph_kill(v->g, node);
    made_of(v, images, y, v->g->tensors[y].dim[1] == v->g->tensors[n.in[0]].dim[1]);
    return true;
}

/* Each result as a slice. */
bool hd_volume_split(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int64_t axis = hd_attr_int(&n, "axis", 0);
    struct part p = {{0}, {1, 1, 1, 1, 1}};
    if (axis < 0) axis += RANK;
    if (!hd_volume_has_images(v, n.in[0])) return false;
    for (int k = 0; k < n.n_out; k++)
        if (n.out[k] < 0 || !hd_volume_is(v->g, n.out[k])) return false;
    hd_graph_kill(v->g, node);
    for (int k = 0; k < n.n_out; k++) {
        int y = n.out[k];
        made_of(v, images_of_part(v, n.in[0], &p, y), y, axis != 1);
        p.start[axis] += v->g->tensors[y].dim[axis];
    }
    return true;
}
