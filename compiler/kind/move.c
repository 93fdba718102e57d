/* Movement of data: nodes whose result is elements of their operands in another order, with pad
 * values between them: concat, split, slice, pad, transpose, reshape, nearest resize and others.
 *
 * needs: a node that hd_is_move() accepts, mtensors of its operands and result; moves in front of
 *        it that nothing else reads are part of it
 * gives: for each row of the result the transfers that LX makes into it; where these are of a few
 *        bytes each, for bands of rows the transfers of the transposed band, which VX transposes
 *        back
 * destroys: nothing
 *
 * Which element goes where is not written down here a second time: golden computes the node on
 * operands that hold their own indexes. What comes out is cut into runs that are contiguous on both
 * sides, and runs at even distances are one transfer. The operands lie in the arena, where LX
 * reaches every byte; the result is built in XM.
 */
#include <string.h>

#include "compiler/kind/kinds.h"
#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

enum {
    ELEMENTS_MAX = 1 << 24, /* of operands together: indexes are kept for all of them */
    TRANSFERS_MAX = 1 << 15,
    FILLED = 0, /* index of an element that comes from no operand; golden's own filling is 0, too */
};

/* One transfer into a row of the result: `run` bytes, n1 times. */
struct transfer {
    int input;
    int64_t src, s1; /* bytes in the input's arena form */
    int32_t dst, d1; /* bytes from the row's first pixel */
    int32_t run, n1;
};

struct rows {
    struct transfer *list;
    size_t n, cap;
    size_t *first; /* [images * rows + 1]: transfers of row r are first[r] .. first[r + 1] - 1 */
    bool holes;    /* some bytes come from no input: they are pad_value */
};

/* hd_layer.own: two ways to do the same. */
struct move {
    struct rows plain;
    bool fills; /* some bytes of a pixel come from no input */
    /* band > 0: transposed. What comes from neighbours in the inputs is no neighbour in the result,
     * but neighbours of it belong to one channel of neighbouring pixels. So bands of so many rows,
     * and of them slices of so many channels, are loaded as [channels][columns], and VX transposes
     * blocks of N x N bytes. Transfers of slice s of the band that begins with row r: first[r *
     * slices + s]. A row is cut into w pixels of c channels, cp with padding: those of the result,
     * or, where the channels of a pixel are several of the inputs' over their pixels, as a group's
     * are, one for each of those.
     */
    struct rows transposed;
    int band, slice, slices, w, c, cp;
};

static const struct move *own_of(const struct hd_layer *l) {
    return l->own;
}

static int data_operands(const struct hd_node *n) {
    switch (n->op) {
#define MOVES(op, of_what) case HD_IR_##op:
#include "compiler/kind/machine_ops.def"
        return n->op == HD_IR_concat ? n->n_in : 1;
    default:
        return 0;
    }
}

bool hd_is_move(const hd_graph *g, const struct hd_node *n) {
    int data = data_operands(n);
    if (!data || n->in[0] < 0) return false;
    hd_dtype t = g->tensors[n->in[0]].dtype;
    if (t != HD_I8 && t != HD_U8 && t != HD_I16) return false;
    return n->op != HD_IR_resize || !strcmp(hd_attr_string(n, "mode", "nearest"), "nearest");
}

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    int data = data_operands(n);
    int64_t elements = 0;
    if (data > HD_LAYER_INPUTS) {
        *out_hint = "join the tensors in groups of 16";
        return "more than 16 operands";
    }
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        const struct hd_tensor *x = &g->tensors[n->in[i]];
        *out_hint = "leave it int8";
        if (x->dtype == HD_I16 && x->data && (i < data || *(const int16_t *)x->data))
            return "it moves a constant of int16";
        if (i < data)
            elements += hd_tensor_elems(x);
        else if (!x->data) {
            *out_hint = "make its indexes, sizes and pads constant";
            return "where data moves depends on values of the run";
        }
    }
    *out_hint = "";
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) elements = hd_max(elements, hd_tensor_elems(&g->tensors[n->out[o]]));
    return elements > ELEMENTS_MAX ? "moves more than 16 M elements" : NULL;
}

/* Whether a later move may take this one in: what it fills would have to be told apart. */
static bool may_chain(const struct hd_lowering *lo, int node) {
    const struct hd_node *n = &lo->g->nodes[node];
    return hd_is_move(lo->g, n) && n->n_out == 1 && n->op != HD_IR_pad && !lo->opt->keep_all &&
           !hd_name_listed(&lo->opt->keep, n->name) && !lo->too_big[node].why;
}

/* Tensors in front of a node and its chained operands, in order; false: more than there is room. */
static bool gather(const struct hd_lowering *lo, int node, int *out, int *n_out) {
    const struct hd_node *n = &lo->g->nodes[node];
    for (int i = 0; i < data_operands(n); i++) {
        int t = n->in[i], maker = lo->g->tensors[t].producer;
        if (maker >= 0 && lo->chained[maker]) {
            if (!gather(lo, maker, out, n_out)) return false;
            continue;
        }
        if (*n_out == HD_LAYER_INPUTS) return false;
        out[(*n_out)++] = t;
    }
    return true;
}

/* Through those that are part of it. */
static int operands(const struct hd_lowering *lo, int node, int out[HD_LAYER_INPUTS]) {
    int n = 0;
    HD_ASSERT(gather(lo, node, out, &n)); /* hd_chain_moves() and refuses() */
    return n;
}

void hd_chain_moves(struct hd_lowering *lo, const bool *machine) {
    const hd_graph *g = lo->g;
    int *order = hd_new_array(lo->arena, int, g->n_nodes + 1);
    for (size_t k = 0, n_order = hd_graph_order(g, order); k < n_order; k++) {
        int i = order[k];
        const struct hd_node *n = &g->nodes[i];
        if (!machine[i] || !may_chain(lo, i)) continue;
        int reader = hd_graph_only_user(g, n->out[0]), leaf[HD_LAYER_INPUTS], leaves = 0;
        if (reader < 0 || !machine[reader] || !hd_is_move(g, &g->nodes[reader]) ||
            lo->too_big[reader].why)
            continue;
        lo->chained[i] = true;
        while (lo->chained[reader]) reader = hd_graph_only_user(g, g->nodes[reader].out[0]);
        if (!gather(lo, reader, leaf, &leaves)) lo->chained[i] = false;
    }
}

struct index_map {
    const int32_t *of; /* per element of the result: FILLED, or 1 + index in the operands' row */
    int64_t first[HD_LAYER_INPUTS + 1];
    int operand[HD_LAYER_INPUTS], n; /* tensors */
};

struct nodes {
    int *list;
    size_t n, cap;
};

/* The node behind those that are part of it. */
static void whole_chain(const struct hd_lowering *lo, int node, hd_arena *a, struct nodes *all) {
    const struct hd_node *n = &lo->g->nodes[node];
    for (int i = 0; i < data_operands(n); i++) {
        int maker = lo->g->tensors[n->in[i]].producer;
        if (maker >= 0 && lo->chained[maker]) whole_chain(lo, maker, a, all);
    }
    *hd_push(a, all->list, all->n, all->cap) = node;
}

/* Golden on operands that hold their indexes. */
static hd_status run_on_indexes(const struct hd_lowering *lo, const struct hd_node *n, int result,
                                hd_arena *a, struct index_map *map) {
    hd_graph g = *lo->g; /* the same nodes over tensors of int32 */
    struct hd_tensor *t = hd_golden_tensors(&g, a);
    int64_t next = 1;
    struct nodes chain = {0};
    whole_chain(lo, (int)(n - g.nodes), a, &chain);
    map->n = operands(lo, (int)(n - g.nodes), map->operand);
    for (int i = 0; i < map->n; i++) {
        struct hd_tensor *x = &t[map->operand[i]];
        int64_t elems = hd_tensor_elems(x);
        int32_t *v = hd_new_array(a, int32_t, (size_t)elems);
        map->first[i] = next;
        for (int64_t k = 0; k < elems; k++) v[k] = (int32_t)next++;
        x->dtype = HD_I32, x->data = v, x->known = true;
    }
    map->first[map->n] = next;
    if (n->op == HD_IR_pad && n->n_in > 2 && n->in[2] >= 0) {
        t[n->in[2]].dtype = HD_I32;
        t[n->in[2]].data = hd_new_array(a, int32_t, 1); /* FILLED */
    }
    for (size_t i = 0; i < chain.n; i++) {
        const struct hd_node *part = &g.nodes[chain.list[i]];
        for (int o = 0; o < part->n_out; o++)
            if (part->out[o] >= 0) t[part->out[o]].dtype = HD_I32;
    }
    g.tensors = hd_dup(a, t, g.n_tensors * sizeof *t);
    TRY(hd_golden_eval(lo->ctx, &g, chain.list, chain.n, t, a));
    map->of = t[result].data;
    return HD_OK;
}

/* Byte of element `index` of a tensor, in its arena form. */
static int64_t arena_byte(const struct hd_mtensor *x, int64_t index) {
    if (x->rows) return index / x->c * x->cp + index % x->c;
    int64_t pixels = (int64_t)x->h * x->w, p = index % pixels, c = index / pixels % x->c;
    return (index / pixels / x->c * pixels + p) * x->cp + c;
}

static int64_t element(const struct hd_mtensor *y, int row, int x, int c) {
    if (y->rows) return (int64_t)row * y->c + c;
    return (((int64_t)(row / y->h) * y->c + c) * y->h + row % y->h) * y->w + x;
}

/* Transfers that continue the pattern of the one before become part of it. */
static void join(struct rows *m, size_t first) {
    size_t out = first;
    for (size_t i = first; i < m->n; i++) {
        struct transfer *t = &m->list[i], *last = &m->list[out - 1];
        bool like =
            out > first && t->input == last->input && t->run == last->run && last->n1 < 65535;
        int64_t s1 = like ? t->src - last->src - (last->n1 - 1) * last->s1 : 0;
        int32_t d1 = like ? t->dst - last->dst - (last->n1 - 1) * last->d1 : 0;
        if (like && last->n1 == 1) last->s1 = s1, last->d1 = d1;
        if (like && s1 == last->s1 && d1 == last->d1)
            last->n1++;
        else
            m->list[out++] = *t;
    }
    m->n = out;
}

/* Which element goes to byte dst of its pixel's plane: a run goes on, or begins. */
static void put(struct hd_lowering *lo, const struct index_map *map, int32_t from, int plane,
                int32_t dst, struct rows *m, size_t first) {
    if (from == FILLED) {
        m->holes = true;
        return;
    }
    int k = 0;
    while (from >= map->first[k + 1]) k++;
    const struct hd_mtensor *in = &lo->tensors[lo->tensor_of[map->operand[k]]];
    int64_t src = arena_byte(in, from - map->first[k]) + plane * in->cp / 2;
    struct transfer *t = m->n > first ? &m->list[m->n - 1] : NULL;
    if (t && t->input == k && t->src + t->run == src && t->dst + t->run == dst) {
        t->run++;
        return;
    }
    *hd_push(lo->arena, m->list, m->n, m->cap) =
        (struct transfer){.input = k, .src = src, .dst = dst, .run = 1, .n1 = 1};
}

static void row_transfers(struct hd_lowering *lo, const struct hd_mtensor *y,
                          const struct index_map *map, int row, struct rows *m) {
    size_t first = m->n;
    for (int plane = 0; plane <= y->wide; plane++)
        for (int x = 0, at = plane * y->cp / 2; x < y->w; x++, at += y->cp)
            for (int c = 0; c < y->c; c++)
                put(lo, map, map->of[element(y, row, x, c)], plane, at + c, m, first);
    join(m, first);
}

/* Columns of a transposed band of n pixels: whole blocks, of which the last one ends at the last
 * pixel and so repeats some, if there are N. */
static int transposed_columns(const struct hd_machine *m, int n) {
    return (int)hd_round_up(n, m->n);
}

/* A slice of rows [row, row + rows), transposed: whole blocks first, then the last one of each
 * channel.
 */
static void band_transfers(struct hd_lowering *lo, const struct hd_mtensor *y,
                           const struct index_map *map, int row, int rows, int slice,
                           struct move *own) {
    struct rows *m = &own->transposed;
    int pixels = rows * own->w, block = (int)lo->m->n, columns = transposed_columns(lo->m, pixels);
    int whole = (int)hd_floor_to(pixels, block), back = pixels < block ? 0 : columns - pixels;
    int from = slice * own->slice, to = (int)hd_min(own->c, from + own->slice);
    int split = own->w / y->w;
    for (int part = 0; part < 2; part++) {
        size_t first = m->n;
        int end = part ? pixels + back : whole;
        for (int c = from; c < to; c++)
            for (int k = part ? whole : 0; k < end; k++) {
                int p = k - (part ? back : 0);
                int x = p % own->w / split, at = p % split * own->c + c;
                put(lo, map, map->of[element(y, row + p / own->w, x, at)], 0,
                    (c - from) * columns + k, m, first);
            }
        join(m, first);
    }
    if (pixels + back < columns) m->holes = true;
}

/* Cycles of LX, as long as runs and the latency of the memory let it. */
static double load_cycles(const struct hd_lowering *lo, const struct rows *m) {
    double cycles = 0, latency = (double)hd_compile_latency(lo->opt);
    for (size_t i = 0; i < m->n; i++) {
        double beats = (double)hd_ceil_div(m->list[i].run, hd_axi_bytes(lo->m));
        double gap = (latency + beats + 3) / HD_N_open_bursts;
        cycles += m->list[i].n1 * (beats > gap ? beats : gap);
    }
    return cycles;
}

/* How the transposed form cuts a row. The first two neighbours in the inputs are a pixel apart. */
static void cut_row(const struct hd_lowering *lo, const struct index_map *map,
                    const struct hd_mtensor *y, struct move *own) {
    if (!y->rows || y->c != y->cp || map->n != 1 || map->of[0] == FILLED) return;
    const struct hd_mtensor *x = &lo->tensors[lo->tensor_of[map->operand[0]]];
    int64_t next = arena_byte(x, map->of[0] - 1) + 1;
    int c = (int)lo->m->n;
    while (c < y->c && (map->of[c] == FILLED || arena_byte(x, map->of[c] - 1) != next))
        c += (int)lo->m->n;
    if (y->c % c == 0) own->w *= y->c / c, own->c = own->cp = c;
}

/* The transposed form, where it is so much as half as long. */
static void transpose(struct hd_lowering *lo, const struct index_map *map,
                      const struct hd_mtensor *y, struct move *own) {
    struct rows *m = &own->transposed;
    int lanes = (int)lo->m->n, rows = y->n * y->h;
    int64_t bytes = (int64_t)rows * y->w * y->cp, row_bytes = (int64_t)y->w * y->cp;
    double plain = load_cycles(lo, &own->plain), beats = (double)bytes / hd_axi_bytes(lo->m);
    if (y->wide || plain < 2 * beats || y->cp % lanes) return;
    own->w = y->w, own->c = y->c, own->cp = y->cp;
    cut_row(lo, map, y, own);
    int64_t high = hd_min(hd_ceil_div(hd_knob(lo)->band, own->w),
                          lo->m->xm_bytes / hd_knob(lo)->band_xm / row_bytes);
    high = hd_max(1, hd_min(high, y->h));
    int band = (int)hd_ceil_div(y->h, hd_ceil_div(y->h, high)); /* even ones */
    int64_t room =
        lo->m->xm_bytes / hd_knob(lo)->slice_xm / transposed_columns(lo->m, band * own->w);
    own->slice = (int)hd_max(lanes, hd_min(own->cp, hd_floor_to(room, lanes)));
    own->slices = (int)hd_ceil_div(own->cp, own->slice);
    m->first = hd_new_array(lo->arena, size_t, (size_t)rows * (size_t)own->slices + 1);
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < own->slices; s++) {
            m->first[r * own->slices + s] = m->n;
            if (r % y->h % band == 0)
                band_transfers(lo, y, map, r, (int)hd_min(band, y->h - r % y->h), s, own);
        }
    m->first[rows * own->slices] = m->n;
    double vectors = 2 * (double)bytes / lanes, loads = load_cycles(lo, m);
    if (m->n <= TRANSFERS_MAX && 2 * (loads > vectors ? loads : vectors) < plain) own->band = band;
}

static hd_status make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const struct hd_mtensor *y = &lo->tensors[l->out];
    struct index_map map = {0};
    struct move *own = hd_new(lo->arena, struct move);
    int rows = y->n * y->h;
    l->own = own, l->a_scale = 1; /* bytes as they are */
    l->y.lo = y->is_unsigned ? 0 : -128, l->y.hi = y->is_unsigned ? 255 : 127;
    int operand[HD_LAYER_INPUTS], n_operands = operands(lo, l->node, operand);
    for (int i = 0; i < n_operands; i++) {
        l->in[i] = lo->tensor_of[operand[i]];
        lo->tensors[l->in[i]].read_from_dram = true;
    }
    if (n->op == HD_IR_pad && n->n_in > 2 && n->in[2] >= 0)
        l->pad_value = *(const int8_t *)lo->g->tensors[n->in[2]].data;
    hd_arena *scratch = hd_arena_create();
    hd_status s = run_on_indexes(lo, n, l->result, scratch, &map);
    own->plain.first = hd_new_array(lo->arena, size_t, (size_t)rows + 1);
    for (int r = 0; s == HD_OK && r < rows; r++) {
        row_transfers(lo, y, &map, r, &own->plain);
        own->plain.first[r + 1] = own->plain.n;
    }
    own->fills = own->plain.holes || y->c < y->cp >> y->wide;
    if (s == HD_OK) transpose(lo, &map, y, own);
    if (s == HD_OK && own->plain.n > TRANSFERS_MAX) {
        own->plain.first = NULL;
        if (!own->band)
            lo->too_big[l->node] = HD_REFUSE_N(transfers, TRANSFERS_MAX), s = HD_UNSUPPORTED;
    }
    hd_arena_destroy(scratch);
    return s;
}

/* ---- machine operations ---- */

/* How many rows from `row` on have the same transfers, each a constant distance further. */
static int alike(const struct rows *m, int row, int most) {
    const struct transfer *a = &m->list[m->first[row]];
    size_t n = m->first[row + 1] - m->first[row];
    int rows = 1;
    for (; rows < most; rows++) {
        const struct transfer *b = &m->list[m->first[row + rows]], *c = b - n;
        if (m->first[row + rows + 1] - m->first[row + rows] != n) return rows;
        for (size_t i = 0; i < n; i++) {
            bool same = a[i].input == b[i].input && a[i].run == b[i].run && a[i].n1 == b[i].n1 &&
                        a[i].s1 == b[i].s1 && a[i].d1 == b[i].d1 && a[i].dst == b[i].dst;
            if (!same || b[i].src - c[i].src != m->list[m->first[row + 1] + i].src - a[i].src)
                return rows;
        }
    }
    return rows;
}

static hd_status load(struct hd_lowerer *w, const struct transfer *t, int64_t row_step, int rows,
                      uint32_t to, const struct hd_view *out) {
    const struct hd_mtensor *x = hd_lower_tensor(w, w->l->in[t->input]);
    const struct hd_placement *xp = hd_lower_place(w, w->l->in[t->input]);
    hd_lower_begin_load(w, x->constant ? HD_V_seg_image : HD_V_seg_arena,
                        (int64_t)xp->arena + t->src, to + (uint32_t)t->dst, t->run);
    hd_lower_runs(w, 1, t->n1, t->s1, t->d1);
    hd_lower_runs(w, 2, rows, row_step, out->pitch);
    int64_t a = t->src, b = t->src, ways[2] = {(t->n1 - 1) * t->s1, (rows - 1) * row_step};
    for (int i = 0; i < 2; i++) *(ways[i] < 0 ? &a : &b) += ways[i];
    if (!x->constant)
        hd_ops_touch(&w->s, HD_SPACE_ARENA, (int64_t)xp->arena + a, (int64_t)xp->arena + b + t->run,
                     false);
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

/* Loops 0 to 2 of a VX operation that copies bytes: iterations, steps of A and of the result. */
static hd_status copy(struct hd_lowerer *w, const struct hd_view *from, const struct hd_view *to,
                      int d_kind, const int loops[3][3]) {
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    hd_lower_set(w, HD_F_vx_d_kind, d_kind);
    hd_lower_set(w, HD_F_vx_a, from->at / w->m->n), hd_lower_set(w, HD_F_vx_d, to->at / w->m->n);
    for (int i = 0; i < 3; i++) hd_lower_map_loop(w, i, loops[i][0], loops[i][1], 0, loops[i][2]);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_touch(w, from, false);
    hd_lower_touch(w, to, true);
    return hd_ops_end(&w->s);
}

/* VX transposes blocks [first, first + blocks) of a slice of a band into pixels from `pixel` on, cp
 * bytes each. */
static hd_status transpose_blocks(struct hd_lowerer *w, const struct hd_view *slice, int first,
                                  int blocks, const struct hd_view *to, int pixel) {
    int n = (int)w->m->n, vectors = slice->rows / n;
    struct hd_view from = *slice, pixels = *to;
    from.at += (uint32_t)(first * n), from.cols = blocks * n;
    pixels.at += (uint32_t)(pixel * to->cp), pixels.rows = 1, pixels.cols = blocks * n;
    return copy(w, &from, &pixels, 3,
                (const int[3][3]){{n, slice->pitch / n, to->cp / n},
                                  {vectors, slice->pitch, 1},
                                  {blocks, 1, to->cp}});
}

/* Channels of slice s of rows [row, row + rows) of the result, to `out`. */
static hd_status transposed_slice(struct hd_lowerer *w, int row, int rows, int s,
                                  const struct hd_view *out) {
    const struct move *own = own_of(w->l);
    const struct rows *m = &own->transposed;
    int n = (int)w->m->n, pixels = rows * own->w, columns = transposed_columns(w->m, pixels);
    int c = s * own->slice, high = (int)hd_min(own->slice, own->cp - c);
    int64_t size = (int64_t)own->slice * columns;
    struct hd_view slice = {.at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], size),
                            .pitch = columns,
                            .cp = 1,
                            .rows = high,
                            .cols = columns};
    int from = m->holes ? 0 : (int)hd_max(0, own->c - c); /* channels that come from nowhere */
    if (from < high)
        TRY(hd_lower_fill(w, w->l->pad_value, slice.at + (uint32_t)(from * columns), columns,
                          high - from, columns));
    const size_t *first = &m->first[row * own->slices + s];
    for (size_t i = first[0]; i < first[1]; i++) TRY(load(w, &m->list[i], 0, 1, slice.at, &slice));
    bool dense = pixels >= n && (rows == 1 || out->pitch == own->w * own->cp);
    struct hd_view to = *out, apart;
    to.at += (uint32_t)c, to.cols = own->w, to.cp = own->cp, to.channels = high;
    apart = to;
    if (!dense) {
        apart.at = (uint32_t)hd_ring_take(w, &w->xm_in[HD_RING_MX], size);
        apart.pitch = own->w * high, apart.cp = high, apart.channels = 0;
    }
    int tail = pixels > n ? pixels % n : 0;
    TRY(transpose_blocks(w, &slice, 0, (columns - (tail ? n : 0)) / n, &apart, 0));
    if (tail) TRY(transpose_blocks(w, &slice, columns / n - 1, 1, &apart, pixels - n));
    if (dense) return HD_OK;
    int v = high / n;
    return copy(
        w, &apart, &to, 0,
        (const int[3][3]){{v, 1, 1}, {own->w, v, to.cp / n}, {rows, own->w * v, out->pitch / n}});
}

static hd_status transposed_tile(struct hd_lowerer *w, const struct hd_tile *t,
                                 const struct hd_view *out) {
    const struct hd_mtensor *y = hd_lower_tensor(w, w->l->out);
    for (int r = 0, n; r < t->th; r += n) {
        struct hd_view to = *out;
        n = (int)hd_min(own_of(w->l)->band, t->th - r);
        to.at += (uint32_t)(r * out->pitch), to.y += r, to.rows = n;
        for (int s = 0; s < own_of(w->l)->slices; s++)
            TRY(transposed_slice(w, t->img * y->h + t->y + r, n, s, &to));
    }
    return hd_lower_store(w, t->img, out, 0, y->cp);
}

static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct move *own = l->own;
    const struct hd_mtensor *y = hd_lower_tensor(w, l->out);
    struct hd_view out = hd_lower_output(w, t->img, t->y, 0, t->th, y->w, y->cp);
    if (w->lt->transposed) return transposed_tile(w, t, &out);
    if (own->fills)
        TRY(hd_lower_fill(w, l->pad_value, out.at, (int64_t)y->w * y->cp, t->th, out.pitch));
    for (int r = 0, n; r < t->th; r += n) {
        int row = t->img * y->h + t->y + r;
        size_t first = own->plain.first[row], count = own->plain.first[row + 1] - first;
        n = alike(&own->plain, row, t->th - r);
        for (size_t i = 0; i < count; i++) {
            const struct transfer *one = &own->plain.list[first + i];
            TRY(load(w, one, n > 1 ? one[count].src - one->src : 0, n,
                     out.at + (uint32_t)(r * out.pitch), &out));
        }
    }
    return hd_lower_store(w, t->img, &out, 0, y->cp);
}

/* ---- the kind ---- */

/* Turned in whole bands, if they fit. */
static bool fit_transposed(const struct hd_lowering *lo, struct hd_tiling *lt) {
    lt->transposed = own_of(lt->l)->band > 0;
    lt->transposed = lt->transposed && hd_fit_tile(lo, lt, INT32_MAX) && lt->tw == lt->l->ow;
    return lt->transposed;
}

static struct hd_refusal choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt) {
    if (!fit_transposed(lo, lt) && !own_of(lt->l)->plain.first) return HD_REFUSE(result_band);
    if (!lt->transposed && !hd_fit_tile(lo, lt, INT32_MAX)) return hd_pixel_too_large(lo, lt);
    if (lt->tw < lt->l->ow) return HD_REFUSE(result_row);
    hd_split_for_overlap(lo, lt);
    return (struct hd_refusal){.why = HD_FITS};
}

static bool streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    return (void)lo, (void)l, (void)i, false; /* LX takes each transfer from the arena directly */
}

static struct hd_tile_bytes tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    struct hd_tile_bytes bytes = {0};
    const struct move *own = own_of(lt->l);
    if (lt->transposed) /* a slice as it is loaded, two times */
        bytes.in = (int64_t)2 * own->slice * transposed_columns(lo->m, own->band * own->w);
    if (!lo->plan->places[lt->l->out].resident)
        bytes.out = hd_round_up((int64_t)lt->th * lt->tw * lo->tensors[lt->l->out].bytes, 64);
    return bytes;
}

static bool takes_constants(const struct hd_node *n) {
    return n->op == HD_IR_concat;
}

static int block_rows(const struct hd_tiling *lt) {
    return lt->transposed ? own_of(lt->l)->band : 1;
}

static bool takes_ring(const struct hd_layer *l) {
    return own_of(l)->band > 0;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return l->nts;
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    (void)lo, (void)l;
    return 0;
}

const struct hd_kind hd_kind_move = {
    .name = "move",
    .operations = "lx.load",
    .expression = "x at another place",
    .memories = "DRAM -> XM",
    .takes_parts = true,
    .refuses = refuses,
    .takes_constants = takes_constants,
    .operands = operands,
    .make = make,
    .block_rows = block_rows,
    .takes_ring = takes_ring,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .streams = streams,
    .tile_bytes = tile_bytes,
    .choose_tiles = choose_tiles,
    .lower = lower,
};
