/* Packing of pixels: first layers have few channels, so a word of K bytes can hold several pixels.
 *
 * A tensor that comes from the host and is read by dense convolutions only is stored with cp bytes
 * per pixel, cp a power of two below K: ppw = K / cp pixels share a word. A window then spans few
 * words per row instead of one per tap. It starts at any pixel of a word, so output columns fall
 * into ppw / gcd(stride, ppw) phases; each phase has its own copy of the weights, moved to where
 * its pixels lie, and its own matrix operation over every P-th column. Exact: what lies beside the
 * window meets zeros.
 *
 * Or LX gathers windows (im2col): the tensor lies dense in DRAM, each window becomes kh*kw*c
 * contiguous bytes in XM, and the layer is a dense one. That fills the words best and costs a run
 * of LX per row of each window, so it pays where a window meets many output channels.
 *
 * Of an image of one channel VX can make the windows, too (turned). LX loads each row kw times, one
 * pixel further each time, so that the taps of all windows of a row are vectors at even distances:
 * VX transposes N of them at a time. That is a vector for each N taps of a window. The cheapest by
 * estimated cycles is taken.
 *
 *   3x3, stride 1, 3 channels, K = 16: 4 pixels a word; 1 or 2 words per row of the window, not 3.
 */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

double hd_run_cycles(const struct hd_lowering *lo, int64_t bytes) {
    double beats = (double)hd_ceil_div(bytes, hd_axi_bytes(lo->m));
    return hd_max(beats, (double)(hd_compile_latency(lo->opt) + 2) / HD_N_open_bursts);
}

int hd_layer_phases(const struct hd_layer *l) {
    return (int)hd_min(l->ppw / hd_gcd(l->sx, l->ppw), l->ow);
}

/* A window that begins `start` pixels behind where a word does. */
static struct hd_phase window_at(const struct hd_layer *l, int start) {
    int off = (start % l->ppw + l->ppw) % l->ppw;
    return (struct hd_phase){.off = off,
                             .words = (int)hd_ceil_div(off + (l->kw - 1) * l->dx + 1, l->ppw)};
}

struct hd_phase hd_layer_phase(const struct hd_layer *l, int phase) {
    int start = phase * l->sx - l->pl;
    struct hd_phase p = window_at(l, start), q = window_at(l, start - l->shift);
    q.shifted = true;
    return q.words < p.words ? q : p;
}

int hd_layer_phase_words(const struct hd_layer *l, int phases) {
    int words = 0;
    for (int f = 0; f < phases; f++) words += l->kh * hd_layer_phase(l, f).words;
    return words;
}

int hd_pixel_shift(const struct hd_lowering *lo, const struct hd_layer *l, int images, int h, int w,
                   int cp) {
    struct hd_layer s = *l;
    s.shift = 0;
    int phases = hd_layer_phases(l), best = 0, plain = hd_layer_phase_words(&s, phases);
    int least = plain;
    for (s.shift = 1; s.shift < l->ppw; s.shift++) {
        int words = hd_layer_phase_words(&s, phases);
        if (words < least) least = words, best = s.shift;
    }
    int64_t nts = hd_ceil_div(l->oc, lo->m->n);
    int64_t saved = (int64_t)images * l->oh * l->ow * nts * (plain - least) / phases;
    return saved > (int64_t)images * h * w * cp / hd_axi_bytes(lo->m) ? best : 0;
}

/* Cycles of MX and of loading weights and input once, if pixels took cp bytes. */
static int64_t cost(const struct hd_lowering *lo, struct hd_layer l, const struct hd_tensor *x,
                    int cp) {
    const struct hd_machine *m = lo->m;
    int64_t nts = hd_ceil_div(l.oc, m->n), pixels = (int64_t)l.oh * l.ow * x->dim[0];
    int64_t input = hd_tensor_elems(x) / x->dim[1] * cp / hd_axi_bytes(m);
    if (cp >= (int)m->k) {
        int64_t red = (int64_t)l.kh * l.kw * l.cw;
        return pixels * nts * red + nts * red * hd_wm_word_bytes(m) / hd_axi_bytes(m) + input;
    }
    l.ppw = (int)m->k / cp;
    int h = (int)x->dim[x->rank - 2], w = (int)x->dim[x->rank - 1];
    l.shift = hd_pixel_shift(lo, &l, (int)x->dim[0], x->rank == 3 ? 1 : h, w, cp);
    if (l.shift) input *= 2;
    int phases = hd_layer_phases(&l), words = hd_layer_phase_words(&l, phases);
    if (nts * words > hd_wm_words(m) / 2) return INT64_MAX;
    return pixels * nts * words / phases + nts * words * hd_wm_word_bytes(m) / hd_axi_bytes(m) +
           input;
}

int hd_im2col_bytes(const struct hd_layer *l, int channels, const struct hd_machine *m) {
    return (int)hd_round_up((int64_t)l->kh * l->kw * channels, m->k);
}

/* The same if LX gathers windows: a run for each row of each window, once for each chunk of weights
 * that do not stay. */
static int64_t cost_gathered(const struct hd_lowering *lo, const struct hd_layer *l,
                             const struct hd_tensor *x) {
    const struct hd_machine *m = lo->m;
    int64_t nts = hd_ceil_div(l->oc, m->n), windows = (int64_t)l->oh * l->ow * x->dim[0];
    int64_t bytes = hd_im2col_bytes(l, (int)x->dim[1], m), words = bytes / m->k;
    double run = hd_run_cycles(lo, l->kw * x->dim[1] + hd_axi_bytes(m) - 1); /* not aligned */
    int64_t half = hd_wm_words(m) / 2, times = hd_ceil_div(nts, hd_max(1, half / words));
    if (x->dim[1] >= m->k || l->dx != 1 || words > half) return INT64_MAX;
    return hd_max(windows * nts * words, (int64_t)((double)(times * windows * l->kh) * run)) +
           nts * words * hd_wm_word_bytes(m) / hd_axi_bytes(m);
}

int hd_turned_columns(const struct hd_layer *l, const struct hd_machine *m, int tw) {
    return (int)hd_round_up((tw - 1) * l->sx + 1, m->n);
}

int hd_turned_rows(const struct hd_layer *l, int th) {
    int taps = hd_max(l->im2col, l->kh * l->kw);
    return (th - 1) * l->sy + (int)hd_ceil_div(taps, l->kw);
}

int64_t hd_windows_bytes(const struct hd_layer *l, const struct hd_machine *m, int th, int tw) {
    int columns = l->turned ? hd_turned_columns(l, m, tw) : tw;
    int64_t rows = l->turned ? (int64_t)hd_turned_rows(l, th) * l->kw * columns : 0;
    return hd_round_up(hd_max(rows, (int64_t)th * columns * l->im2col), 64);
}

/* The same if VX turns them: LX loads rows, VX takes a vector for N taps of each column. */
static int64_t cost_turned(const struct hd_lowering *lo, const struct hd_layer *of,
                           const struct hd_tensor *x) {
    const struct hd_machine *m = lo->m;
    struct hd_layer l = *of;
    l.im2col = hd_im2col_bytes(&l, (int)x->dim[1], m);
    int64_t nts = hd_ceil_div(l.oc, m->n), rows = l.oh * x->dim[0], words = l.im2col / m->k;
    int64_t columns = hd_turned_columns(&l, m, l.ow), vectors = l.im2col / m->n;
    int64_t half = hd_wm_words(m) / 2, times = hd_ceil_div(nts, hd_max(1, half / words));
    if (x->dim[1] != 1 || l.dx != 1 || l.dy != 1 || l.im2col % (int)m->n || words > half ||
        columns * hd_max(vectors, (int64_t)l.sy * l.kw) > INT16_MAX)
        return INT64_MAX;
    double run = hd_run_cycles(lo, columns + hd_axi_bytes(m) - 1);
    int64_t loads = (int64_t)((double)(x->dim[0] * hd_turned_rows(&l, l.oh) * l.kw) * run);
    int64_t vx = rows * (times * columns * vectors + l.ow * nts) * m->vx_cycles;
    return hd_max(hd_max(rows * l.ow * nts * words, vx), times * loads) +
           nts * words * hd_wm_word_bytes(m) / hd_axi_bytes(m);
}

bool hd_turns_windows(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_tensor *x = &lo->g->tensors[lo->tensors[l->in[0]].tensor];
    return cost_turned(lo, l, x) < cost_gathered(lo, l, x);
}

/* Cycles if the convolutions that read x get it so; INT64_MAX: they cannot. */
static int64_t form_cost(const struct hd_lowering *lo, const struct hd_tensor *x, const int *users,
                         size_t n_users, struct hd_pixels form) {
    int64_t sum = 0;
    for (size_t i = 0; i < n_users; i++) {
        struct hd_layer l = {.groups = 1};
        hd_window_attrs(&l, &lo->g->nodes[users[i]], lo->g);
        l.cw = (int)hd_ceil_div(x->dim[1], lo->m->k);
        int64_t c = form.gathered ? hd_min(cost_gathered(lo, &l, x), cost_turned(lo, &l, x))
                                  : cost(lo, l, x, form.cp);
        if (c == INT64_MAX) return c;
        sum += c;
    }
    return sum;
}

/* The bytes next below those of a pixel; those of a word are whole. */
static int packed_below(const struct hd_lowering *lo, int cp) {
    return (int)hd_min(cp, lo->m->k) / 2;
}

/* needs: a tensor from outside that only convolutions read which pack pixels. `whole`: bytes when
 * none are packed; asked: what a text wants, as far as that is possible. Source of the idea:
 * space-to-depth of first layers, here without moving data. */
struct hd_pixels hd_pixel_form(const struct hd_lowering *lo, int tensor, const int *users,
                               size_t n_users, int whole, struct hd_pixels asked) {
    const struct hd_tensor *x = &lo->g->tensors[tensor];
    struct hd_pixels best = {whole, false}, gathered = {(int)x->dim[1], true};
    if (x->rank != 3 && x->rank != 4) return best;
    int64_t least = INT64_MAX, cycles = form_cost(lo, x, users, n_users, gathered);
    if (asked.gathered && cycles < INT64_MAX) return gathered;
    for (int cp = whole; cp >= x->dim[1]; cp = packed_below(lo, cp)) {
        struct hd_pixels form = {cp, false};
        int64_t sum = form_cost(lo, x, users, n_users, form);
        if (asked.cp == cp && !asked.gathered && sum < INT64_MAX) return form;
        if (sum < least) best = form, least = sum;
    }
    return cycles < least - least / hd_knob(lo)->gather
               ? gathered
               : best; /* the sure way unless it pays well */
}
