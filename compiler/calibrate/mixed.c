/* heddle quantize --mixed: which activations become int16, until a bound on the error holds.
 *
 * Each group of activations is measured once: all others are int16 and it alone has 8 bits, so that
 * its error stands out from what the weights cost. Then groups are raised by error over cost, and
 * the fewest of that order are kept with which the bound holds, found by halving.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/calibrate/job.h"
#include "runtime/base/memory.h"

const char *parse_mixed(const char *text, struct mixed *out) {
    char *end = NULL;
    double v = strtod(text, &end);
    bool db = end != text && !strcmp(end, "dB"), part = end != text && !strcmp(end, "%");
    *out = (struct mixed){.wanted = true, .db = db ? v : 0, .part = part ? v / 100 : 0};
    if (db && v >= 1 && v <= 120) return NULL;
    return part && v > 0 && v <= 100 ? NULL
                                     : "a bound such as 30dB (1 to 120), or 99% of the data sets";
}

struct quality {      /* of a network, on all data sets */
    double error;     /* noise over signal, sum over the outputs */
    double db;        /* of the worst output */
    double same_part; /* of the sets with the largest element where it was */
};

static hd_status measure(struct job *j, enum network kind, struct quality *out) {
    struct score s = {0};
    struct error *e = calloc(j->ref->n_outputs + 1, sizeof *e);
    HD_MEMORY(e);
    hd_status status = score_outputs(j, kind, e, &s);
    *out = (struct quality){.db = INFINITY, .same_part = (double)s.same_top / fmax(s.sets, 1)};
    for (size_t k = 0; k < j->ref->n_outputs; k++) {
        out->error += e[k].noise > 0 ? e[k].noise / e[k].signal : 0;
        out->db = fmin(out->db, decibels(&e[k]));
    }
    free(e);
    j->trials++;
    return status;
}

static bool holds(const struct mixed *m, const struct quality *q) {
    return m->db > 0 ? q->db >= m->db : q->same_part >= m->part;
}

/* ---- rows ---- */

/* Multiplications of a node by constant weights. */
static double products(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    int axis = hd_quant_weights(g, node);
    if (axis < 0) return 0;
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    bool turned = n->op == HD_IR_convtranspose;
    const struct hd_tensor *pixels = &g->tensors[turned ? n->in[0] : n->out[0]];
    double channels = (double)(turned ? w->dim[0] : w->dim[axis]);
    return (double)hd_tensor_elems(pixels) * (double)hd_tensor_elems(w) / channels;
}

static struct raise row_of(const struct job *j, int group) {
    const hd_graph *g = j->ref;
    const struct hd_quant_plan *p = &j->plan;
    struct raise r = {.group = group, .tensor = -1};
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (p->layer[i] && n->in[0] >= 0 && p->group[n->in[0]] == group)
            r.cost += products(g, (int)i);
        if (p->layer[i] && p->group[p->result[i]] == group && r.tensor < 0) r.tensor = p->result[i];
    }
    for (size_t t = 0; t < p->n_tensors; t++) {
        if (p->group[t] != group || !(p->made[t] || p->side[t])) continue;
        r.cost += (double)hd_tensor_elems(&g->tensors[t]);
        if (r.tensor < 0) r.tensor = (int)t;
    }
    return r;
}

/* By error over cost, the largest first; as the graph has them where that is equal. */
static int by_gain(const void *a, const void *b) {
    const struct raise *x = a, *y = b;
    double gx = x->error / x->cost, gy = y->error / y->cost;
    return gx > gy ? -1 : gx < gy ? 1 : x->group - y->group;
}

static void find_rows(struct job *j) {
    struct mixed *m = &j->mixed;
    m->row = hd_new_array(j->a, struct raise, j->plan.n_tensors + 1);
    for (size_t t = 0; t < j->plan.n_tensors; t++) {
        if (j->plan.group[t] != (int)t || !j->plan.may_be_wide[t]) continue;
        struct raise r = row_of(j, (int)t);
        if (r.tensor >= 0) m->row[m->n++] = r;
    }
}

static void raise_first(struct job *j, int n) {
    for (int i = 0; i < j->mixed.n; i++) j->o.wide[j->mixed.row[i].group] = i < n;
    j->mixed.raised = n;
}

/* What each row costs as bytes, beside all others as int16, which make the error `least`. */
static hd_status measure_rows(struct job *j, double least) {
    struct mixed *m = &j->mixed;
    for (int i = 0; i < m->n; i++) {
        struct quality q;
        hd_cmd_progress(j->c, "activations as int16, %d of %d measured", i, m->n);
        j->o.wide[m->row[i].group] = false;
        TRY(measure(j, NET_REWRITTEN, &q));
        j->o.wide[m->row[i].group] = true;
        m->row[i].error = fmax(q.error - least, 1e-12);
    }
    qsort(m->row, (size_t)m->n, sizeof *m->row, by_gain);
    return HD_OK;
}

/* ---- search ---- */

static hd_status out_of_reach(struct job *j, const struct quality *q) {
    const struct mixed *m = &j->mixed;
    const char *what = "the rest comes from weights of 8 bits and from what stays int8: lower the "
                       "bound, or leave nodes in float (--keep)";
    if (m->db > 0)
        return hd_fail(j->c->ctx, HD_INVALID,
                       "--mixed: the worst output has %.1f dB with all %d activations as int16, "
                       "want %g; %s",
                       q->db, m->n, m->db, what);
    return hd_fail(j->c->ctx, HD_INVALID,
                   "--mixed: the largest element stays in %.3g %% of the data sets with all %d "
                   "activations as int16, want %g; %s",
                   q->same_part * 100, m->n, m->part * 100, what);
}

hd_status mix(struct job *j) {
    struct mixed *m = &j->mixed;
    struct quality none, all, q;
    j->o.wide = hd_new_array(j->a, bool, j->plan.n_tensors + 1);
    TRY(measure(j, NET_INTEGER, &none));
    if (holds(m, &none)) return HD_OK;
    find_rows(j);
    raise_first(j, m->n);
    TRY(measure(j, NET_REWRITTEN, &all));
    if (!holds(m, &all)) return out_of_reach(j, &all);
    TRY(measure_rows(j, all.error));
    int too_few = 0, enough = m->n;
    while (enough - too_few > 1) {
        int n = (too_few + enough) / 2;
        hd_cmd_progress(j->c, "%d to %d activations as int16", too_few + 1, enough);
        raise_first(j, n);
        TRY(measure(j, NET_REWRITTEN, &q));
        *(holds(m, &q) ? &enough : &too_few) = n;
    }
    for (;; enough++) { /* integers may be a little worse */
        raise_first(j, enough);
        TRY(measure(j, NET_INTEGER, &q));
        if (holds(m, &q)) return HD_OK;
        if (enough == m->n) return out_of_reach(j, &q);
    }
}
