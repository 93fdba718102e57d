/* The model of time: seconds of a run are a sum of facts, each at a rate of at least 0. Rates of a
 * kind are those of least squared relative error, by coordinate descent; facts that no run has keep
 * the rate 0. */
#include <math.h>
#include <string.h>

#include "compiler/choose/choose.h"

enum { ROUNDS = 3000 };
static const double RIDGE = 1e-4; /* of equal ways to add up, that with even shares */

struct sums { /* of scaled facts: what least squares needs */
    double xx[HD_FACTS][HD_FACTS], x[HD_FACTS], scale[HD_FACTS];
};

static bool counts(const struct hd_run_row *r, const char *kind, const char *without,
                   double facts[HD_FACTS]) {
    return r->seconds > 0 && !strcmp(r->kind, kind) && (!without || strcmp(r->network, without)) &&
           hd_facts_read(r->facts, facts);
}

double hd_rates_seconds(const struct hd_rates *f, const double facts[HD_FACTS]) {
    double sum = 0;
    for (int i = 0; i < HD_FACTS; i++) sum += f->rate[i] * facts[i];
    return sum;
}

static void descend(const struct sums *s, double share[HD_FACTS]) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < HD_FACTS; i++) {
            double residual = s->x[i];
            if (s->scale[i] <= 0) continue;
            for (int k = 0; k < HD_FACTS; k++)
                if (k != i) residual -= s->xx[i][k] * share[k];
            share[i] = fmax(residual / (s->xx[i][i] + RIDGE), 0);
        }
}

struct hd_rates hd_rates_fit(const struct hd_run_row *rows, size_t n, const char *kind,
                             const char *without) {
    struct hd_rates fit = {.rows = 0};
    struct sums s = {.x = {0}};
    double facts[HD_FACTS], share[HD_FACTS] = {0}, logs = 0;
    for (size_t r = 0; r < n; r++) {
        if (!counts(&rows[r], kind, without, facts)) continue;
        fit.rows++;
        for (int i = 0; i < HD_FACTS; i++) s.scale[i] += pow(facts[i] / rows[r].seconds, 2);
    }
    for (int i = 0; i < HD_FACTS; i++) s.scale[i] = sqrt(s.scale[i] / fmax(fit.rows, 1));
    for (size_t r = 0; r < n; r++) {
        if (!counts(&rows[r], kind, without, facts)) continue;
        for (int i = 0; i < HD_FACTS; i++) {
            if (s.scale[i] <= 0) continue;
            double x = facts[i] / rows[r].seconds / s.scale[i] / fit.rows;
            s.x[i] += x;
            for (int k = 0; k < HD_FACTS; k++)
                if (s.scale[k] > 0) s.xx[i][k] += x * facts[k] / rows[r].seconds / s.scale[k];
        }
    }
    descend(&s, share);
    for (int i = 0; i < HD_FACTS; i++)
        if (s.scale[i] > 0) fit.rate[i] = share[i] / s.scale[i];
    for (size_t r = 0; r < n; r++) {
        double model;
        if (!counts(&rows[r], kind, without, facts)) continue;
        model = hd_rates_seconds(&fit, facts);
        if (model > 0) logs += fabs(log(model / rows[r].seconds));
    }
    fit.error = exp(logs / fmax(fit.rows, 1));
    return fit;
}
