/* heddle quantize: what is tried when the largest element of the first output moves.
 *
 *   biases   the mean error of each channel of a layer, in the int8 network, is taken off its bias
 *   tuning   the biases of the layer that makes the classes move by parts of a step
 *   ranges   smaller ones, so that small values get more steps and the largest saturate
 *   float    the fewest layers without which all sets agree stay float
 *
 * in this order, until all sets agree. Every data set counts alike, by error beside signal: else
 * the sets of large magnitude would decide alone. */
#include <math.h>
#include <string.h>

#include "compiler/calibrate/job.h"
#include "compiler/compiler.h"
#include "compiler/tensors/tensors.h"

static bool better(const struct score *a, const struct score *b) {
    return a->same_top != b->same_top ? a->same_top > b->same_top : a->noise < b->noise;
}

static bool all_agree(const struct job *j, const struct score *s) {
    return s->same_top == j->data.n;
}

hd_status rewritten(struct job *j, const hd_graph *ref, hd_graph **out) {
    TRY(working_copy(j->c->ctx, ref, out));
    hd_status s = hd_quant_apply(j->c->ctx, *out, &j->plan, j->stats, &j->o);
    if (s == HD_OK) return s;
    hd_graph_destroy(*out);
    *out = NULL;
    return s;
}

void choose_plan(struct job *j) {
    hd_quant_choose(j->a, j->ref, j->keep, &j->plan);
    j->o.part = hd_new_array(j->a, float, j->plan.n_tensors + 1);
    for (size_t t = 0; t < j->plan.n_tensors; t++) j->o.part[t] = 1;
    if (!j->o.shift) j->o.shift = hd_new_array(j->a, double *, j->plan.n_nodes + 1);
}

/* How the int8 network of the job does; *out also has how the best did, for progress. */
static hd_status try_it(struct job *j, const char *what, struct score *out) {
    j->trials++;
    hd_cmd_progress(j->c, "search, trial %d (%s): %d of %d sets agree", j->trials, what,
                    out->same_top, j->data.n);
    return score_outputs(j, NET_INTEGER, NULL, out);
}

/* ---- biases ---- */

struct means {     /* of the sums of a layer, bias included */
    double *mean;  /* per data set and channel */
    double *power; /* per data set: the mean square */
};

struct layers {      /* with biases */
    int *node, *sum; /* the layer, and the tensor of its sums; in the order of the graph */
    int *batch;      /* those of one batch do not read each other's results */
    int64_t *channels;
    struct means *want;
    int n;
};

static void find_layers(struct job *j, struct layers *l) {
    const hd_graph *g = j->ref;
    size_t n = j->plan.n_nodes + 1;
    int *behind = hd_new_array(j->a, int, g->n_tensors + 1); /* the last batch that t depends on */
    int batch = 1;
    *l = (struct layers){.node = hd_new_array(j->a, int, n),
                         .sum = hd_new_array(j->a, int, n),
                         .batch = hd_new_array(j->a, int, n),
                         .channels = hd_new_array(j->a, int64_t, n),
                         .want = hd_new_array(j->a, struct means, n)};
    for (size_t k = 0; k < j->n_order; k++) {
        int i = j->order[k], after = 0, sum;
        const struct hd_node *nd = &g->nodes[i];
        for (int in = 0; in < nd->n_in; in++)
            if (nd->in[in] >= 0 && behind[nd->in[in]] > after) after = behind[nd->in[in]];
        int64_t channels = j->plan.layer[i] ? hd_quant_bias_channels(g, &j->plan, i, &sum) : 0;
        if (channels) {
            if (after == batch) batch++;
            after = batch;
            l->node[l->n] = i, l->sum[l->n] = sum, l->batch[l->n] = batch;
            l->channels[l->n++] = channels;
        }
        for (int o = 0; o < nd->n_out; o++)
            if (nd->out[o] >= 0) behind[nd->out[o]] = after;
    }
}

static void take_means(const struct hd_tensor *t, bool conv, int64_t channels, const float *x,
                       double *mean, double *power) {
    int64_t n = hd_tensor_elems(t), inner = 1;
    for (int d = 2; conv && d < t->rank; d++) inner *= t->dim[d];
    for (int64_t i = 0; i < n; i++) {
        double v = (double)x[i];
        mean[i / inner % channels] += v;
        *power += v * v / (double)n;
    }
    for (int64_t c = 0; c < channels; c++) mean[c] /= (double)(n / channels);
}

/* Means of the sums of the layers of a batch (0 = all) of a network. */
static hd_status run_means(struct job *j, enum network kind, const struct layers *l, int batch,
                           struct means *out) {
    bool *wanted = hd_new_array(j->a, bool, j->plan.n_tensors + 1);
    struct runner r;
    for (int i = 0; i < l->n; i++) wanted[l->sum[i]] |= !batch || l->batch[i] == batch;
    runner_open(&r, kind, wanted);
    r.alone = true;
    hd_status s = HD_OK;
    for (int i = 0; i < l->n; i++) {
        if (!wanted[l->sum[i]]) continue;
        out[i].mean = hd_new_array(j->a, double, (size_t)(j->data.n * l->channels[i]) + 1);
        out[i].power = hd_new_array(j->a, double, (size_t)j->data.n + 1);
    }
    for (int d = 0; s == HD_OK && d < j->data.n; d++) {
        hd_arena *a = hd_arena_create();
        s = runner_run(j, &r, a, d, NULL);
        for (int k = 0; s == HD_OK && k < r.m->n_outputs; k++)
            for (int i = 0; i < l->n; i++)
                if (r.tensor[k] >= 0 && l->sum[i] == r.tensor[k])
                    take_means(&r.ref->tensors[l->sum[i]],
                               j->ref->nodes[l->node[i]].op == HD_IR_conv, l->channels[i], r.out[k],
                               out[i].mean + d * l->channels[i], &out[i].power[d]);
        hd_arena_destroy(a);
    }
    runner_close(&r);
    return s;
}

/* What layer i is wrong by on average, set by set beside its power there, goes to its shift. */
static void shift_biases(struct job *j, const struct layers *l, int i, const struct means *got) {
    double **shift = &j->o.shift[l->node[i]], most = 0;
    int64_t n = l->channels[i];
    if (!*shift) *shift = hd_new_array(j->a, double, (size_t)n + 1);
    for (int d = 0; d < j->data.n; d++) most = fmax(most, l->want[i].power[d]);
    for (int64_t c = 0; most > 0 && c < n; c++) {
        double sum = 0, weights = 0;
        for (int d = 0; d < j->data.n; d++) {
            double w = 1 / fmax(l->want[i].power[d], most * 1e-9);
            sum += w * (got->mean[d * n + c] - l->want[i].mean[d * n + c]);
            weights += w;
        }
        (*shift)[c] += sum / weights;
    }
}

/* Layers in order, as the errors of those before reach those behind (Nagel et al., Data-Free
 * Quantization through Weight Equalization and Bias Correction, ICCV 2019, appendix D). */
static hd_status correct_biases(struct job *j, struct layers *l) {
    struct means *got = hd_new_array(j->a, struct means, (size_t)l->n + 1);
    if (!l->n) return HD_OK;
    TRY(run_means(j, NET_FLOAT, l, 0, l->want));
    for (int b = 1, last = l->batch[l->n - 1]; b <= last; b++) {
        hd_cmd_progress(j->c, "biases, %d of %d", b, last);
        TRY(run_means(j, NET_REWRITTEN, l, b, got));
        for (int i = 0; i < l->n; i++)
            if (l->batch[i] == b) shift_biases(j, l, i, &got[i]);
    }
    j->corrected = l->n;
    return HD_OK;
}

/* ---- tuning ---- */

/* Moves a bias of the class that should win, and of the one that does. */
static void move_biases(struct job *j, int node, double step, const struct runner *r, int set) {
    const struct hd_value_info *v = &r->m->values[r->m->outputs[0]];
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    size_t right = largest(v, j->want[set][0]), rival = right ? 0 : 1;
    for (size_t i = 0; i < n; i++)
        if (i != right &&
            hd_element(r->out[0], v->dtype, i) > hd_element(r->out[0], v->dtype, rival))
            rival = i;
    if (hd_element(r->out[0], v->dtype, right) > hd_element(r->out[0], v->dtype, rival)) return;
    j->o.shift[node][right] -= step;
    j->o.shift[node][rival] += step;
}

/* The rule of the perceptron, on the last layer that has a channel for each class: parts of a step
 * of its result, so that what rounding took from the right class comes back. */
static hd_status tune_classes(struct job *j, const struct layers *l, struct score *best) {
    enum { ROUNDS = 24, PART = 4 };
    int last = l->n - 1;
    int64_t classes = hd_tensor_elems(&j->ref->tensors[j->ref->outputs[0]]);
    while (last >= 0 && l->channels[last] != classes) last--;
    if (last < 0 || classes < 2) return HD_OK;
    int node = l->node[last];
    const struct hd_quant_stats *st = &j->stats[j->plan.result[node]];
    double step = ((double)st->hi - (double)st->lo) / 255 / PART;
    double *before = j->o.shift[node];
    struct score now = *best;
    j->o.shift[node] = hd_new_array(j->a, double, (size_t)classes + 1);
    if (before) memcpy(j->o.shift[node], before, (size_t)classes * sizeof *before);
    double *good = before;
    for (int round = 0; round < ROUNDS && !all_agree(j, best); round++) {
        struct runner r;
        hd_status s = HD_OK;
        runner_open(&r, NET_INTEGER, NULL);
        for (int d = 0; s == HD_OK && d < j->data.n; d++) {
            hd_arena *a = hd_arena_create();
            s = runner_run(j, &r, a, d, NULL);
            if (s == HD_OK) move_biases(j, node, step, &r, d);
            hd_arena_destroy(a);
        }
        runner_close(&r);
        TRY(s);
        TRY(try_it(j, "classes", &now));
        if (!better(&now, best)) continue;
        *best = now;
        j->tuned = round + 1;
        good = hd_dup(j->a, j->o.shift[node], (size_t)classes * sizeof *good);
    }
    j->o.shift[node] = good;
    return HD_OK;
}

static hd_status try_biases(struct job *j, struct score *best) {
    struct layers l;
    struct score s = *best;
    double **before = j->o.shift;
    find_layers(j, &l);
    j->o.shift = hd_new_array(j->a, double *, j->plan.n_nodes + 1);
    TRY(correct_biases(j, &l));
    TRY(try_it(j, "biases", &s));
    if (j->c->opt.calibrate.bias_correction || better(&s, best))
        *best = s;
    else
        j->o.shift = before, j->corrected = 0;
    return all_agree(j, best) ? HD_OK : tune_classes(j, &l, best);
}

/* ---- ranges ---- */

/* Tries part[group[..]] times each factor and keeps the best. */
static hd_status try_factors(struct job *j, const int *group, int n, struct score *best) {
    static const float factors[] = {0.8f, 0.6f, 0.45f};
    float old[1], *keep = n == 1 ? old : hd_new_array(j->a, float, (size_t)n), best_factor = 1;
    for (int i = 0; i < n; i++) keep[i] = j->o.part[group[i]];
    for (size_t f = 0; f < sizeof factors / sizeof *factors && !all_agree(j, best); f++) {
        struct score s = *best;
        for (int i = 0; i < n; i++) j->o.part[group[i]] = keep[i] * factors[f];
        TRY(try_it(j, "ranges", &s));
        if (better(&s, best)) *best = s, best_factor = factors[f];
    }
    for (int i = 0; i < n; i++) j->o.part[group[i]] = keep[i] * best_factor;
    j->narrowed = j->narrowed || best_factor < 1;
    return HD_OK;
}

/* For all tensors at once and for each alone. */
static hd_status try_ranges(struct job *j, struct score *best) {
    int *group = hd_new_array(j->a, int, j->plan.n_tensors + 1), n = 0;
    bool *leads = hd_new_array(j->a, bool, j->plan.n_tensors + 1);
    for (size_t t = 0; t < j->plan.n_tensors; t++)
        if (j->plan.observe[t]) leads[j->plan.group[t]] = true;
    for (size_t t = j->plan.n_tensors; t-- > 0;)
        if (leads[t]) group[n++] = (int)t;
    if (!n) return HD_OK;
    TRY(try_factors(j, group, n, best));
    for (int i = 0; i < n && !all_agree(j, best); i++) TRY(try_factors(j, &group[i], 1, best));
    return HD_OK;
}

/* ---- float ---- */

static hd_status try_keeping(struct job *j, struct score *out) {
    choose_plan(j);
    TRY(calibrate(j));
    return try_it(j, "float layers", out);
}

/* Each layer is kept alone, then the best of them together, one more at a time: at most a quarter.
 * Biases were moved for the integers before, so they are what they were. */
static hd_status try_float(struct job *j, struct score *best) {
    static const char *why = "the largest output is then where it was on more data sets";
    const struct hd_quant_plan all = j->plan;
    const struct hd_quant_options options = j->o;
    const struct score without = *best;
    struct score *alone = hd_new_array(j->a, struct score, all.n_nodes + 1);
    int *rank = hd_new_array(j->a, int, all.n_nodes + 1), n = 0, layers = 0;
    j->o.shift = NULL;
    for (size_t i = 0; i < all.n_nodes; i++) {
        if (!all.layer[i] || hd_quant_weights(j->ref, (int)i) < 0) continue;
        layers++;
        j->keep[i] = why;
        alone[i] = *best;
        TRY(try_keeping(j, &alone[i]));
        j->keep[i] = NULL;
        int k = n++;
        for (; k && better(&alone[i], &alone[rank[k - 1]]); k--) rank[k] = rank[k - 1];
        rank[k] = (int)i;
    }
    int keep = 0;
    for (int k = 0; k < (layers + 3) / 4 && !all_agree(j, best); k++) {
        struct score s = alone[rank[0]];
        j->keep[rank[k]] = why;
        TRY(try_keeping(j, &s));
        if (s.same_top > best->same_top) *best = s, keep = k + 1;
    }
    for (int k = keep; k < n; k++) j->keep[rank[k]] = NULL;
    j->kept = keep;
    if (best->same_top > without.same_top) {
        j->corrected = j->tuned = 0, j->narrowed = false;
        choose_plan(j);
        return calibrate(j);
    }
    j->plan = all;
    j->o = options;
    return calibrate(j);
}

hd_status search(struct job *j) {
    struct score best = {0};
    bool made_up = !j->data.sets && !j->data.images; /* where it stands there says nothing */
    TRY(try_it(j, "as calibrated", &best));
    if (made_up && !j->c->opt.calibrate.bias_correction) return HD_OK;
    if (all_agree(j, &best) && !j->c->opt.calibrate.bias_correction) return HD_OK;
    TRY(try_biases(j, &best));
    if (!all_agree(j, &best)) TRY(try_ranges(j, &best));
    if (!all_agree(j, &best)) TRY(try_biases(j, &best));
    return all_agree(j, &best) ? HD_OK : try_float(j, &best);
}
