/* Which machines beat which: limits, bounds, objectives. */
#include <math.h>
#include <string.h>

#include "compiler/explore/explore.h"

/* Weighted means: seconds of a run, of its part on the host, joules. */
struct mean {
    double seconds, host, joules;
};
static struct mean mean_of(const struct hd_point *p, const struct hd_nets *nets,
                           const struct hd_energy_table *t) {
    struct mean sum = {0, 0, 0};
    double weight = 0;
    for (int i = 0; i < nets->n; i++) {
        const struct hd_priced *x = &p->net[i];
        double w = nets->of[i].weight, host = (double)x->host_ns * 1e-9,
               machine = (double)x->cycles * 1e-6 / p->m.clock_mhz;
        sum.seconds += w * (machine + host), sum.host += w * host, weight += w;
        if (t) sum.joules += w * hd_joules(t, &x->work, &p->area, machine / p->m.cores);
    }
    return (struct mean){sum.seconds / weight, sum.host / weight, sum.joules / weight};
}

double hd_point_seconds(const struct hd_point *p, const struct hd_nets *nets) {
    return mean_of(p, nets, NULL).seconds;
}

/* The host does its part of one run at a time. */
double hd_point_interval(const struct hd_point *p, const struct hd_nets *nets) {
    struct mean x = mean_of(p, nets, NULL);
    return fmax(x.seconds / p->m.cores, x.host);
}

double hd_point_joules(const struct hd_point *p, const struct hd_nets *nets,
                       const struct hd_energy_table *t) {
    return mean_of(p, nets, t).joules;
}

static const char *over(hd_arena *a, const char *what, double got, double most) {
    return got > most ? hd_sprintf(a, "%s %.6g, at most %.6g", what, got, most) : NULL;
}

/* A port asks for so many bytes a second when it never waits. */
const char *hd_point_port_over(hd_arena *a, const struct hd_point *p, const struct hd_limits *l,
                               double times) {
    double one = hd_axi_bytes(&p->m) * (double)p->m.clock_mhz * 1e-3;
    const char *why = over(a, "GB/s of a port", one, l->gbs * times);
    return why ? why : over(a, "GB/s of all ports", one * p->m.cores, l->gbs_all * times);
}

static const char *too_large(hd_arena *a, const struct hd_point *p, const struct hd_limits *l) {
    const char *why = over(a, "LUT", p->area.lut, l->most.lut);
    if (!why) why = over(a, "FF", p->area.ff, l->most.ff);
    if (!why) why = over(a, "DSP", p->area.dsp, l->most.dsp);
    if (!why) why = over(a, "BRAM", p->area.bram, l->most.bram);
    if (!why) why = over(a, "URAM", p->area.uram, l->most.uram);
    return why ? why : hd_point_port_over(a, p, l, fmax(1, l->gbs_times));
}

/* Sums over layers: a unit, the port and a recurrence are each there once. */
static double least_seconds(const struct hd_point *p, const struct hd_nets *nets) {
    double seconds = 0, weight = 0;
    for (int i = 0; i < nets->n; i++) {
        struct hd_least least = hd_net_least(&nets->of[i], &p->m);
        double port = least.bytes / hd_axi_bytes(&p->m);
        /* without functions the host runs a recurrence, whose steps it may take sooner */
        double cycles = fmax(fmax(least.mx, p->m.functions ? least.chain : 0), port);
        seconds += nets->of[i].weight * cycles * 1e-6 / p->m.clock_mhz;
        weight += nets->of[i].weight;
    }
    return seconds / weight;
}

const char *hd_point_hopeless(hd_arena *a, struct hd_point *p, const struct hd_nets *nets,
                              const struct hd_goal *g) {
    const char *why = too_large(a, p, &g->limits);
    p->least = least_seconds(p, nets);
    if (why) return why;
    why = over(a, "ms at least", p->least * 1e3, g->limits.ms);
    if (!why && p->least * g->limits.fps > p->m.cores)
        why = hd_sprintf(a, "fps at most %.4g, at least %.4g is asked", p->m.cores / p->least,
                         g->limits.fps);
    return why;
}

static double objective(const struct hd_point *p, enum hd_objective o, double seconds,
                        double interval, double joules) {
    switch (o) {
    case HD_OBJECTIVE_fps:
        return interval;
    case HD_OBJECTIVE_area:
        return p->area.lut;
    case HD_OBJECTIVE_dsp:
        return p->area.dsp;
    case HD_OBJECTIVE_bram:
        return p->area.bram + 8 * p->area.uram;
    case HD_OBJECTIVE_energy:
        return joules;
    default:
        return seconds;
    }
}

void hd_point_judge(hd_arena *a, struct hd_point *p, const struct hd_nets *nets,
                    const struct hd_goal *g) {
    for (int i = 0; i < nets->n; i++)
        if (p->net[i].why[0]) {
            p->why = hd_sprintf(a, "%s: %s", nets->of[i].name, p->net[i].why);
            return;
        }
    double seconds = hd_point_seconds(p, nets), interval = hd_point_interval(p, nets),
           joules = hd_point_joules(p, nets, &g->board.energy);
    for (int k = 0; k < g->n; k++) p->value[k] = objective(p, g->by[k], seconds, interval, joules);
    p->why = over(a, "ms", seconds * 1e3, g->limits.ms);
    if (!p->why && interval * g->limits.fps > 1)
        p->why = hd_sprintf(a, "fps %.4g, at least %.4g", 1 / interval, g->limits.fps);
    if (!p->why) p->why = over(a, "joule", joules, g->limits.joule);
}

bool hd_front_beats(const struct hd_space *s, const struct hd_point *p, const struct hd_goal *g) {
    const struct hd_work nothing = {0};
    double best[HD_EXPLORE_OBJECTIVES], slack = 1 - g->limits.within;
    double interval = p->least / p->m.cores;
    double joules = hd_joules(&g->board.energy, &nothing, &p->area, interval);
    for (int k = 0; k < g->n; k++) best[k] = objective(p, g->by[k], p->least, interval, joules);
    for (size_t i = 0; i < s->n_front; i++) {
        const struct hd_point *q = s->front[i];
        bool all = true, some = false;
        for (int k = 0; k < g->n && all; k++) {
            all = q->value[k] * slack <= best[k];
            some = some || q->value[k] * slack < best[k];
        }
        if (all && some) return true;
    }
    return false;
}

static bool dominates(const struct hd_point *q, const struct hd_point *p, int n) {
    bool some = q < p; /* of equal ones the first */
    for (int k = 0; k < n; k++) {
        if (q->value[k] > p->value[k]) return false;
        some = some || q->value[k] < p->value[k];
    }
    return some;
}

void hd_front_add(struct hd_space *s, struct hd_point *p, const struct hd_goal *g) {
    size_t kept = 0;
    if (p->why) return;
    for (size_t i = 0; i < s->n_front; i++)
        if (dominates(s->front[i], p, g->n)) return;
    for (size_t i = 0; i < s->n_front; i++) {
        s->front[i]->in_front = !dominates(p, s->front[i], g->n);
        if (s->front[i]->in_front) s->front[kept++] = s->front[i];
    }
    s->front[kept++] = p, s->n_front = kept;
    p->in_front = true;
}
