/* Weights of several layers, loaded together.
 *
 * A load of its own for each layer is two operations and the waits for them. The image has the
 * words of layers side by side (hd_params_to_image), so one load can bring those of several. PM
 * words: those of all layers from one on, if they are few; its first vector operation waits a
 * little longer. WM words: those of the layers behind one that takes long and reads nothing from
 * DRAM, while it is in work.
 *
 * Loads of words that come later than they would alone cost time, so the estimate says, for each
 * step, from which layer on PM words come together and whether any do (mem/plan.c).
 */
#include "compiler/sched/lower.h"
#include "compiler/tile/kind.h"
#include "runtime/base/num.h"

/* Of the cycles of the layer that waits for PM words, those that they take. */
enum { PM_SHARE = 4 };

static bool has_weights(const struct hd_layer *l) {
    return l->kind->weights;
}

/* Its weights come once and stay, all words of a tap at a time; or it has none and takes none of
 * the rings of WM and PM. */
static bool joins(const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    if (has_weights(l)) return lt->weights_stay && lt->cwb == l->cw && !lt->head.words;
    return !l->kind->own_params;
}

static int64_t words_of(const struct hd_layer *l, int mem) {
    if (mem == HD_WM) return l->kind->product ? (int64_t)l->nts * l->red : 0;
    return has_weights(l) ? (int64_t)l->nts * l->pm_words : 0;
}

static int64_t bytes_of(const struct hd_lowerer *w, const struct hd_layer *l, int mem) {
    if (mem == HD_WM) return words_of(l, mem) * hd_wm_word_bytes(w->m);
    return has_weights(l) ? l->nts * (int64_t)hd_layer_pm_bytes(l, w->m) : 0;
}

static bool reads_dram(const struct hd_lowerer *w, size_t first, size_t n) {
    for (size_t i = first; i < first + n; i++)
        for (int k = 0; k < HD_LAYER_INPUTS && w->lo->layers[i].in[k] >= 0; k++) {
            const struct hd_mtensor *x = hd_low_tensor(w, w->lo->layers[i].in[k]);
            const struct hd_placement *xp = hd_low_place(w, w->lo->layers[i].in[k]);
            if (!xp->resident || x->comes_in) return true;
        }
    return false;
}

/* Cycles that the busier unit of a chain takes; those in which its WM words come. */
static int64_t unit_cycles(const struct hd_lowerer *w, size_t first, size_t n) {
    int64_t cycles[2] = {0};
    for (size_t i = first; i < first + n; i++) {
        const struct hd_layer *l = &w->lo->layers[i];
        cycles[l->kind->product] +=
            (int64_t)hd_low_tensor(w, l->out)->n * l->oh * l->ow * l->kind->pixel_cycles(l);
    }
    return hd_max(cycles[0], cycles[1]);
}

static int64_t load_cycles(const struct hd_lowerer *w, size_t first, size_t n) {
    int64_t bytes = 0;
    for (size_t i = first; i < first + n; i++)
        if (w->ahead[HD_WM].place[i] < 0) bytes += bytes_of(w, &w->lo->layers[i], HD_WM);
    return bytes / hd_axi_bytes(w->m);
}

/* As many whole chains from `from` on as `room` bytes and half of the memory hold, taken from *r;
 * false: of fewer than two layers. */
static bool choose(struct hd_lowerer *w, int mem, size_t from, size_t end, int64_t room,
                   struct hd_ring *r, struct hd_ahead *out) {
    int loads = 0, all = 0;
    int64_t words = 0;
    *out = (struct hd_ahead){from, from, 0, 0, false, w->ahead[mem].place};
    for (size_t i = from; i < end; i++) {
        const struct hd_layer *l = &w->lo->layers[i];
        const struct hd_tiling *lt = &w->lo->plan.tilings[i];
        room -= bytes_of(w, l, mem), words += words_of(l, mem), all += words_of(l, mem) > 0;
        if (!joins(lt) || l->step != w->lo->layers[from].step || room < 0 || words > r->size / 2)
            break;
        if ((int)i == lt->chain_last) out->end = i + 1, out->words = words, loads = all;
    }
    if (loads < 2) return false;
    out->at = hd_ring_take(r, out->words);
    return true;
}

/* Their places, in the order in which they lie in the image. */
static void place(struct hd_lowerer *w, int mem) {
    int64_t at = w->ahead[mem].at;
    for (int cut = 0; cut < 2; cut++)
        for (size_t i = w->ahead[mem].first; i < w->ahead[mem].end; i++) {
            const struct hd_layer *l = &w->lo->layers[i];
            if ((mem == HD_PM && l->pm_cut > 0) != cut || !words_of(l, mem)) continue;
            w->ahead[mem].place[i] = at, at += words_of(l, mem);
        }
}

void hd_low_join_params(struct hd_lowerer *w, size_t first, size_t n, size_t end) {
    int64_t cycles = hd_max(unit_cycles(w, first, n), load_cycles(w, first, n));
    size_t join = w->lo->join[w->lo->layers[first].step], from = first;
    while (from < first + n && (from + 1 < join || !has_weights(&w->lo->layers[from]))) from++;
    struct hd_ring pm = w->pm;
    struct hd_ahead a;
    if (!join || from == first + n || from < w->ahead[HD_PM].end) return;
    if (!choose(w, HD_PM, from, end, cycles / PM_SHARE * hd_axi_bytes(w->m), &pm, &a)) return;
    w->pm = pm, w->ahead[HD_PM] = a;
    place(w, HD_PM);
}

void hd_low_join_words(struct hd_lowerer *w, size_t first, size_t n, size_t end, int64_t own) {
    struct hd_ring wm = w->wm;
    struct hd_ahead a, *before = &w->ahead[HD_WM];
    int64_t words = 0; /* of the chain, from `own` on, and of those that came with them */
    int64_t idle = unit_cycles(w, first, n) / 4 * 3 - load_cycles(w, first, n);
    if (!w->lo->join[w->lo->layers[first].step] || first + n < before->end) return;
    if (before->first < first + n && before->end > first && !before->loaded) return;
    if (reads_dram(w, first, n)) return;
    for (size_t i = first; i < first + n; i++) {
        if (!joins(&w->lo->plan.tilings[i])) return;
        words += words_of(&w->lo->layers[i], HD_WM);
    }
    if (first < before->end) own = before->at, words = before->words;
    if (!choose(w, HD_WM, first + n, end, idle * hd_axi_bytes(w->m), &wm, &a)) return;
    if (words && a.at < own + words && own < a.at + a.words) return; /* they are still read */
    w->wm = wm, *before = a;
    place(w, HD_WM);
}

/* One load of words that are side by side, in the image too. */
struct run {
    size_t src, end;
    int64_t dst, words;
    const struct hd_layer *form; /* PM words that the image cuts: of which layer; else NULL */
};

static hd_status load_run(struct hd_lowerer *w, int mem, const struct run *r) {
    if (!r->words) return HD_OK;
    int per = r->form ? r->form->pm_words : 1;
    int64_t bytes = r->form ? (int64_t)hd_layer_pm_bytes(r->form, w->m) : 0;
    if (r->form)
        hd_low_load_words(w, mem, r->src, r->dst, per, (int)(r->words / per), bytes, per);
    else
        hd_low_load_words(w, mem, r->src, r->dst, r->words, 1, 0, 0);
    hd_low_set(w, HD_F_lw_cut, r->form ? r->form->pm_cut : 0);
    return hd_sched_end(&w->s);
}

static bool same_form(const struct hd_layer *a, const struct hd_layer *b) {
    return a == b || (a && b && a->pm_words == b->pm_words && a->pm_cut == b->pm_cut);
}

/* The load grows by a layer's words, or is issued and begins anew with them. */
static hd_status add_to_run(struct hd_lowerer *w, int mem, struct run *r, struct run next) {
    if (r->end == next.src && r->dst + r->words == next.dst && same_form(r->form, next.form)) {
        r->end = next.end, r->words += next.words;
        return HD_OK;
    }
    TRY(load_run(w, mem, r));
    *r = next;
    return HD_OK;
}

hd_status hd_low_load_joined(struct hd_lowerer *w, int mem) {
    struct hd_ahead *a = &w->ahead[mem];
    struct run r = {0};
    if (a->loaded || a->first == a->end) return HD_OK;
    a->loaded = true;
    for (int cut = 0; cut < 2; cut++)
        for (size_t i = a->first; i < a->end; i++) {
            const struct hd_layer *l = &w->lo->layers[i];
            size_t src = mem == HD_WM ? l->w_offset : l->p_offset;
            struct run own = {src, src + (size_t)bytes_of(w, l, mem), a->place[i], words_of(l, mem),
                              cut ? l : NULL};
            if ((mem == HD_PM && l->pm_cut > 0) == cut && own.words)
                TRY(add_to_run(w, mem, &r, own));
        }
    return load_run(w, mem, &r);
}
