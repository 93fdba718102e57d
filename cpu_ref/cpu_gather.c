/* Step maker for gather, gathernd and scatternd by constant indexes: what lies side by side in both
 * tensors is one run of bytes, and a step copies runs. Indexes out of range are left to golden,
 * whose message names them. */
#include <string.h>

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/walk.h"
#include "runtime/base/num.h"

enum {
    PIECES = 1 << 20,
    RUNS = 1 << 16
}; /* of more, golden's walk costs no more than reading them */

struct run {
    size_t to, from, bytes;
};
struct runs {
    struct run *of;
    int64_t n;
    size_t first; /* bytes of operand 0 that are copied before; 0 = none are */
};

static hd_status run_runs(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct runs *k = s->state;
    const char *from = r->at[s->in[s->n_in - 1]];
    char *to = r->at[s->out[0]];
    if (k->first) memcpy(to, r->at[s->in[0]], k->first);
    for (int64_t i = 0; i < k->n; i++) {
        const struct run *one = &k->of[i];
        if (one->bytes == 4)
            memcpy(to + one->to, from + one->from, 4);
        else if (one->bytes == 1)
            to[one->to] = from[one->from];
        else
            memcpy(to + one->to, from + one->from, one->bytes);
    }
    return HD_OK;
}

/* False: too many. */
static bool add(struct runs *k, int64_t to, int64_t from, size_t bytes) {
    struct run one = {(size_t)to * bytes, (size_t)from * bytes, bytes};
    struct run *last = k->n ? &k->of[k->n - 1] : NULL;
    if (last && last->to + last->bytes == one.to && last->from + last->bytes == one.from) {
        last->bytes += bytes;
        return true;
    }
    if (k->n == RUNS) return false;
    k->of[k->n++] = one;
    return true;
}

/* The slice that tuple i of `width` indexes names; -1 = out of range. */
static int64_t slice_at(const int64_t *index, int64_t i, int64_t width, const int64_t *dim) {
    int64_t at = 0;
    for (int64_t d = 0; d < width; d++) {
        int64_t v = index[i * width + d];
        if (v < -dim[d] || v >= dim[d]) return -1;
        at = at * dim[d] + (v < 0 ? v + dim[d] : v);
    }
    return at;
}

struct move { /* tuples name slices of x, within each of `outer` parts */
    int64_t outer, own, n, width, slices; /* own: tuples of each part, else 0 */
    const int64_t *dim;
    size_t bytes; /* of a slice */
};

/* The operands as x [outer, dim.., slice]: false = a form that is left to golden. */
static bool read_move(const struct hd_node *n, const struct hd_tensor *x, const struct hd_tensor *t,
                      struct move *m) {
    int64_t behind;
    if (n->op == HD_IR_gather) {
        int64_t axis = hd_attr_int(n, "axis", 0);
        if (axis < 0) axis += x->rank;
        *m = (struct move){.outer = hd_elems_of(x->dim, 0, axis),
                           .n = hd_tensor_elems(t),
                           .width = 1,
                           .dim = x->dim + axis};
        behind = axis + 1;
    } else {
        int64_t batch = hd_attr_int(n, "batch_dims", 0);
        if (!t->rank || (n->op == HD_IR_scatternd &&
                         strcmp(hd_attr_string(n, "reduction", "none"), "none") != 0))
            return false;
        *m = (struct move){.outer = hd_elems_of(x->dim, 0, batch),
                           .n = hd_elems_of(t->dim, batch, t->rank - 1),
                           .width = t->dim[t->rank - 1],
                           .dim = x->dim + batch};
        m->own = m->n;
        behind = batch + m->width;
    }
    m->slices = hd_elems_of(m->dim, 0, m->width);
    m->bytes = (size_t)hd_elems_of(x->dim, behind, x->rank) * hd_dtype_bytes(x->dtype);
    return m->bytes && m->n && m->outer && m->outer * m->n <= PIECES;
}

static bool find_runs(const struct move *m, const int64_t *index, bool scatter, struct runs *k) {
    for (int64_t o = 0; o < m->outer; o++)
        for (int64_t i = 0; i < m->n; i++) {
            int64_t at = slice_at(index, o * m->own + i, m->width, m->dim), piece = o * m->n + i;
            if (at < 0) return false;
            at += o * m->slices;
            if (!add(k, scatter ? at : piece, scatter ? piece : at, m->bytes)) return false;
        }
    return true;
}

hd_status hd_cpu_gather(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = &p->g->tensors[n->in[0]], *t = &p->g->tensors[n->in[1]];
    const bool scatter = n->op == HD_IR_scatternd;
    struct move m;
    struct runs k = {.first = scatter ? hd_tensor_bytes(x) : 0};
    if (!hd_cpu_const(p, n->in[1]) || !read_move(n, x, t, &m)) return HD_OK;
    int64_t count = hd_tensor_elems(t);
    if (count > PIECES * HD_MAX_RANK) return HD_OK;
    int64_t *index = hd_new_array(p->arena, int64_t, (size_t)count);
    if (hd_cpu_const_ints(p, n->in[1], index, (int)count) != count) return HD_OK;
    k.of = hd_new_array(p->arena, struct run, (size_t)hd_min(m.outer * m.n, RUNS));
    if (!find_runs(&m, index, scatter, &k)) return HD_OK;
    int in[2], out, n_in = 0;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in[n_in++]));
    if (scatter) TRY(hd_cpu_need(p, n->in[2], hd_cpu_dense, &in[n_in++]));
    out = hd_cpu_make(p, n->out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "copy", n_in, in, 1, &out);
    s->run = run_runs;
    s->state = hd_dup(p->arena, &k, sizeof k);
    *out_taken = true;
    return HD_OK;
}
