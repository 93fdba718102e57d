/* The model of time: seconds of a run are a sum of facts, each at a rate of at least 0. Rates of a
 * kind are those of least squared relative error, by coordinate descent. A fact that no run of the
 * kind has gets the middle of its rates in other kinds: golden's kernels, say, are the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/choose/choose.h"

enum { ROUNDS = 1000, KINDS = 64 };
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

/* What those that were measured of a way's family are off by, log; *out_n: how many they are. */
static double off_of(const struct hd_expected *of, int n, int i, int *out_n) {
    double off = 0;
    *out_n = 0;
    for (int k = 0; k < n; k++) {
        if (of[k].measured <= 0 || !isfinite(of[k].model) || strcmp(of[k].family, of[i].family))
            continue;
        off += log(of[k].measured / of[k].model);
        ++*out_n;
    }
    return *out_n ? off / *out_n : 0;
}

double hd_expected_seconds(const struct hd_expected *of, int n, int i) {
    int measured;
    double off = off_of(of, n, i, &measured);
    return of[i].measured > 0 ? of[i].measured : of[i].model * exp(off);
}

int hd_next_to_measure(const struct hd_expected *of, int n) {
    double least = INFINITY;
    int next = -1, known;
    for (int i = 0; i < n; i++) {
        double seconds = hd_expected_seconds(of, n, i);
        off_of(of, n, i, &known);
        if (of[i].measured <= 0) seconds /= pow(of[i].factor, known ? 2 : 3);
        if (!(seconds < least)) continue;
        least = seconds;
        next = of[i].measured > 0 ? -1 : i;
    }
    return next;
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

/* Of one kind; rates of facts that it has not are negative. */
static struct hd_rates fit_kind(const struct hd_run_row *rows, size_t n, const char *kind,
                                const char *without) {
    struct hd_rates fit = {.rows = 0};
    struct sums s = {.x = {0}};
    double facts[HD_FACTS], share[HD_FACTS] = {0};
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
    for (int i = 0; i < HD_FACTS; i++) fit.rate[i] = s.scale[i] > 0 ? share[i] / s.scale[i] : -1;
    return fit;
}

static int by_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rates that are missing, from the other kinds. */
static void fill(const struct hd_run_row *rows, size_t n, const char *without,
                 struct hd_rates *fit) {
    struct hd_rates of[KINDS];
    int kinds = 0;
    for (size_t r = 0; r < n && kinds < KINDS; r++) {
        size_t k = 0;
        while (k < r && strcmp(rows[k].kind, rows[r].kind)) k++;
        if (k == r) of[kinds++] = fit_kind(rows, n, rows[r].kind, without);
    }
    for (int i = 0; i < HD_FACTS; i++) {
        double known[KINDS];
        size_t m = 0;
        if (fit->rate[i] >= 0) continue;
        for (int k = 0; k < kinds; k++)
            if (of[k].rate[i] >= 0) known[m++] = of[k].rate[i];
        qsort(known, m, sizeof *known, by_double);
        fit->rate[i] = m ? known[m / 2] : 0;
    }
}

struct hd_rates hd_rates_fit(const struct hd_run_row *rows, size_t n, const char *kind,
                             const char *without) {
    struct hd_rates fit = fit_kind(rows, n, kind, without);
    double facts[HD_FACTS], logs = 0;
    if (fit.rows) fill(rows, n, without, &fit);
    for (size_t r = 0; r < n; r++) {
        if (!counts(&rows[r], kind, without, facts)) continue;
        double model = hd_rates_seconds(&fit, facts);
        if (model > 0) logs += fabs(log(model / rows[r].seconds));
    }
    fit.error = exp(logs / fmax(fit.rows, 1));
    return fit;
}
