/* Sums of features of a machine, and of rows of the table of memories. */
#include "compiler/area/area.h"

#include <math.h>
#include <string.h>

enum feature {
#define FEATURE(name, expression) FEATURE_##name,
#include "compiler/area/features.def"
    FEATURES
};
enum column { COLUMN_lut, COLUMN_ff, COLUMN_dsp, COLUMN_bram, COLUMN_uram, COLUMNS };

struct term { /* of a module's count */
    const char *module;
    enum column column;
    double coefficient;
    enum feature feature;
};
static const struct term terms[] = {
#define AREA(module, column, coefficient, feature)                                                 \
    {#module, COLUMN_##column, coefficient, FEATURE_##feature},
#include "compiler/area/area.def"
};

struct ram { /* 64 bits of width */
    int grain;
    double depth;
    struct hd_area of;
};
static const struct ram rams[] = {
#define RAM(grain, depth, lut, ff, bram, uram) {grain, depth, {lut, ff, 0, bram, uram}},
#include "compiler/area/area.def"
};

/* LUTs that choose one of x bits. */
static double mux(double x) {
    return x < 2 ? 0 : x <= 4 ? 1 : x / 4;
}

struct memory {
    double copies, width, depth, grain;
};

enum { MEMORIES = 4 };
static void find_features(const struct hd_machine *m, double out[FEATURES],
                          struct memory memory[MEMORIES]) {
    const double K = m->k, N = m->n, V = N / m->vx_cycles, AXI = hd_axi_bytes(m),
                 BANKS = m->xm_banks, XM = m->xm_bytes, WM = m->wm_bytes, AM = m->am_bytes,
                 PM = m->pm_bytes, QUEUE = m->queue_ops, FNS = m->functions;
    const double ROW = fmax(fmax(K, N), AXI);
    int i = 0;
#define LOG2(x)                   log2(x)
#define MUX(x)                    mux(x)
#define FEATURE(name, expression) out[FEATURE_##name] = (expression);
#include "compiler/area/features.def"
#define MEMORY(copies, width, depth, grain)                                                        \
    memory[i++] = (struct memory){copies, width, depth, grain};
#include "compiler/area/features.def"
#undef LOG2
#undef MUX
    HD_ASSERT(i == MEMORIES);
}

static void add(struct hd_area *to, const struct hd_area *of, double times) {
    to->lut += of->lut * times, to->ff += of->ff * times, to->dsp += of->dsp * times;
    to->bram += of->bram * times, to->uram += of->uram * times;
}

/* The row of a depth; beyond the deepest each doubling doubles it. Rows of a grain stand together,
 * the deepest last; a grain that is none of theirs is a word. */
static struct hd_area of_memory(const struct memory *q) {
    int grain = q->grain == 8 || q->grain == 32 ? (int)q->grain : 64;
    const struct ram *row = NULL;
    for (size_t i = 0; i < sizeof rams / sizeof *rams && (!row || row->depth < q->depth); i++)
        if (rams[i].grain == grain) row = &rams[i];
    struct hd_area one = row->of, all = {0};
    add(&all, &one, q->width / 64 * (q->depth > row->depth ? q->depth / row->depth : 1));
    /* words that are written whole have the bits for parity, too, and end with half a block */
    all.bram = grain == 64 ? ceil(2 * all.bram * 64 / 72) / 2 : ceil(all.bram);
    one = (struct hd_area){0};
    add(&one, &all, q->copies);
    return one;
}

static struct hd_area of_module(const struct term *t, size_t n, const double *feature) {
    double sum[COLUMNS] = {0};
    for (size_t i = 0; i < n; i++) sum[t[i].column] += t[i].coefficient * feature[t[i].feature];
    for (int c = 0; c < COLUMNS; c++) { /* whole, BRAM in halves */
        double unit = c == COLUMN_bram ? 0.5 : 1;
        sum[c] = fmax(0, round(sum[c] / unit) * unit);
    }
    return (struct hd_area){sum[COLUMN_lut], sum[COLUMN_ff], sum[COLUMN_dsp], sum[COLUMN_bram],
                            sum[COLUMN_uram]};
}

static void put_module(const char *name, const struct hd_area *one, double cores,
                       struct hd_area *total, struct hd_area_module *parts, int *n) {
    struct hd_area all = {0};
    add(&all, one, cores);
    add(total, &all, 1);
    HD_ASSERT(*n < HD_AREA_MODULES);
    if (parts) parts[*n] = (struct hd_area_module){name, all};
    ++*n;
}

struct hd_area hd_area_of(const struct hd_machine *m, struct hd_area_module *parts, int *out_n) {
    const size_t n_terms = sizeof terms / sizeof *terms;
    double feature[FEATURES];
    struct memory memory[MEMORIES];
    struct hd_area total = {0}, ram = {0};
    int n = 0;
    find_features(m, feature, memory);
    for (int i = 0; i < MEMORIES; i++) {
        struct hd_area one = of_memory(&memory[i]);
        add(&ram, &one, 1);
    }
    ram.lut = round(ram.lut), ram.ff = round(ram.ff);
    put_module("hd_ram", &ram, m->cores, &total, parts, &n);
    for (size_t i = 0, end; i < n_terms; i = end) {
        for (end = i; end < n_terms && !strcmp(terms[end].module, terms[i].module);) end++;
        struct hd_area one = of_module(&terms[i], end - i, feature);
        put_module(terms[i].module, &one, m->cores, &total, parts, &n);
    }
    if (out_n) *out_n = n;
    return total;
}
