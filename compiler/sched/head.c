/* A wave with a head: matrix work begins with a part of the reduction.
 *
 * The first product of a layer waits for a tile and a chunk of weights with all their words. Of a
 * short layer that is a good part of its time, so (hd_layer.head, by the estimate):
 *
 *   first    rows of which the first words of each pixel are loaded, and of each chunk the first
 *            words of each tap: a load for each product
 *   body     the next rows, whole: with these weights a row brings products with all chunks
 *   passes   the body with the other words of the weights, chunk by chunk, sums on sums
 *   first    its other words
 *   tiles    a few rows each: results of the first rows and the body, then the rows behind with all
 *            words. What comes behind the last product is as much as its tile, and the operations
 *            of tiles are alike: a loop of a few words
 *
 * Sums of all rows and all output tiles have a place of their own in AM.
 */
#include "compiler/sched/matmul.h"
#include "runtime/base/num.h"

struct head {
    int64_t wm, pm, am;
};

static struct hd_tile rows(const struct hd_tiling *lt, int y, int n) {
    return (struct hd_tile){.y = y, .th = n, .tw = lt->tw};
}

/* A tile with output tiles [nt, nt + n), words [c, c + cw) of each tap. */
static struct hd_matmul product(struct hd_lowerer *w, const struct head *h, const struct hd_tile *t,
                                int nt, int n, int c, int cw) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int am_nt = l->oh * lt->tw;
    return (struct hd_matmul){.in = t->in[0],
                              .th = t->th,
                              .tw = t->tw,
                              .nt = nt,
                              .n = (int)hd_min(n, l->nts - nt),
                              .c = c,
                              .cw = cw,
                              .tap = l->cw,
                              .wm = h->wm + (int64_t)nt * l->red + c,
                              .am = h->am + (int64_t)nt * am_nt + t->y * t->tw,
                              .am_px = 1,
                              .am_nt = am_nt};
}

static hd_status multiply(struct hd_lowerer *w, const struct head *h, const struct hd_tile *t,
                          int nt, int n, int c, int cw) {
    return hd_mm_ops(w, product(w, h, t, nt, n, c, cw), t);
}

/* Each load before its first product: the first words of a program are there a latency before the
 * others, and these should be what the first products need. */
static hd_status begin(struct hd_lowerer *w, struct head *h, struct hd_tile *first) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    int words = lt->head.words;
    int64_t at;
    for (int nt = 0; nt < l->nts; nt += lt->nb) {
        TRY(hd_mm_load_weights(w, nt, (int)hd_min(lt->nb, l->nts - nt), 0, words, &at));
        if (nt == 0) {
            h->wm = at;
            TRY(hd_low_load_part(w, first, words * (int)w->m->k));
        }
        TRY(multiply(w, h, first, nt, lt->nb, 0, words));
    }
    for (int y = 0; y < lt->head.body; y += lt->head.step) {
        int n = (int)hd_min(lt->head.step, lt->head.body - y);
        struct hd_tile t = rows(lt, lt->head.first + y, n);
        TRY(hd_low_inputs(w, &t));
        TRY(multiply(w, h, &t, 0, l->nts, 0, words));
    }
    return HD_OK;
}

static hd_status passes(struct hd_lowerer *w, const struct head *h) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    struct hd_tile body = rows(lt, lt->head.first, lt->head.body);
    int64_t at;
    TRY(hd_low_inputs(w, &body)); /* they are there */
    for (int c = lt->head.words, cw; c < l->cw; c += cw) {
        cw = (int)hd_min(lt->head.words, l->cw - c);
        for (int nt = 0; nt < l->nts; nt += lt->nb) {
            TRY(hd_mm_load_weights(w, nt, (int)hd_min(lt->nb, l->nts - nt), c, cw, &at));
            TRY(multiply(w, h, &body, nt, lt->nb, c, cw));
        }
    }
    return HD_OK;
}

/* Rows [y, end) in tiles: their sums, where they are not complete, and what becomes of them. */
static hd_status finish(struct hd_lowerer *w, const struct head *h, int y, int end, int step,
                        bool complete) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    const struct hd_mtensor *out = hd_low_tensor(w, l->out);
    for (int n; y < end; y += n) {
        n = (int)hd_min(step, end - y);
        struct hd_tile t = rows(lt, y, n);
        TRY(hd_low_inputs(w, &t));
        if (!complete) TRY(multiply(w, h, &t, 0, l->nts, 0, l->cw));
        struct hd_matmul q = product(w, h, &t, 0, l->nts, 0, l->cw);
        struct hd_view v = hd_low_output(w, 0, y, 0, n, lt->tw, out->cp);
        TRY(hd_low_fill_lanes(w, &v, l->nts * (int)w->m->n, out->bytes));
        TRY(hd_mm_requantise(w, &q, h->pm, &v, 0));
        TRY(hd_low_store(w, 0, &v, 0, out->bytes));
    }
    return HD_OK;
}

hd_status hd_low_head(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    struct hd_tile first = rows(lt, 0, lt->head.first), all = rows(lt, 0, l->oh);
    int end = lt->head.first + lt->head.body;
    struct head h = {.am = hd_low_accumulators(w, (int64_t)l->nts * l->oh * lt->tw)};
    TRY(begin(w, &h, &first));
    TRY(passes(w, &h));
    TRY(hd_low_load_part(w, &first, 0));
    TRY(hd_low_params(w, 0, l->nts, &h.pm));
    TRY(hd_low_inputs(w, &all));
    TRY(multiply(w, &h, &first, 0, l->nts, lt->head.words, l->cw - lt->head.words));
    TRY(finish(w, &h, 0, end, (end + 3) / 4, true));
    return finish(w, &h, end, l->oh, lt->head.last, false);
}
