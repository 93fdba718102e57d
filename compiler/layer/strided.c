/* Strided views: a tensor that transposes and reshapes make of another one, as distances in the
 * storage of that one. So heads of an attention are read and written where they lie. */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

/* A tensor of images or of rows where it lies. */
static bool storage(const struct hd_lowering *lo, int tensor, struct hd_strided *out) {
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    struct hd_mtensor m;
    if (!hd_machine_shape(lo, tensor, &m)) return false;
    int64_t step = hd_round_up(m.c, hd_max(lo->m->k, lo->m->n));
    int channels = m.rows ? t->rank - 1 : 1;
    *out = (struct hd_strided){.rank = t->rank, .pixel = step};
    for (int i = t->rank - 1; i >= 0; i--) {
        out->size[i] = t->dim[i];
        out->step[i] = i == channels ? 1 : step;
        if (i != channels) step *= t->dim[i];
    }
    return true;
}

bool hd_strided_of(const struct hd_lowering *lo, int tensor, struct hd_strided *out) {
    return lo->rows[tensor] && storage(lo, tensor, out);
}

/* The same elements with other sizes, where every new dimension has one distance. */
static bool reshape(struct hd_strided *v, const struct hd_tensor *to) {
    struct hd_strided old = *v, packed = {.pixel = v->pixel};
    for (int i = 0; i < old.rank; i++) /* dimensions of 1 have no distance */
        if (old.size[i] != 1) {
            packed.size[packed.rank] = old.size[i];
            packed.step[packed.rank++] = old.step[i];
        }
    int a = packed.rank, b = to->rank;
    while (b > 0 && a >= 0) { /* groups of the same product, from the end */
        int a0 = a, b0 = b;
        int64_t na = 1, nb = 1;
        if (to->dim[b - 1] == 1) {
            b--;
            v->size[b] = 1, v->step[b] = 0;
            continue;
        }
        if (!a) return false;
        na = packed.size[--a0], nb = to->dim[--b0];
        while (na != nb) {
            if (na < nb) {
                if (!a0 || packed.step[a0 - 1] != packed.step[a0] * packed.size[a0]) return false;
                na *= packed.size[--a0];
            } else {
                if (!b0) return false;
                nb *= to->dim[--b0];
            }
        }
        int64_t step = packed.step[a - 1];
        for (int i = b - 1; i >= b0; i--) {
            v->size[i] = to->dim[i], v->step[i] = step;
            step *= to->dim[i];
        }
        a = a0, b = b0;
    }
    v->rank = to->rank;
    return a == 0;
}

static void permute(const hd_graph *g, const struct hd_node *n, bool back, struct hd_strided *v) {
    struct hd_strided old = *v;
    int64_t perm[HD_MAX_RANK];
    int rank = g->tensors[n->in[0]].rank;
    if (hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) != rank) /* without it: reversed */
        for (int i = 0; i < rank; i++) perm[i] = rank - 1 - i;
    for (int i = 0; i < rank; i++) {
        int to = back ? (int)perm[i] : i, from = back ? i : (int)perm[i];
        v->size[to] = old.size[from], v->step[to] = old.step[from];
    }
}

bool hd_strides_through(const struct hd_node *n) {
    return n->op == HD_IR_transpose || (n->op == HD_IR_reshape && n->n_in == 1);
}

bool hd_strided_through(const hd_graph *g, const struct hd_node *n, bool back,
                        struct hd_strided *v) {
    if (n->op == HD_IR_reshape) return reshape(v, &g->tensors[back ? n->in[0] : n->out[0]]);
    permute(g, n, back, v);
    return true;
}

int hd_same_bytes(const struct hd_lowering *lo, int node) {
    enum { NODES_MOST = 4 };
    const hd_graph *g = lo->g;
    struct hd_strided x, y;
    if (!storage(lo, g->nodes[node].in[0], &x)) return -1;
    for (int k = 0; k < NODES_MOST && node >= 0; k++) {
        const struct hd_node *n = &g->nodes[node];
        if (!hd_strides_through(n) || !hd_strided_through(g, n, false, &x)) return -1;
        bool same = storage(lo, n->out[0], &y) && x.pixel == y.pixel;
        for (int i = 0; same && i < y.rank; i++) same = y.size[i] <= 1 || x.step[i] == y.step[i];
        if (same) return node;
        node = hd_graph_only_user(g, n->out[0]);
    }
    return -1;
}
