/* The static check against random programs that lack one semaphore.
 *
 * Of every legal program each wait is left out, each signal, and each wait with its signal. A wait
 * or a signal alone must always be found: a token is left over, or missing. Both together are a
 * race unless something else orders the same operations; what is right then is decided here by
 * other means: paths in the graph of starts and ends, and the very bytes that each operation
 * touches.
 *
 *   removed [--seed S] [--count N] [--machine NAME]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "test/cosim/program.h"

enum { SPACES = SPACE_DRAM + 1, NODES = 2 * MAX_OPS, WORD = 64 };

struct bytes {  /* of each memory, XM and DRAM in bytes, the others in words */
    bool known; /* else only the ranges in op.touch are */
    uint8_t *read[SPACES], *write[SPACES];
};

struct check {
    struct hd_machine m;
    struct program p;
    uint32_t words[MAX_WORDS];
    size_t places[SPACES];
    struct bytes bytes[MAX_OPS];
    uint64_t path[NODES][NODES / WORD]; /* start of i: 2i, end: 2i + 1 */
    long races, ordered, unclear;
};

/* ---- what an operation touches, place by place ----------------------------------------------- */

static void mark(struct check *c, uint8_t *map[SPACES], enum space space, int64_t at, int64_t n) {
    if (!map[space]) map[space] = calloc(c->places[space], 1);
    if (!map[space] || at < 0 || (size_t)(at + n) > c->places[space]) abort();
    memset(map[space] + at, 1, (size_t)n);
}

static void mark_nest(struct check *c, uint8_t *map[SPACES], enum space space, int64_t at,
                      int loops, const int64_t *n, const int64_t *step, int64_t scale,
                      int64_t run) {
    if (loops == 0) {
        mark(c, map, space, at * scale, run);
        return;
    }
    for (int64_t i = 0; i < n[0]; i++)
        mark_nest(c, map, space, at + i * step[0], loops - 1, n + 1, step + 1, scale, run);
}

static void mark_lx(struct check *c, const uint32_t *w, struct bytes *b) {
#define GET(f) hd_field_get(w, HD_F_##f)
    int64_t n[3] = {GET(lx_n1), GET(lx_n2), GET(lx_n3)}, run = GET(lx_run);
    int64_t d[3] = {GET(lx_d1), GET(lx_d2), GET(lx_d3)};
    mark_nest(c, b->write, SPACE_XM, GET(lx_dst), 3, n, d, 1, run);
    if (GET(lx_seg) != 1) return;
    for (int64_t i3 = 0; i3 < n[2]; i3++)
        for (int64_t i2 = 0; i2 < n[1]; i2++)
            for (int64_t i1 = 0; i1 < n[0]; i1++)
                for (int64_t j = 0; j < run; j++) {
                    int64_t x = GET(lx_x0) + i1 * GET(lx_s1) + j, y = GET(lx_y0) + i2 * GET(lx_ys);
                    bool in = x >= 0 && x < GET(lx_row_bytes) && y >= 0 && y < GET(lx_rows);
                    uint32_t at = (uint32_t)(GET(lx_src) + i1 * GET(lx_s1) + i2 * GET(lx_s2) +
                                             i3 * GET(lx_s3) + j);
                    if (in || !GET(lx_edge)) mark(c, b->read, SPACE_DRAM, at, 1);
                }
}

static void mark_lw(struct check *c, const uint32_t *w, struct bytes *b) {
    static const enum space spaces[] = {SPACE_WM, SPACE_PM, SPACE_TM};
    int64_t n[1] = {GET(lw_n1)}, d[1] = {GET(lw_d1)}, s[1] = {GET(lw_s1)};
    int64_t bytes = hd_lw_word_bytes(&c->m, GET(lw_mem));
    mark_nest(c, b->write, spaces[GET(lw_mem)], GET(lw_dst), 1, n, d, 1, GET(lw_count));
    if (GET(lw_seg) == 1)
        mark_nest(c, b->read, SPACE_DRAM, GET(lw_src), 1, n, s, 1,
                  GET(lw_count) * bytes - GET(lw_cut) * hd_axi_bytes(&c->m));
}

static void mark_gemm(struct check *c, const uint32_t *w, struct bytes *b) {
#define SIX(f)                                                                                     \
    {GET(mx_##f##0), GET(mx_##f##1), GET(mx_##f##2), GET(mx_##f##3), GET(mx_##f##4), GET(mx_##f##5)}
    int64_t n[6] = SIX(n), xs[6] = SIX(xs), ws[6] = SIX(ws), as[6] = SIX(as);
    int r = (int)GET(mx_nred);
    mark_nest(c, b->read, SPACE_XM, GET(mx_x), 6, n, xs, c->m.k, c->m.k);
    mark_nest(c, b->read, SPACE_WM, GET(mx_w), 6, n, ws, 1, 1);
    mark_nest(c, b->write, SPACE_AM, GET(mx_a), 6 - r, n + r, as + r, 1, 1);
}

static void mark_map(struct check *c, const uint32_t *w, struct bytes *b) {
#define FOUR(f) {GET(vx_##f##0), GET(vx_##f##1), GET(vx_##f##2), GET(vx_##f##3)}
    int64_t n[4] = FOUR(n), as[4] = FOUR(as), bs[4] = FOUR(bs), ds[4] = FOUR(ds), ps[4] = FOUR(ps);
    int64_t a = GET(vx_a_kind), k = GET(vx_b_kind), lanes = c->m.n;
    int r = (int)GET(vx_nred);
    if (a > 4 || k > 4 || GET(vx_d_kind) == 3) { /* parameters, transposed blocks */
        b->known = false;
        return;
    }
    if (a < 4)
        mark_nest(c, b->read, a < 2 ? SPACE_AM : SPACE_XM, GET(vx_a), 4, n, as, a < 2 ? 1 : lanes,
                  a < 2 ? 1 : lanes);
    if (k < 4 && GET(vx_alu))
        mark_nest(c, b->read, k < 2 ? SPACE_AM : SPACE_XM, GET(vx_b), 4 - r, n + r, bs + r,
                  k < 2 ? 1 : lanes, k < 2 ? 1 : lanes);
    if (GET(vx_use_bias) || GET(vx_scale_pm))
        mark_nest(c, b->read, SPACE_PM, GET(vx_p), 4 - r, n + r, ps + r, 1, 1);
    bool am = GET(vx_d_kind) == 1 || GET(vx_d_kind) == 2;
    mark_nest(c, b->write, am ? SPACE_AM : SPACE_XM, GET(vx_d), 4 - r, n + r, ds + r,
              am ? 1 : lanes, am ? 1 : lanes);
}

/* Tables of parameters: see op.touch. */
static void mark_dw(struct check *c, const uint32_t *w, struct bytes *b) {
    int64_t n0 = GET(vx_n0), n1 = GET(vx_n1), n2 = GET(vx_n2), n3 = GET(vx_n3), n = c->m.n;
    bool sums = GET(vx_b_kind) == 0, pairs = GET(vx_b_kind) != 4 && !sums;
    int64_t in[3] = {pairs ? n1 + n0 - 2 : (n1 - 1) * GET(vx_sx) + n0, n2, n3};
    int64_t in_b[3] = {n1, n2, n3}, out[2] = {n1, n3};
    int64_t bs[3] = {GET(vx_bs0), GET(vx_bs2), GET(vx_bs3)};
    int64_t sum[2] = {GET(vx_bs1), GET(vx_bs3)};
    int64_t as[3] = {GET(vx_as0), GET(vx_as2), GET(vx_as3)};
    int64_t ds[2] = {GET(vx_ds1), GET(vx_ds3)}, ps = GET(vx_ps3);
    bool am = GET(vx_d_kind) == 1 || GET(vx_d_kind) == 2;
    mark_nest(c, b->read, SPACE_XM, GET(vx_a), 3, in, as, n, n);
    if (pairs) mark_nest(c, b->read, SPACE_XM, GET(vx_b), 3, in_b, bs, n, n);
    if (sums) mark_nest(c, b->read, SPACE_AM, GET(vx_b), 2, out, sum, 1, 1);
    mark_nest(c, b->write, am ? SPACE_AM : SPACE_XM, GET(vx_d), 2, out, ds, am ? 1 : n, am ? 1 : n);
    mark_nest(c, b->read, SPACE_PM, GET(vx_p), 1, &n3, &ps, 1, n0 * n2 > 8 ? 3 : 2);
}

static void mark_st(struct check *c, const uint32_t *w, struct bytes *b) {
    int64_t n[3] = {GET(st_n1), GET(st_n2), GET(st_n3)};
    int64_t s[3] = {GET(st_s1), GET(st_s2), GET(st_s3)};
    int64_t d[3] = {GET(st_d1), GET(st_d2), GET(st_d3)};
    b->known = !GET(st_mem);
    if (!b->known) return;
    mark_nest(c, b->read, SPACE_XM, GET(st_src), 3, n, s, 1, GET(st_run));
    mark_nest(c, b->write, SPACE_DRAM, GET(st_dst), 3, n, d, 1, GET(st_run));
}

static void mark_op(struct check *c, const struct op *op, struct bytes *b) {
    const uint32_t *w = op->words;
    b->known = true;
    switch (hd_op_by_code((enum hd_unit)op->unit, op->code)) {
    case HD_OP_lx_load:
        b->known = !GET(lx_mem);
        if (b->known) mark_lx(c, w, b);
        break;
    case HD_OP_lw_load:
        mark_lw(c, w, b);
        break;
    case HD_OP_mx_gemm:
        mark_gemm(c, w, b);
        break;
    case HD_OP_vx_map:
        mark_map(c, w, b);
        break;
    case HD_OP_vx_dw:
        mark_dw(c, w, b);
        break;
    case HD_OP_st_store:
        mark_st(c, w, b);
        break;
    default: /* nops and the sequencer touch nothing */
        b->known = op->code == 0 || op->unit == HD_UNIT_seq;
    }
#undef GET
}

static bool overlap(const uint8_t *a, const uint8_t *b, size_t n) {
    if (!a || !b) return false;
    for (size_t i = 0; i < n; i++)
        if (a[i] & b[i]) return true;
    return false;
}

static bool meet_exactly(const struct check *c, int i, int j) {
    const struct bytes *a = &c->bytes[i], *b = &c->bytes[j];
    if (!a->known || !b->known) return false;
    for (int s = 0; s < SPACES; s++)
        if (overlap(a->write[s], b->write[s], c->places[s]) ||
            overlap(a->write[s], b->read[s], c->places[s]) ||
            overlap(a->read[s], b->write[s], c->places[s]))
            return true;
    return false;
}

static bool meet_perhaps(const struct check *c, int i, int j) {
    const struct op *a = &c->p.op[i], *b = &c->p.op[j];
    for (int s = 0; s < a->n_touch; s++)
        for (int t = 0; t < b->n_touch; t++) {
            const struct touch *x = &a->touch[s], *y = &b->touch[t];
            if (x->space == y->space && (x->write || y->write) && x->lo < y->hi && y->lo < x->hi)
                return true;
        }
    return false;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void arrow(struct check *c, int from, int to) {
    c->path[from][to / WORD] |= UINT64_C(1) << to % WORD;
}

static bool leads(const struct check *c, int from, int to) {
    return c->path[from][to / WORD] >> to % WORD & 1;
}

static void find_paths(struct check *c, const struct edge *edges, int n_edges, int without) {
    const struct program *p = &c->p;
    int last[HD_UNITS], n = 2 * p->n;
    memset(c->path, 0, sizeof c->path);
    memset(last, -1, sizeof last);
    for (int i = 0; i < p->n; i++) {
        int u = p->op[i].unit;
        arrow(c, 2 * i, 2 * i + 1);
        if (last[u] >= 0) arrow(c, 2 * last[u], 2 * i), arrow(c, 2 * last[u] + 1, 2 * i + 1);
        if (last[HD_UNIT_seq] >= 0) arrow(c, 2 * last[HD_UNIT_seq] + 1, 2 * i);
        for (int j = 0; u == HD_UNIT_seq && p->op[i].code && j < i; j++) arrow(c, 2 * j + 1, 2 * i);
        last[u] = i;
    }
    for (int e = 0; e < n_edges; e++)
        if (e != without) arrow(c, 2 * edges[e].from + 1, 2 * edges[e].to);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            if (leads(c, i, k))
                for (int w = 0; w < NODES / WORD; w++) c->path[i][w] |= c->path[k][w];
}

/* 2: two operations race for certain, 1: perhaps, 0: no. */
static int races(const struct check *c) {
    int found = 0;
    for (int i = 0; i < c->p.n; i++)
        for (int j = 0; j < i; j++) {
            if (c->p.op[i].unit == c->p.op[j].unit || leads(c, 2 * i + 1, 2 * j) ||
                leads(c, 2 * j + 1, 2 * i) || !meet_perhaps(c, i, j))
                continue;
            if (meet_exactly(c, i, j)) return 2;
            found = 1;
        }
    return found;
}

/* ---- programs -------------------------------------------------------------------------------- */

static int errors_of(struct check *c, struct edge cut) {
    struct hd_check k;
    c->p.cut = cut;
    size_t n = program_emit(&c->p, c->words);
    hd_check_init(&k);
    k.memory_is_set = true;
    hd_check_program(&k, c->words, n, &c->m, NULL);
    int errors = k.n_errors;
    hd_check_deinit(&k);
    return errors;
}

static bool one(struct check *c, uint64_t seed) {
    struct edge edges[MAX_EDGES], none = {-1, -1, 0};
    program_random(&c->p, &c->m, seed, KIND_LEGAL);
    c->p.rounds = 1;
    int n = program_edges(&c->p, edges);
    const char *wrong = errors_of(c, none) ? "the whole program is refused" : NULL;
    for (int i = 0; i < c->p.n; i++) mark_op(c, &c->p.op[i], &c->bytes[i]);
    int e = 0;
    for (; e < n && !wrong; e++) {
        struct edge both = edges[e], wait = both, signal = both;
        wait.from = signal.to = -1;
        find_paths(c, edges, n, e);
        int real = races(c), errors = errors_of(c, both);
        if (real == 2 && !errors) wrong = "a race is not found";
        if (real == 0 && errors) wrong = "a race is found that is none";
        if (!errors_of(c, wait)) wrong = "a missing wait is not found";
        if (!errors_of(c, signal)) wrong = "a missing signal is not found";
        *(real == 2 ? &c->races : real ? &c->unclear : &c->ordered) += 1;
    }
    if (wrong)
        printf("seed %llu, operation %d waits for %d: %s\n", (unsigned long long)seed,
               e ? edges[e - 1].to : -1, e ? edges[e - 1].from : -1, wrong);
    for (int i = 0; i < c->p.n; i++)
        for (int s = 0; s < SPACES; s++) {
            free(c->bytes[i].read[s]), free(c->bytes[i].write[s]);
            c->bytes[i].read[s] = c->bytes[i].write[s] = NULL;
        }
    return !wrong;
}

int main(int argc, char **argv) {
    static const struct option longs[] = {{"seed", 1, NULL, 's'},
                                          {"count", 1, NULL, 'n'},
                                          {"machine", 1, NULL, 'm'},
                                          {NULL, 0, NULL, 0}};
    uint64_t seed = 1, count = 100;
    const char *machine = "tiny";
    for (int k; (k = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (k == 's')
            seed = strtoull(optarg, NULL, 0);
        else if (k == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (k == 'm')
            machine = optarg;
        else
            return 2;
    }
    struct check *c = calloc(1, sizeof *c);
    hd_ctx *ctx = hd_ctx_create();
    if (!c || hd_machine_load(ctx, machine, &c->m)) {
        fprintf(stderr, "removed: %s\n", hd_message(ctx));
        return 2;
    }
    size_t places[SPACES] = {c->m.xm_bytes, hd_wm_words(&c->m), hd_pm_words(&c->m),
                             HD_TM_TABLES,  hd_am_words(&c->m), program_arena_bytes(&c->m)};
    memcpy(c->places, places, sizeof places);
    int failed = 0;
    for (uint64_t i = 0; i < count && !failed; i++) failed = !one(c, seed + i);
    printf("removed: %llu programs, %ld waits left out: %ld races found, %ld ordered by something "
           "else, %ld unclear; every wait and every signal alone found\n",
           (unsigned long long)count, c->races + c->ordered + c->unclear, c->races, c->ordered,
           c->unclear);
    hd_ctx_destroy(ctx);
    free(c);
    return failed;
}
