/* From a prepared float network and data to an int8 network: what `heddle quantize` and the library
 * share. */
#include <stdlib.h>
#include <string.h>

#include "compiler/calibrate/job.h"

/* One dimension, beside those of 1, and a layer has a channel for each element. A row of places,
 * such as a detector's scores, is none: where its largest element stands says little. */
static bool is_classes(const hd_graph *g, int t) {
    int longer = 0;
    for (int d = 0; d < g->tensors[t].rank; d++) longer += g->tensors[t].dim[d] > 1;
    for (size_t i = 0; longer == 1 && i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        int axis = n->dead ? -1 : hd_quant_weights(g, (int)i);
        if (axis < 0 && !n->dead) axis = hd_quant_ready(g, (int)i);
        if (axis >= 0 && g->tensors[n->in[1]].dim[axis] == hd_tensor_elems(&g->tensors[t]))
            return true;
    }
    return false;
}

bool stays_float(const struct job *j, size_t i) {
    const struct hd_node *n = &j->ref->nodes[i];
    if (n->dead || !j->plan.why[i] || !strcmp(j->plan.why[i], "it moves float values"))
        return false;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 &&
            (!j->ref->tensors[n->out[k]].known || j->ref->tensors[n->out[k]].dtype == HD_F32))
            return true;
    return false;
}

const char *parse_range(const char *text, struct hd_quant_options *o) {
    o->percentile = 99.99;
    if (!strcmp(text, "minmax")) {
        o->range = HD_RANGE_MINMAX;
        o->margin = true;
    } else if (!strcmp(text, "entropy")) {
        o->range = HD_RANGE_ENTROPY;
    } else if (!strncmp(text, "percentile", 10) && (!text[10] || text[10] == ':')) {
        char *end = NULL;
        o->range = HD_RANGE_PERCENTILE;
        if (!text[10]) return NULL;
        o->percentile = strtod(text + 11, &end);
        if (end == text + 11 || *end || !(o->percentile > 50 && o->percentile <= 100))
            return "percentile:P with 50 < P <= 100";
    } else {
        return "minmax, percentile, percentile:P or entropy";
    }
    return NULL;
}

/* A layer with float weights, or without a scale for its result in the file. */
static bool is_new(const struct job *j, int node) {
    const struct hd_quant_plan *p = &j->plan;
    if (!p->layer[node]) return false;
    return hd_quant_weights(j->ref, node) >= 0 || p->like[p->group[p->result[node]]] < 0;
}

static hd_status choose(struct job *j) {
    bool *keep = NULL, any = false;
    j->keep = hd_new_array(j->a, const char *, j->ref->n_nodes + 1);
    if (j->c->opt.keep) {
        struct hd_op_source s = {.graph = j->ref};
        keep = hd_new_array(j->a, bool, j->ref->n_nodes + 1);
        TRY(hd_select_nodes(j->c, j->a, j->c->opt.keep, &s, keep));
        for (size_t i = 0; i < j->ref->n_nodes; i++) any = any || keep[i];
        if (!any)
            return hd_fail(j->c->ctx, HD_INVALID,
                           "--keep '%s': means no node; heddle query MODEL SELECTOR shows what a "
                           "selector means",
                           j->c->opt.keep);
    }
    for (size_t i = 0; keep && i < j->ref->n_nodes; i++)
        if (keep[i]) j->keep[i] = "asked for by --keep";
    choose_plan(j);
    j->order = hd_new_array(j->a, int, j->ref->n_nodes + 1);
    j->n_order = hd_graph_order(j->ref, j->order);
    for (size_t i = 0; i < j->plan.n_nodes; i++)
        if (is_new(j, (int)i)) return HD_OK;
    return hd_fail(j->c->ctx, HD_INVALID,
                   "%s: nothing to quantise: no convolution or product by constant float weights "
                   "that is not kept, and nothing between integers without a scale",
                   j->path);
}

hd_status quantize_network(struct job *j) {
    TRY(choose(j));
    TRY(calibrate(j));
    j->even = true;
    if (j->c->opt.calibrate.equalize && hd_quant_equalise(j->ref, &j->plan, j->stats))
        TRY(calibrate(j));
    j->classes = is_classes(j->ref, j->ref->outputs[0]);
    TRY(reference_outputs(j));
    TRY(settle_doubts(j));
    TRY(j->mixed.wanted ? mix(j) : search(j));
    j->tensor_error = hd_new_array(j->a, struct error, j->plan.n_tensors + 1);
    j->output_error = hd_new_array(j->a, struct error, j->ref->n_outputs + 1);
    return rewritten(j, j->ref, &j->g);
}
