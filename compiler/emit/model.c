/* Emission: the tables of the model that runtime, reports and compare read.
 *
 * needs: partition, memory plan, programs in the image
 * gives: values, step inputs and outputs, layers with plan text
 * destroys: nothing
 */
#include "compiler/emit/emit.h"
#include "compiler/layer/kind.h"

#include "runtime/base/num.h"

static int value_of(struct hd_lowering *lo, int *map, int tensor) {
    hd_model *m = lo->model;
    if (map[tensor] >= 0) return map[tensor];
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    struct hd_value_info *v = &m->values[m->n_values];
    *v = (struct hd_value_info){.name = hd_strdup(m->arena, t->name),
                                .dtype = hd_dtype_to_onnx(t->dtype),
                                .elem_bytes = (int)hd_dtype_bytes(t->dtype),
                                .rank = t->rank,
                                .tensor = tensor,
                                .layer = -1};
    for (int i = 0; i < t->rank; i++) v->dim[i] = t->dim[i];
    int mt = lo->tensor_of[tensor];
    if (mt >= 0) {
        const struct hd_mtensor *x = &lo->tensors[mt];
        const struct hd_placement *xp = &lo->plan->places[mt];
        v->in_arena = xp->in_arena;
        v->arena_offset = xp->arena;
        v->layout = lo->rows[tensor] ? HD_LAYOUT_ROWS : HD_LAYOUT_NHWC;
        v->c_pad = x->cp;
        v->layer = x->made;
    }
    return map[tensor] = m->n_values++;
}

static void add_once(int *list, int *n, int v) {
    for (int i = 0; i < *n; i++)
        if (list[i] == v) return;
    list[(*n)++] = v;
}

/* Step of each node: the machine's layers and folded reshapes take the step that first reads or
 * makes them. */
static void step_of_nodes(const struct hd_lowering *lo, int *step) {
    for (size_t i = 0; i < lo->g->n_nodes; i++) step[i] = -1;
    for (int s = 0; s < lo->model->n_steps; s++)
        for (int i = 0; i < lo->model->steps[s].n_nodes; i++)
            step[lo->model->steps[s].nodes[i]] = s;
    for (size_t i = 0; i < lo->n_layers; i++) step[lo->layers[i].node] = lo->layers[i].step;
    for (bool any = true; any;) { /* moves that are part of the move behind them */
        any = false;
        for (size_t i = 0; i < lo->g->n_nodes; i++) {
            if (!lo->chained[i] || step[i] >= 0) continue;
            step[i] = step[hd_graph_only_user(lo->g, lo->g->nodes[i].out[0])];
            any = any || step[i] >= 0;
        }
    }
    for (size_t i = 0; i < lo->g->n_nodes; i++) /* tables behind what makes their operand */
        for (int maker = (int)i; lo->joined[i] && step[i] < 0; step[i] = step[maker])
            maker = lo->g->tensors[lo->g->nodes[maker].in[0]].producer;
    for (size_t i = 0; i < lo->n_tensors;
         i++) { /* a concat that moves nothing: where its parts are made */
        const struct hd_mtensor *t = &lo->tensors[i];
        int maker = lo->g->tensors[t->tensor].producer;
        if (maker < 0 || !lo->shares[maker] || lo->g->nodes[maker].op != HD_IR_concat) continue;
        if (t->base >= 0) t = &lo->tensors[t->base]; /* of a concat in a concat */
        step[maker] = lo->layers[t->def].step;
    }
}

/* A node's inputs become inputs of its step, and outputs of the step that makes them, when they
 * differ. */
static void connect_steps(struct hd_lowering *lo, int *map, const int *step) {
    const hd_graph *g = lo->g;
    hd_model *m = lo->model;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].dead || step[i] < 0) continue;
        struct hd_step *s = &m->steps[step[i]];
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            int t = g->nodes[i].in[k];
            if (t < 0 || g->tensors[t].data) continue;
            int maker = g->tensors[t].producer;
            while (s->kind == HD_STEP_PROG && maker >= 0 &&
                   step[maker] < 0) { /* behind folded reshapes */
                t = g->nodes[maker].in[0];
                maker = g->tensors[t].producer;
            }
            int from = maker;
            while (from >= 0 && step[from] < 0) from = g->tensors[g->nodes[from].in[0]].producer;
            if (from >= 0 && step[from] == step[i]) continue;
            int v = value_of(lo, map, t);
            add_once(s->inputs, &s->n_inputs, v);
            if (from >= 0)
                add_once(m->steps[step[from]].outputs, &m->steps[step[from]].n_outputs, v);
        }
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        int maker = g->tensors[g->outputs[i]].producer;
        while (maker >= 0 && step[maker] < 0) maker = g->tensors[g->nodes[maker].in[0]].producer;
        if (maker < 0) continue;
        struct hd_step *s = &m->steps[step[maker]];
        add_once(s->outputs, &s->n_outputs, value_of(lo, map, g->outputs[i]));
    }
}

static void keep_boundaries(struct hd_lowering *lo, int *map) {
    hd_model *m = lo->model;
    for (size_t i = 0; i < lo->n_layers; i++) {
        const struct hd_layer *l = &lo->layers[i];
        struct hd_step *s = &m->steps[l->step];
        if (!hd_is_kept(lo, &lo->tensors[l->out])) continue;
        add_once(s->outputs, &s->n_outputs, value_of(lo, map, l->result));
    }
}

static int64_t tensor_bytes(const struct hd_mtensor *t) {
    return (int64_t)t->n * t->h * t->w * t->c;
}

/* A tensor that cannot stay on chip; a few rows of it at a time can. */
static bool too_large(const struct hd_lowering *lo, const struct hd_placement *tp) {
    const struct hd_mtensor *t = tp->t;
    return tensor_bytes(t) > lo->m->xm_bytes && !tp->roll;
}

/* Activation bytes of a layer that DRAM must carry: borders of the network, and what is too large
 * for XM. */
static int64_t unavoidable_activations(const struct hd_lowering *lo, const struct hd_layer *l) {
    int64_t bytes = 0;
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0; i++) {
        const struct hd_mtensor *x = &lo->tensors[l->in[i]];
        const struct hd_placement *xp = &lo->plan->places[l->in[i]];
        bool first = true;
        for (int k = 0; k < l->tag; k++)
            for (int o = 0; o < HD_LAYER_INPUTS; o++)
                if (lo->layers[k].in[o] == l->in[i]) first = false;
        if ((x->comes_in && first) || too_large(lo, xp)) bytes += tensor_bytes(x);
    }
    const struct hd_mtensor *y = &lo->tensors[l->out];
    const struct hd_placement *yp = &lo->plan->places[l->out];
    if (y->goes_out || too_large(lo, yp)) bytes += tensor_bytes(y);
    if (l->state >= 0) bytes += tensor_bytes(&lo->tensors[l->state]);
    return bytes;
}

static const char *plan_text(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    const struct hd_placement *xp = &lo->plan->places[l->in[0]], *yp = &lo->plan->places[l->out];
    const char *from = xp->roll       ? "rolling"
                       : xp->resident ? "on chip"
                                      : "streamed",
               *to = yp->roll       ? "rolling"
                     : yp->resident ? "on chip"
                                    : "streamed";
    hd_arena *a = lo->model->arena;
    if (l->kind->plan_text)
        return hd_sprintf(a, "%s, in %s, out %s", l->kind->plan_text(a, lt), from, to);
    bool matmul = l->kind->product;
    if (!l->kind->weights)
        return hd_sprintf(a, "tile %dx%d, in %s, out %s", lt->th, lt->tw, from, to);
    const char *planes =
        l->planes == 1 ? "" : ", some weights take 9 bits, with words of their own";
    return hd_sprintf(lo->model->arena, "tile %dx%d, %d %s chunks of %d words %s, in %s, out %s%s",
                      lt->th, lt->tw, (int)hd_ceil_div(l->nts, lt->nb),
                      matmul ? "weight" : "window",
                      lt->nb * (matmul ? hd_layer_block_words(lt) : l->pm_words),
                      lt->weights_stay  ? "kept"
                      : lt->chunk_outer ? "outside tiles"
                                        : "per tile",
                      from, to, planes);
}

static void describe_layers(struct hd_lowering *lo) {
    hd_model *m = lo->model;
    m->layers = hd_new_array(m->arena, struct hd_layer_info, lo->n_layers ? lo->n_layers : 1);
    m->n_layers = (int)lo->n_layers;
    for (size_t i = 0; i < lo->n_layers; i++) {
        const struct hd_layer *l = &lo->layers[i];
        const struct hd_tiling *lt = &lo->plan->tilings[i];
        const struct hd_node *n = &lo->g->nodes[l->node];
        struct hd_layer_info *d = &m->layers[i];
        d->name = hd_strdup(m->arena, n->name);
        d->op = hd_ir_ops[n->op].name;
        d->macs = hd_attr_int(n, "moves", 0) ? 0 : hd_node_macs(lo->g, n);
        d->step = l->step;
        d->vector_ops = l->kind->vector_ops ? l->kind->vector_ops(lo, l) : 0;
        d->unavoidable_bytes = l->weight_bytes + unavoidable_activations(lo, l);
        d->plan = plan_text(lo, lt);
        d->estimate = lo->layer_cycles[i];
    }
}

/* The address map: every tensor of the machine's layers. */
static void describe_places(struct hd_lowering *lo) {
    hd_model *m = lo->model;
    m->places = hd_new_array(m->arena, struct hd_place, lo->n_tensors ? lo->n_tensors : 1);
    m->n_places = (int)lo->n_tensors;
    m->xm_ring = lo->m->xm_bytes - lo->plan->xm_ring_bytes;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        const struct hd_placement *tp = &lo->plan->places[i];
        int64_t rows = tp->roll ? tp->roll + tp->mirror - tp->slot_of_0
                                : (int64_t)t->n * (t->h + t->pt + t->pb);
        int64_t skipped = tp->roll ? (int64_t)tp->slot_of_0 * hd_mtensor_pitch(tp) : 0;
        m->places[i] = (struct hd_place){
            .tensor = t->tensor,
            .layer = t->made,
            .first = tp->use_first,
            .last = tp->use_last,
            .comes_in = t->comes_in,
            .goes_out = t->goes_out,
            .on_chip = tp->resident,
            .in_arena = tp->in_arena,
            .xm_offset = tp->xm + (uint64_t)skipped,
            .xm_bytes = (uint64_t)(tp->apart + rows * hd_mtensor_pitch(tp) - t->at_c),
            .pitch = hd_mtensor_pitch(tp),
            .rolling = tp->roll,
            .apart = tp->apart,
            .arena_offset = tp->arena,
            .arena_bytes = (uint64_t)((int64_t)t->n * t->h * t->w * t->cp),
            .n = t->rows ? t->h : t->n,
            .h = t->rows ? 1 : t->h,
            .w = t->w,
            .c = hd_lane(t, t->c), /* more than its channels: it is left out of comparisons */
            .c_pad = t->cp,
            .pt = t->pt,
            .pb = t->pb,
            .pl = t->pl,
            .pr = t->pr,
            .wide = t->wide};
    }
}

/* needs / gives / destroys: see the head of this file. */
void hd_emit_model(struct hd_lowering *lo) {
    const hd_graph *g = lo->g;
    hd_model *m = lo->model;
    m->arena_bytes = lo->plan->arena_bytes;
    size_t n = g->n_tensors ? g->n_tensors : 1;
    int *map = hd_new_array(lo->arena, int, n),
        *step = hd_new_array(lo->arena, int, g->n_nodes + 1);
    for (size_t i = 0; i < n; i++) map[i] = -1;
    m->values = hd_new_array(m->arena, struct hd_value_info, n);
    for (int i = 0; i < m->n_steps; i++) {
        m->steps[i].inputs = hd_new_array(m->arena, int, n);
        m->steps[i].outputs = hd_new_array(m->arena, int, n);
    }
    m->inputs = hd_new_array(m->arena, int, g->n_inputs + 1);
    m->outputs = hd_new_array(m->arena, int, g->n_outputs + 1);
    for (size_t i = 0; i < g->n_inputs; i++)
        m->inputs[m->n_inputs++] = value_of(lo, map, g->inputs[i]);
    for (size_t i = 0; i < g->n_outputs; i++)
        m->outputs[m->n_outputs++] = value_of(lo, map, g->outputs[i]);
    m->n_states = (int)hd_graph_n_states(g);
    m->initial = hd_new_array(m->arena, const void *, (size_t)m->n_states + 1);
    for (int i = 0; i < m->n_states; i++) {
        const struct hd_tensor *x = &g->tensors[g->inputs[m->n_inputs - m->n_states + i]];
        m->initial[i] = hd_dup(m->arena, x->initial, hd_tensor_bytes(x));
    }
    step_of_nodes(lo, step);
    connect_steps(lo, map, step);
    keep_boundaries(lo, map);
    describe_layers(lo);
    describe_places(lo);
    m->image_bytes = lo->image_bytes;
    m->image = hd_dup(m->arena, lo->image, lo->image_bytes);
}
