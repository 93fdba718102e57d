/* Post-training quantisation, by data that a program has in memory. */
#include <math.h>
#include <string.h>

#include "compiler/api/net.h"
#include "compiler/calibrate/job.h"
#include "compiler/compiler.h"

/* The data sets as those of files. */
static hd_status take_data(struct job *j, const hd_net *net, const void *const *const *sets,
                           int n_sets) {
    int n = hd_net_n_inputs(net);
    if (n_sets < 1)
        return hd_fail(j->c->ctx, HD_INVALID,
                       "%s: no data to calibrate with; give one set of inputs or more",
                       net->g->name);
    j->data = (struct hd_calibration){.what = "data of the program", .n = n_sets};
    j->data.sets = hd_new_array(j->a, struct hd_data_set, (size_t)n_sets);
    for (int i = 0; i < n_sets; i++) {
        struct hd_data_set *s = &j->data.sets[i];
        s->n = n;
        s->t = hd_new_array(j->a, struct hd_file_tensor, (size_t)n + 1);
        for (int k = 0; k < n; k++) {
            struct hd_io_info t;
            hd_net_tensor(net, hd_net_input(net, k), &t);
            if (t.rank < 0)
                return hd_fail(j->c->ctx, HD_INVALID, "input %s: its shape is not known", t.name);
            s->t[k] = (struct hd_file_tensor){t.name, t.dtype, t.rank, {0}, sets[i][k], t.bytes};
            memcpy(s->t[k].dim, t.dim, sizeof t.dim);
        }
    }
    return HD_OK;
}

static hd_status prepare(struct job *j, const hd_net *net) {
    hd_ctx *ctx = j->c->ctx;
    hd_graph *g = NULL;
    TRY(hd_net_check(ctx, net));
    TRY(hd_graph_copy(ctx, net->g, &g));
    hd_status s = hd_opt_pass(ctx, g, "axes"); /* by name becomes by position */
    if (s == HD_OK) s = hd_quant_prepare(ctx, g);
    if (s == HD_OK) s = hd_graph_copy(ctx, g, &j->ref); /* ids of clones agree */
    hd_graph_destroy(g);
    return s;
}

/* How the int8 network does, as integer operations. */
static hd_status score(struct job *j) {
    struct score s = {0};
    TRY(score_outputs(j, NET_INTEGER, j->output_error, &s));
    j->same_top = s.same_top;
    return HD_OK;
}

static void tell(const struct job *j, const struct hd_quantize *q) {
    for (size_t k = 0; q->row && k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        const struct hd_node *n = &j->ref->nodes[i];
        struct hd_quantize_row r = {.node = n->name, .op = hd_ir_ops[n->op].name};
        if (j->plan.layer[i]) {
            const struct hd_quant_stats *t = &j->stats[j->plan.result[i]];
            r.from = t->lo;
            r.to = t->hi;
            r.db = decibels(&j->tensor_error[j->plan.result[i]]);
        } else if (stays_float(j, i)) {
            r.why = j->plan.why[i];
        } else {
            continue;
        }
        q->row(q->user, &r);
    }
}

static hd_status quantize(struct job *j, const hd_net *net, const struct hd_quantize *q,
                          const void *const *const *sets, int n_sets, hd_net **out,
                          struct hd_quantize_score *out_score) {
    hd_graph *g = NULL;
    TRY(take_data(j, net, sets, n_sets));
    TRY(prepare(j, net));
    TRY(quantize_network(j));
    TRY(compare_layers(j));
    TRY(score(j));
    TRY(hd_graph_copy(j->c->ctx, j->g, &g)); /* the constants of j->g lie in j->ref */
    TRY(hd_net_around_take(j->c->ctx, g, out));
    tell(j, q);
    if (!out_score) return HD_OK;
    *out_score = (struct hd_quantize_score){.sets = j->data.n,
                                            .same_top = j->classes ? j->same_top : -1,
                                            .trials = j->trials,
                                            .kept_in_float = j->kept,
                                            .db = decibels(&j->output_error[0])};
    return HD_OK;
}

hd_status hd_net_quantize(hd_ctx *ctx, const hd_net *net, const struct hd_quantize *options,
                          const void *const *const *sets, int n_sets, hd_net **out,
                          struct hd_quantize_score *out_score) {
    static const struct hd_quantize plain = {0};
    const struct hd_quantize *q = options ? options : &plain;
    struct hd_cmd c = {.ctx = ctx, .name = "quantize", .start = INFINITY}; /* shows no progress */
    c.opt.device = q->device ? q->device : "cpu";
    c.opt.keep = q->keep;
    c.opt.calibrate.bias_correction = q->bias_correction;
    c.opt.calibrate.equalize = q->equalize;
    struct job j = {.c = &c, .path = net->g->name};
    const char *range = q->range ? q->range : "minmax", *allowed = parse_range(range, &j.o);
    if (allowed) return hd_fail(ctx, HD_INVALID, "range: got '%s', want %s", range, allowed);
    if (!hd_is_graph_device(c.opt.device))
        return hd_fail(ctx, HD_INVALID,
                       "device: got '%s', want golden or cpu, which run float networks",
                       c.opt.device);
    j.o.type = q->unsigned_activations ? HD_U8 : HD_I8;
    j.o.symmetric = q->symmetric;
    j.a = hd_arena_create();
    hd_status s = quantize(&j, net, q, sets, n_sets, out, out_score);
    hd_graph_destroy(j.g);
    hd_graph_destroy(j.ref);
    hd_arena_destroy(j.a);
    return hd_note(ctx, s, "while quantising %s", net->g->name);
}
