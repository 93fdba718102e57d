/* Nodes of which the choice of integers (compiler/quantize/choose.c) is in doubt: quotients, roots,
 * powers and the like, whose results 8 bits may not hold. The network is measured without them and
 * with all of them. Where that costs too much, each half of them is tried, and so on: those that
 * stand together in the graph go together. */
#include "compiler/calibrate/job.h"

enum { TRIALS = 16 }; /* then the rest stays float */

static const double LOSS = 1.5, GOOD = 30; /* dB of an output: so much less, or still that much */

struct quality {
    struct error *output;
    int same_top;
};

struct doubts {
    struct job *j;
    int *node;
    const char **why;
    struct quality without;
    int trials;
};

static bool is_harmless(const struct doubts *d, const struct quality *with) {
    for (size_t k = 0; k < d->j->ref->n_outputs; k++) {
        double db = decibels(&with->output[k]);
        if (!(db >= GOOD || db >= decibels(&d->without.output[k]) - LOSS)) return false;
    }
    return with->same_top >= d->without.same_top;
}

/* The int8 network with what job.keep says. */
static hd_status measure(struct doubts *d, struct quality *out) {
    struct score s;
    out->output = hd_new_array(d->j->a, struct error, d->j->ref->n_outputs + 1);
    hd_cmd_progress(d->j->c, "nodes in doubt, trial %d", ++d->trials);
    choose_plan(d->j);
    TRY(calibrate(d->j));
    TRY(score_outputs(d->j, NET_INTEGER, out->output, &s));
    out->same_top = s.same_top;
    return HD_OK;
}

static void keep(struct doubts *d, int first, int n, bool kept) {
    for (int i = first; i < first + n; i++) d->j->keep[d->node[i]] = kept ? d->why[i] : NULL;
}

/* Makes integers of nodes [first, first + n), which are float, as far as it does no harm. */
static hd_status accept(struct doubts *d, int first, int n) {
    struct quality with;
    if (d->trials >= TRIALS) return HD_OK;
    keep(d, first, n, false);
    hd_status s = measure(d, &with);
    if (s == HD_OK && is_harmless(d, &with)) return HD_OK;
    if (s != HD_OK && s != HD_INVALID) return s;
    if (s == HD_INVALID) hd_clear(d->j->c->ctx); /* values that are not finite */
    keep(d, first, n, true);
    if (n == 1) return HD_OK;
    TRY(accept(d, first, n / 2));
    return accept(d, first + n / 2, n - n / 2);
}

hd_status settle_doubts(struct job *j) {
    struct doubts d = {.j = j,
                       .node = hd_new_array(j->a, int, j->n_order + 1),
                       .why = hd_new_array(j->a, const char *, j->n_order + 1)};
    int n = 0;
    for (size_t i = 0; i < j->n_order; i++) {
        const char *why = j->plan.doubt[j->order[i]];
        if (why) d.node[n] = j->order[i], d.why[n++] = why;
    }
    if (!n) return HD_OK;
    keep(&d, 0, n, true);
    TRY(measure(&d, &d.without));
    TRY(accept(&d, 0, n));
    choose_plan(j);
    return calibrate(j);
}
