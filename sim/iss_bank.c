/* MX in time: in which cycle it reads and writes which bank. It never waits for another unit, so an
 * operation's banks are known when it starts: runs of iterations in one bank of XM, and of outputs
 * in one bank of AM, in the order of its loops. */
#include <stdlib.h>

#include "runtime/base/memory.h"
#include "sim/iss_int.h"

enum { LOOPS = 6, RUNS_MAX = 1 << 20, NO_BANK = -1 };

struct nest { /* loop 0 innermost; in bytes */
    int loops;
    int64_t n[LOOPS], step[LOOPS], at;
    int shift;                            /* log2 of the bytes of a bank */
    uint64_t left;                        /* iterations that are still to be listed */
    int64_t lo[LOOPS + 1], hi[LOOPS + 1]; /* reach of the loops below */
};

static void add_run(struct bank_list *k, uint64_t n, int bank) {
    struct bank_run *last = k->n ? &k->run[k->n - 1] : NULL;
    if (last && (last->bank == bank || k->n == RUNS_MAX)) {
        last->n += n;
        return;
    }
    if (k->n == k->cap) {
        size_t cap = k->cap * 2 + 16;
        struct bank_run *p = realloc(k->run, cap * sizeof *p);
        HD_MEMORY(p);
        k->run = p;
        k->cap = cap;
    }
    k->run[k->n++] = (struct bank_run){n, bank};
}

static void add(struct bank_list *k, struct nest *r, int loops, int64_t at) {
    if (!r->left || k->n == RUNS_MAX) return;
    int64_t lo = (at + r->lo[loops]) >> r->shift, hi = (at + r->hi[loops]) >> r->shift;
    if (lo == hi) {
        uint64_t n = 1;
        for (int l = 0; l < loops && n < r->left; l++) n *= (uint64_t)r->n[l];
        if (n > r->left) n = r->left;
        add_run(k, n, (int)lo);
        r->left -= n;
        return;
    }
    int l = loops - 1;
    for (int64_t i = 0; i < r->n[l]; i++) add(k, r, l, at + i * r->step[l]);
}

/* The first n iterations. */
static void list(struct bank_list *k, struct nest *r, uint64_t n) {
    r->left = n;
    for (int l = 0; l < r->loops; l++) {
        int64_t d = (r->n[l] - 1) * r->step[l];
        r->lo[l + 1] = r->lo[l] + (d < 0 ? d : 0);
        r->hi[l + 1] = r->hi[l] + (d > 0 ? d : 0);
    }
    k->n = 0;
    add(k, r, r->loops, r->at);
}

static int bank_at(const struct bank_list *k, struct bank_cursor *c, uint64_t x) {
    while (c->at + 1 < k->n && x >= c->begin + k->run[c->at].n) c->begin += k->run[c->at++].n;
    return k->run[c->at].bank;
}

/* ---- sums that need a word which is still on its way ---------------------------------------- */

static int64_t place(const struct nest *a, uint64_t i) { /* of output i */
    int64_t at = a->at;
    for (int l = 0; l < a->loops; l++) {
        at += (int64_t)(i % (uint64_t)a->n[l]) * a->step[l];
        i /= (uint64_t)a->n[l];
    }
    return at;
}

/* The last iteration of an output issues in cycle t; returns when, if it adds to that word. */
static uint64_t after_hazard(const hd_iss *iss, int64_t at, uint64_t t) {
    for (int i = 0; i < HD_N_mx_hazard; i++)
        if (iss->mx.wrote[i].at == at && t < iss->mx.wrote[i].t + HD_N_mx_hazard + 1)
            t = iss->mx.wrote[i].t + HD_N_mx_hazard + 1;
    return t;
}

static void wrote(hd_iss *iss, int64_t at, uint64_t t) {
    iss->mx.wrote[iss->mx.n_wrote++ % HD_N_mx_hazard] = (struct mx_write){t, at};
}

/* The operation in cycles instead of iterations and outputs, with those in which it waits. Returns
 * how many they are. */
static uint64_t with_hazards(hd_iss *iss, struct mx_op *o, const struct nest *a) {
    struct bank_list xm = {0}, am = {0};
    uint64_t t = o->start, outputs = o->iterations / o->inner;
    for (uint64_t i = 0; i < outputs; i++) {
        int64_t at = place(a, i);
        uint64_t last = after_hazard(iss, at, t + o->inner - 1), gap = last - (t + o->inner - 1);
        for (uint64_t j = 0; j < o->inner; j++) {
            if (j == o->inner - 1 && gap) add_run(&xm, gap, NO_BANK);
            add_run(&xm, 1, bank_at(&o->xm, &o->at_xm, i * o->inner + j));
        }
        if (last > t) add_run(&am, last - t, NO_BANK);
        add_run(&am, 1, (int)(at >> a->shift));
        wrote(iss, at, last);
        t = last + 1;
    }
    for (uint64_t i = outputs * o->inner; i < o->iterations; i++, t++) { /* of one that fails */
        add_run(&xm, 1, bank_at(&o->xm, &o->at_xm, i));
        add_run(&am, 1, NO_BANK);
    }
    free(o->xm.run);
    free(o->am.run);
    o->xm = xm;
    o->am = am;
    o->at_xm = (struct bank_cursor){0, 0};
    o->iterations = t - o->start;
    o->inner = 1;
    return o->iterations;
}

uint64_t hd_iss_mx_start(hd_iss *iss, const uint32_t *words, uint64_t iterations) {
    struct mx_op *o = &iss->mx.op[iss->mx.n_op++ % HD_MX_RECENT];
    int64_t word = hd_am_word_bytes(&iss->m);
    int nred = (int)hd_field_get(words, HD_F_mx_nred);
    struct nest x = {.loops = LOOPS, .shift = iss->xm_shift};
    struct nest a = {.loops = LOOPS - nred, .shift = iss->am_shift};
    o->start = iss->now + 1;
    o->iterations = iterations;
    o->inner = 1;
    o->accumulate = hd_field_get(words, HD_F_mx_accumulate) != 0;
    o->at_xm = o->at_read = o->at_write = (struct bank_cursor){0, 0};
    x.at = hd_field_get(words, HD_F_mx_x) * iss->m.k;
    a.at = hd_field_get(words, HD_F_mx_a) * word;
    for (int l = 0; l < LOOPS; l++) {
        x.n[l] = hd_field_get(words, (enum hd_field)(HD_F_mx_n0 + 4 * l));
        x.step[l] = hd_field_get(words, (enum hd_field)(HD_F_mx_xs0 + 4 * l)) * iss->m.k;
        if (l < nred) {
            o->inner *= (uint64_t)x.n[l];
        } else {
            a.n[l - nred] = x.n[l];
            a.step[l - nred] = hd_field_get(words, (enum hd_field)(HD_F_mx_as0 + 4 * l)) * word;
        }
    }
    const uint64_t outputs = iterations / o->inner;
    list(&o->xm, &x, iterations);
    list(&o->am, &a, outputs);
    if (o->accumulate && o->inner <= HD_N_mx_hazard && iterations <= iss->budget)
        iterations = with_hazards(iss, o, &a);
    else
        for (uint64_t i = outputs < HD_N_mx_hazard ? outputs : HD_N_mx_hazard; i-- > 0;)
            wrote(iss, place(&a, outputs - 1 - i), iss->now + iterations - i * o->inner);
    iss->mx.end = o->start + iterations;
    return iterations;
}

/* The operation of which an iteration issues in cycle t; NULL = none. */
static struct mx_op *issues(hd_iss *iss, uint64_t t) {
    uint32_t n = iss->mx.n_op < HD_MX_RECENT ? iss->mx.n_op : HD_MX_RECENT;
    if (t >= iss->mx.end) return NULL;
    for (uint32_t i = 1; i <= n; i++) {
        struct mx_op *o = &iss->mx.op[(iss->mx.n_op - i) % HD_MX_RECENT];
        if (t >= o->start) return t < o->start + o->iterations ? o : NULL;
    }
    return NULL;
}

int hd_iss_mx_reads_xm(hd_iss *iss, uint64_t t) {
    struct mx_op *o = issues(iss, t);
    return o ? bank_at(&o->xm, &o->at_xm, t - o->start) : -1;
}

/* Bank of the output whose last iteration issues in cycle t. */
static int output(struct mx_op *o, struct bank_cursor *c, uint64_t t) {
    uint64_t x = t - o->start + 1;
    return x % o->inner ? -1 : bank_at(&o->am, c, x / o->inner - 1);
}

int hd_iss_mx_reads_am(hd_iss *iss, uint64_t t) {
    struct mx_op *o = t < HD_T_mx_read ? NULL : issues(iss, t - HD_T_mx_read);
    return o && o->accumulate ? output(o, &o->at_read, t - HD_T_mx_read) : -1;
}

int hd_iss_mx_writes_am(hd_iss *iss, uint64_t t) {
    struct mx_op *o = t < HD_T_mx_write ? NULL : issues(iss, t - HD_T_mx_write);
    return o ? output(o, &o->at_write, t - HD_T_mx_write) : -1;
}
