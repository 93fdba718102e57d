/* Movement of data: which bytes go where, as transfers of LX.
 *
 * Which element goes where is not written down here a second time: golden computes the node on
 * operands that hold their own indexes. What comes out is cut into runs that are contiguous on both
 * sides, and runs at even distances are one transfer. The operands lie in the arena, where LX
 * reaches every byte; the result is built in XM.
 */
#include <string.h>

#include "compiler/kind/move.h"
#include "cpu_ref/golden.h"

enum {
    ELEMENTS_MAX = 1 << 24, /* of operands together: indexes are kept for all of them */
    TRANSFERS_MAX = 1 << 15,
    SHORT_RUN = 8, /* bytes: LX takes 4 cycles for a run */
    PARTS_OF_XM = 64,
    LONG_PARTS = 16, /* a longer row is cut in parts that take one in so many */
    FILLED = 0, /* index of an element that comes from no operand; golden's own filling is 0, too */
};

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

const char *hd_move_refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
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

/* Bytes of its result come from no operand. */
static bool fills(const struct hd_node *n) {
    return n->op == HD_IR_pad || n->op == HD_IR_centercroppad;
}

/* Whether a later move may take this one in. */
static bool may_chain(const struct hd_lowering *lo, int node) {
    const struct hd_node *n = &lo->g->nodes[node];
    return hd_is_move(lo->g, n) && n->n_out == 1 && !lo->opt->keep_all &&
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

int hd_move_operands(const struct hd_lowering *lo, int node, int out[HD_LAYER_INPUTS]) {
    int n = 0;
    HD_ASSERT(gather(lo, node, out, &n)); /* hd_chain_moves() and refuses() */
    return n;
}

/* Transfers that a node adds to the move that takes it in: an image that is made wider repeats each
 * pixel of its operand in each row. */
static int64_t repeats(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    if (n->op != HD_IR_resize || x->rank != 4 || y->dim[3] == x->dim[3]) return 0;
    return y->dim[0] * y->dim[2] * x->dim[3];
}

void hd_chain_moves(struct hd_lowering *lo, const bool *machine) {
    const hd_graph *g = lo->g;
    int64_t *transfers = hd_new_array(lo->arena, int64_t, g->n_nodes + 1);
    int *filled = hd_new_array(lo->arena, int, g->n_nodes + 1); /* by nodes of the chain */
    int *order = hd_new_array(lo->arena, int, g->n_nodes + 1);
    for (size_t k = 0, n_order = hd_graph_order(g, order); k < n_order; k++) {
        int i = order[k];
        const struct hd_node *n = &g->nodes[i];
        filled[i] += fills(n);
        if (!machine[i] || !may_chain(lo, i)) continue;
        int reader = hd_graph_only_user(g, n->out[0]), leaf[HD_LAYER_INPUTS], leaves = 0;
        if (reader < 0 || !machine[reader] || !hd_is_move(g, &g->nodes[reader]) ||
            lo->too_big[reader].why)
            continue;
        int64_t more = transfers[reader] + transfers[i] + repeats(g, n);
        int filling = filled[reader] + filled[i]; /* with one value */
        lo->chained[i] = true;
        lo->chained[i] = more <= TRANSFERS_MAX && filling + fills(&g->nodes[reader]) <= 1 &&
                         gather(lo, reader, leaf, &leaves);
        if (lo->chained[i]) transfers[reader] = more, filled[reader] = filling;
    }
}

struct index_map {
    const int32_t *of; /* per element of the result: FILLED, or 1 + index in the operands' row */
    int64_t first[HD_LAYER_INPUTS + 1];
    int operand[HD_LAYER_INPUTS], n; /* tensors */
    int fill;                        /* value of what is FILLED */
    hd_arena *scratch;               /* lists grow here */
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
    map->n = hd_move_operands(lo, (int)(n - g.nodes), map->operand);
    for (int i = 0; i < map->n; i++) {
        struct hd_tensor *x = &t[map->operand[i]];
        int64_t elems = hd_tensor_elems(x);
        int32_t *v = hd_new_array(a, int32_t, (size_t)elems);
        map->first[i] = next;
        for (int64_t k = 0; k < elems; k++) v[k] = (int32_t)next++;
        x->dtype = HD_I32, x->data = v, x->known = true;
    }
    map->first[map->n] = next;
    for (size_t i = 0; i < chain.n; i++) {
        const struct hd_node *part = &g.nodes[chain.list[i]];
        if (part->op == HD_IR_pad && part->n_in > 2 && part->in[2] >= 0) {
            map->fill = *(const int8_t *)g.tensors[part->in[2]].data;
            t[part->in[2]].dtype = HD_I32, t[part->in[2]].data = hd_new_array(a, int32_t, 1);
        }
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

/* Transfer t goes on with the pattern of `last`; pitch > 0: the second one so far behind the first.
 */
static bool goes_on(const struct hd_transfer *t, struct hd_transfer *last, int pitch) {
    if (t->input != last->input || t->run != last->run || last->n1 >= 65535) return false;
    int64_t s1 = t->src - last->src - (last->n1 - 1) * last->s1;
    int32_t d1 = t->dst - last->dst - (last->n1 - 1) * last->d1;
    if (last->n1 == 1 && (!pitch || d1 == pitch)) last->s1 = s1, last->d1 = d1;
    return s1 == last->s1 && d1 == last->d1;
}

/* Transfers that continue the pattern of one of the last `window` become part of it. Returns how
 * many are left. */
static size_t joined(struct hd_transfer *list, size_t n, int window, int pitch) {
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = out;
        while (k && out - k < (size_t)window && !goes_on(&list[i], &list[k - 1], pitch)) k--;
        if (k && out - k < (size_t)window)
            list[k - 1].n1++;
        else
            list[out++] = list[i];
    }
    return out;
}

/* Neighbours are joined, or what is a pixel apart, whichever leaves fewer. */
static void join(struct hd_transfers *m, size_t first, int pitch) {
    size_t n = m->n - first;
    struct hd_transfer *list = &m->list[first];
    hd_arena *a = hd_arena_create();
    struct hd_transfer *pixels = hd_dup(a, list, n * sizeof *list);
    size_t near = joined(list, n, 1, 0),
           far = pitch ? joined(pixels, n, HD_LAYER_INPUTS, pitch) : n;
    if (far < near) memcpy(list, pixels, far * sizeof *list);
    hd_arena_destroy(a);
    m->neighbours += near;
    m->n = first + (far < near ? far : near);
}

/* Which element goes to byte dst of its pixel's plane: a run goes on, or begins. */
static void put(struct hd_lowering *lo, const struct index_map *map, int32_t from, int plane,
                int32_t dst, struct hd_transfers *m, size_t first) {
    if (from == FILLED) {
        m->holes = true;
        return;
    }
    int k = 0;
    while (from >= map->first[k + 1]) k++;
    const struct hd_mtensor *in = &lo->tensors[lo->tensor_of[map->operand[k]]];
    int64_t src = arena_byte(in, from - map->first[k]) + plane * in->cp / 2;
    struct hd_transfer *t = m->n > first ? &m->list[m->n - 1] : NULL;
    if (t && t->input == k && t->src + t->run == src && t->dst + t->run == dst) {
        t->run++;
        return;
    }
    *hd_push(map->scratch, m->list, m->n, m->cap) =
        (struct hd_transfer){.input = k, .src = src, .dst = dst, .run = 1, .n1 = 1};
}

static void row_transfers(struct hd_lowering *lo, const struct hd_mtensor *y,
                          const struct index_map *map, int row, struct hd_transfers *m) {
    size_t first = m->n;
    for (int plane = 0; plane <= y->wide; plane++)
        for (int x = 0, at = plane * y->cp / 2; x < y->w; x++, at += y->cp)
            for (int c = 0; c < y->c; c++)
                put(lo, map, map->of[element(y, row, x, c)], plane, at + c, m, first);
    join(m, first, y->cp);
}

/* Which pixel of a band of so many rows column k of it is. */
static int pixel_of(const struct hd_move *own, int rows, int k) {
    int n = own->step ? rows / own->step : rows * own->w;
    return own->step ? k % n * own->step * own->w + k / n : k;
}

/* A slice of rows [row, row + rows), transposed: whole blocks first, then the last one of each
 * channel.
 */
static void band_transfers(struct hd_lowering *lo, const struct hd_mtensor *y,
                           const struct index_map *map, int row, int rows, int slice,
                           struct hd_move *own) {
    struct hd_transfers *m = &own->transposed;
    int pixels = rows * own->w, block = (int)lo->m->n, columns = hd_move_columns(lo->m, pixels);
    int whole = (int)hd_floor_to(pixels, block), back = pixels < block ? 0 : columns - pixels;
    int from = slice * own->slice, to = (int)hd_min(own->c, from + own->slice);
    int split = own->w / y->w;
    for (int part = 0; part < 2; part++) {
        size_t first = m->n;
        int end = part ? pixels + back : whole;
        for (int c = from; c < to; c++)
            for (int k = part ? whole : 0; k < end; k++) {
                int p = pixel_of(own, rows, k - (part ? back : 0));
                int x = p % own->w / split, at = p % split * own->c + c;
                put(lo, map, map->of[element(y, row + p / own->w, x, at)], 0,
                    (c - from) * columns + k, m, first);
            }
        join(m, first, 0);
    }
    if (pixels + back < columns) m->holes = true;
}

/* Cycles of LX, as long as runs and the latency of the memory let it. */
static double load_cycles(const struct hd_lowering *lo, const struct hd_transfers *m) {
    double cycles = 0, latency = (double)hd_compile_latency(lo->opt);
    for (size_t i = 0; i < m->n; i++) {
        double beats = (double)hd_ceil_div(m->list[i].run, hd_axi_bytes(lo->m));
        double gap = (latency + beats + 3) / HD_N_open_bursts;
        cycles += m->list[i].n1 * (beats > gap ? beats : gap);
    }
    return cycles;
}

int hd_move_alike(const struct hd_transfers *m, int row, int most) {
    const struct hd_transfer *a = &m->list[m->first[row]];
    size_t n = m->first[row + 1] - m->first[row];
    int rows = 1;
    for (; rows < most; rows++) {
        const struct hd_transfer *b = &m->list[m->first[row + rows]], *c = b - n;
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

/* More loads than there may be, or so many short runs that the host is done sooner. */
static bool too_many(const struct hd_transfers *m, int rows) {
    int64_t runs = 0, bytes = 0, loads = 0;
    for (int r = 0; r < rows; r += hd_move_alike(m, r, rows - r))
        loads += (int64_t)(m->first[r + 1] - m->first[r]);
    for (size_t i = 0; i < m->n; i++)
        runs += m->list[i].n1, bytes += (int64_t)m->list[i].n1 * m->list[i].run;
    return loads > TRANSFERS_MAX || (m->neighbours > TRANSFERS_MAX && bytes < SHORT_RUN * runs);
}

/* How the transposed form cuts a row. The first two neighbours in the inputs are a pixel apart. */
static void cut_row(const struct hd_lowering *lo, const struct index_map *map,
                    const struct hd_mtensor *y, struct hd_move *own) {
    if (!y->rows || y->c != y->cp || map->n != 1 || map->of[0] == FILLED) return;
    const struct hd_mtensor *x = &lo->tensors[lo->tensor_of[map->operand[0]]];
    int64_t next = arena_byte(x, map->of[0] - 1) + 1;
    int c = (int)lo->m->n;
    while (c < y->c && (map->of[c] == FILLED || arena_byte(x, map->of[c] - 1) != next))
        c += (int)lo->m->n;
    if (y->c % c == 0) own->w *= y->c / c, own->c = own->cp = c;
}

/* Rows from the first pixel of an image to the one with the byte behind its own; 0: none, or it is
 * the next one. */
static int find_step(const struct hd_lowering *lo, const struct index_map *map,
                     const struct hd_mtensor *y) {
    if (map->of[0] == FILLED) return 0;
    int k = 0;
    while (map->of[0] >= map->first[k + 1]) k++;
    const struct hd_mtensor *x = &lo->tensors[lo->tensor_of[map->operand[k]]];
    int64_t next = arena_byte(x, map->of[0] - map->first[k]) + 1;
    for (int p = 1; p < y->h * y->w; p++) {
        int32_t at = map->of[element(y, p / y->w, p % y->w, 0)];
        if (at >= map->first[k] && at < map->first[k + 1] &&
            arena_byte(x, at - map->first[k]) == next)
            return p == 1 || p % y->w || y->h % (p / y->w) ? 0 : p / y->w;
    }
    return 0;
}

/* The transposed form, where it is so much as half as long. */
static void transpose(struct hd_lowering *lo, const struct index_map *map,
                      const struct hd_mtensor *y, struct hd_move *own) {
    struct hd_transfers *m = &own->transposed;
    int lanes = (int)lo->m->n, rows = y->n * y->h;
    int64_t bytes = (int64_t)rows * y->w * y->cp, row_bytes = (int64_t)y->w * y->cp;
    double plain = load_cycles(lo, &own->plain), beats = (double)bytes / hd_axi_bytes(lo->m);
    if (y->wide || plain < 2 * beats || y->cp % lanes) return;
    own->w = y->w, own->c = y->c, own->cp = y->cp;
    cut_row(lo, map, y, own);
    own->step = own->w == y->w ? find_step(lo, map, y) : 0;
    const int step = own->step ? own->step : 1, steps = y->h / step;
    int64_t high = lo->m->xm_bytes / hd_knob(lo)->band_xm;
    if (own->step) /* the higher it is, the longer are runs: with a slice as much again */
        high = 2 * high / (row_bytes + own->w * lanes) / step;
    else
        high = hd_min(hd_ceil_div(hd_knob(lo)->band, own->w), high / row_bytes);
    high = hd_max(1, hd_min(high, steps));
    int band = (int)hd_ceil_div(steps, hd_ceil_div(steps, high)) * step; /* even ones */
    int64_t room = lo->m->xm_bytes / hd_knob(lo)->slice_xm / hd_move_columns(lo->m, band * own->w);
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

/* An image of one long row as one of several, so that tiles need not hold all of it: y as the layer
 * counts its rows. */
static struct hd_mtensor cut_long_row(const struct hd_lowering *lo, struct hd_layer *l) {
    struct hd_mtensor y = lo->tensors[l->out];
    int wide = (int)hd_max(1, (int)lo->m->xm_bytes / PARTS_OF_XM / y.cp);
    if (y.rows || y.h > 1 || (int64_t)wide * LONG_PARTS >= y.w) return y;
    while (y.w % wide) wide--;
    l->oh = y.h = y.w / wide, l->ow = y.w = wide;
    return y;
}

/* Of two ways, those that layers may go. */
static void keep(struct hd_lowering *lo, struct hd_transfers *m, bool wanted) {
    m->list = wanted ? hd_dup(lo->arena, m->list, m->n * sizeof *m->list) : NULL;
}

hd_status hd_move_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const struct hd_mtensor shape = cut_long_row(lo, l), *y = &shape;
    struct hd_move *own = hd_new(lo->arena, struct hd_move);
    int rows = y->n * y->h;
    l->own = own, l->a_scale = 1; /* bytes as they are */
    l->y.lo = y->is_unsigned ? 0 : -128, l->y.hi = y->is_unsigned ? 255 : 127;
    int operand[HD_LAYER_INPUTS], n_operands = hd_move_operands(lo, l->node, operand);
    for (int i = 0; i < n_operands; i++) {
        l->in[i] = lo->tensor_of[operand[i]];
        lo->tensors[l->in[i]].read_from_dram = true;
    }
    struct index_map map = {.scratch = hd_arena_create()};
    hd_status s = run_on_indexes(lo, n, l->result, map.scratch, &map);
    own->plain.first = hd_new_array(lo->arena, size_t, (size_t)rows + 1);
    for (int r = 0; s == HD_OK && r < rows; r++) {
        row_transfers(lo, y, &map, r, &own->plain);
        own->plain.first[r + 1] = own->plain.n;
    }
    own->fills = own->plain.holes || y->c < y->cp >> y->wide, l->pad_value = map.fill;
    if (s == HD_OK) transpose(lo, &map, y, own);
    if (s == HD_OK && too_many(&own->plain, rows)) {
        own->plain.first = NULL;
        if (!own->band)
            lo->too_big[l->node] = HD_REFUSE_N(transfers, TRANSFERS_MAX), s = HD_UNSUPPORTED;
    }
    keep(lo, &own->plain, own->plain.first), keep(lo, &own->transposed, own->band);
    hd_arena_destroy(map.scratch);
    return s;
}
