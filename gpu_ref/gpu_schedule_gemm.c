/* Schedules for sums of products of bytes whose operands have the reduced range last in memory: an
 * implicit product of matrices on matrix instructions (step gemm).
 *
 * Rows are the last dimension of the result (channels), columns two others (pixels of a row, rows
 * of the image). A block computes rows x columns. Its warps share the rows, or the reduced range:
 * small layers have too few tiles for all units, and their time is that of waiting for memory. */
#include <math.h>
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "gpu_ref/gpu_schedule_int.h"

enum { STEP = 64, PIECE = 16, VECTOR = 4, MOST_THREADS_OF_UNIT = 2048 };
/* Cycles of a unit, fitted to 2,100 measurements on an H200 (docs/decisions/110): what a step waits
 * for memory, a load of 16 bytes for each lane of a warp, a step of copies, products in a cycle, a
 * block; elements stored in a cycle; a row or column copied, a load from local memory, warps that
 * hide what others wait for. */
static const double WAIT = 88, LOAD = 110, STAGE = 47, MACS = 6500, BLOCK = 690, STORE = 4.9,
                    VECTOR_STORE = 8.7, COPY = 0.55, LOCAL_LOAD = 9.4, ENOUGH_WARPS = 24,
                    REGISTERS = 65536, LOCAL = 200 << 10;

static const struct hd_expr_stmt *sum_of(const struct maker *m, const struct hd_gpu_gemm *g) {
    return &m->f->stmt[g->sum];
}

/* ---- what is computed ----------------------------------------------------------------------- */

/* The reduced variable that is the last index, and the whole of that dimension. */
static int last_variable(const struct hd_expr *f, const struct hd_expr_stmt *s, int access) {
    const struct hd_expr_node *k = &f->node[access];
    const struct hd_expr_node *v = k->n ? &f->node[k->arg[k->n - 1]] : NULL;
    if (!v || v->op != HD_EXPR_VAR || !s->var[v->i].reduced) return -1;
    for (int d = 0; d + 1 < k->n; d++)
        if (hd_expr_uses(f, k->arg[d], (int)v->i)) return -1;
    bool whole = s->var[v->i].extent == f->tensor[k->i].dim[k->n - 1].value;
    return whole && s->var[v->i].extent % PIECE == 0 ? (int)v->i : -1;
}

/* Dimensions of the result along which columns lie: the largest two that move x alone; without any
 * one that moves nothing. */
static void find_columns(const struct hd_expr *f, const struct hd_expr_stmt *s,
                         struct hd_gpu_gemm *g) {
    g->column[0] = g->column[1] = -1;
    for (int d = s->rank - 2; d >= 0; d--) {
        bool x = hd_expr_uses(f, g->x, d), w = hd_expr_uses(f, g->w, d);
        int64_t n = s->var[d].extent;
        if (w || (n > 1 && !x)) continue;
        if (g->column[0] < 0 || n > s->var[g->column[0]].extent) {
            g->column[1] = g->column[0];
            g->column[0] = d;
        } else if (g->column[1] < 0 || n > s->var[g->column[1]].extent) {
            g->column[1] = d;
        }
    }
    if (g->column[1] >= 0 && s->var[g->column[1]].extent < 2) g->column[1] = -1;
}

static bool fits(const struct maker *m, int sum, int reader, struct hd_gpu_gemm *g) {
    const struct hd_expr *f = m->f;
    const struct hd_expr_stmt *s = &f->stmt[sum], *y = &f->stmt[reader];
    const struct hd_expr_node *k = &f->node[s->value];
    *g = (struct hd_gpu_gemm){.sum = sum, .reader = reader, .w = -1, .x = -1};
    if (s->reduce != HD_REDUCE_SUM || k->op != HD_EXPR_mul || s->rank < 2 || s->rank != y->rank)
        return false;
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] != d || y->lhs[d] != d || s->var[d].extent != y->var[d].extent) return false;
    int a = hd_expr_byte(f, k->arg[0]), b = hd_expr_byte(f, k->arg[1]), rows = s->rank - 1;
    if (a < 0 || b < 0) return false;
    bool a_rows = hd_expr_uses(f, a, rows), b_rows = hd_expr_uses(f, b, rows);
    if (a_rows == b_rows) return false;
    g->w = a_rows ? a : b, g->x = a_rows ? b : a;
    g->k = last_variable(f, s, g->w);
    if (g->k < 0 || g->k != last_variable(f, s, g->x)) return false;
    find_columns(f, s, g);
    return g->column[0] >= 0;
}

bool hd_gpu_find_gemm(const struct maker *m, int reader, struct hd_gpu_gemm *out) {
    const struct hd_expr *f = m->f;
    struct hd_gpu_gemm g;
    int found = 0;
    if (!m->limits->mma || f->stmt[reader].reduce != HD_REDUCE_NONE) return false;
    for (int s = 0; s < reader; s++) {
        if (f->stmt[s].reduce == HD_REDUCE_NONE || hd_expr_reader(f, s) != reader) continue;
        if (!fits(m, s, reader, &g)) continue;
        *out = g;
        found++;
    }
    return found == 1;
}

/* ---- choices -------------------------------------------------------------------------------- */

struct shape { /* of a block */
    int rows, columns[2], threads, vector;
    int across[3]; /* threads: along rows, along both columns */
};

static int64_t extent_of(const struct maker *m, const struct hd_gpu_gemm *g, int dimension) {
    return dimension < 0 ? 1 : sum_of(m, g)->var[dimension].extent;
}

static size_t local_bytes(const struct shape *b, int stages) {
    size_t rows = (size_t)b->rows, columns = (size_t)(b->columns[0] * b->columns[1]);
    size_t sums = rows * columns * sizeof(int32_t),
           copies = (size_t)stages * STEP * (rows + columns);
    return sums > copies ? sums : copies;
}

static bool power_of_two(int n) {
    return n > 0 && !(n & (n - 1));
}

/* False: the block does not fit. */
static bool shape_of(const struct maker *m, const struct hd_gpu_gemm *g,
                     const struct hd_gpu_choice *c, struct shape *b) {
    int64_t channels = extent_of(m, g, sum_of(m, g)->rank - 1);
    for (int d = 0; d < 2; d++)
        if (!power_of_two(c->threads[d]) || !power_of_two(c->each[d])) return false;
    if (!power_of_two(c->depth) || c->depth < HD_GPU_MMA_ROWS || c->each[0] < HD_GPU_MMA_COLUMNS ||
        (g->column[1] < 0 && c->each[1] > 1) || c->stages == 1 || c->stages > 8 ||
        (c->stages && c->threads[1] > 1))
        return false;
    *b = (struct shape){.rows = c->depth * c->threads[0],
                        .columns = {c->each[0], c->each[1]},
                        .threads = HD_GPU_WARP * c->threads[0] * c->threads[1]};
    int sums = b->rows * b->columns[0] * b->columns[1];
    b->vector = channels % b->rows == 0 && sums >= VECTOR * b->threads ? VECTOR : 1;
    b->across[0] = b->rows / b->vector;
    if (b->across[0] > b->threads || sums / b->vector < b->threads) return false;
    b->across[1] = hd_gpu_least(b->threads / b->across[0], b->columns[0]);
    b->across[2] = b->threads / b->across[0] / b->across[1];
    return b->threads <= m->limits->max_threads &&
           local_bytes(b, c->stages) <= m->limits->local_bytes;
}

static double up(double n, double of) {
    return ceil(n / of);
}

/* Of one unit for its share of the blocks. */
static double cycles(const struct maker *m, const struct hd_gpu_gemm *g,
                     const struct hd_gpu_choice *c, const struct shape *b) {
    const struct hd_expr_stmt *s = sum_of(m, g);
    double blocks = up((double)s->var[s->rank - 1].extent, b->rows), steps = 1;
    int columns = b->columns[0] * b->columns[1], tiles = columns / HD_GPU_MMA_COLUMNS;
    for (int v = 0; v < s->n_vars; v++) {
        double n = (double)s->var[v].extent;
        if (s->var[v].reduced)
            steps *= v == g->k ? up(n, STEP) : n;
        else if (v == g->column[0] || v == g->column[1])
            blocks *= up(n, b->columns[v == g->column[1]]);
        else if (v != s->rank - 1)
            blocks *= n;
    }
    double units = m->limits->units > 0 ? m->limits->units : 1, mine = up(blocks, units);
    double each_rows = c->depth / HD_GPU_MMA_ROWS;
    double registers = b->threads * (4 * each_rows * tiles + 8 * each_rows + 48);
    double at_once = fmin(fmin(REGISTERS / registers, LOCAL / (double)local_bytes(b, c->stages)),
                          MOST_THREADS_OF_UNIT / b->threads);
    double store = (double)b->rows * columns / (b->vector > 1 ? VECTOR_STORE : STORE);
    double loads = c->threads[0] * (2 * each_rows + tiles), wait, work;
    if (registers > REGISTERS) return INFINITY;
    if (c->stages) {
        work = steps * (STAGE + (double)b->rows * columns * STEP / MACS +
                        (b->rows + columns) * COPY + loads * LOCAL_LOAD);
        wait = WAIT * c->stages + work;
    } else {
        wait = up(steps, c->threads[1]) * WAIT;
        work = steps * loads * LOAD;
    }
    double blocks_at_once = fmax(floor(at_once), 1);
    double warps = fmin(blocks_at_once, mine) * b->threads / HD_GPU_WARP;
    double slow = fmax(1, ENOUGH_WARPS / warps);
    return BLOCK + fmax(up(mine, blocks_at_once) * wait, mine * work * slow) + mine * store * slow;
}

int hd_gpu_gemm_space(hd_arena *a, const struct maker *m, const struct hd_gpu_gemm *g,
                      struct hd_gpu_gemm_candidate **out) {
    static const int stages[] = {0, 2, 3, 4};
    struct hd_gpu_gemm_candidate *list = NULL;
    size_t n = 0, cap = 0;
    for (int depth = 16; depth <= 64; depth *= 2)
        for (int warps = 1; warps <= 8; warps *= 2)
            for (int parts = 1; parts <= 16; parts *= 2)
                for (int j = 8; j <= 64; j *= 2)
                    for (int i = 1; i * j <= 128; i *= 2)
                        for (int s = 0; s < 4; s++) {
                            struct hd_gpu_choice c = {HD_GPU_GEMM, {warps, parts}, {j, i},
                                                      depth,       false,          stages[s]};
                            struct shape b;
                            bool small = depth * warps < 32 || i * j < 16;
                            if ((stages[s] && small) || depth * i * j > 64 * 64) continue;
                            if (!shape_of(m, g, &c, &b)) continue;
                            double t = cycles(m, g, &c, &b);
                            if (!isinf(t))
                                *hd_push(a, list, n, cap) = (struct hd_gpu_gemm_candidate){c, t};
                        }
    *out = list;
    return (int)n;
}

static bool choose(const struct maker *m, const struct hd_gpu_gemm *g, struct hd_gpu_choice *out) {
    struct hd_gpu_gemm_candidate *list;
    hd_arena *a = hd_arena_create();
    int n = hd_gpu_gemm_space(a, m, g, &list), best = 0;
    for (int i = 1; i < n; i++)
        if (list[i].cycles < list[best].cycles) best = i;
    if (n) *out = list[best].choice;
    hd_arena_destroy(a);
    return n > 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Dimension d, named v, in blocks of n; inside elements one after the other, then threads. */
static void cut(const struct maker *m, const char *name, const char *v, int n, int threads, int d) {
    fprintf(m->out, "split %s %s %d hd_b%d hd_in%d\nsplit %s hd_in%d %d hd_e%d hd_t%d\n", name, v,
            n, d, d, name, d, threads, d, d);
}

static void reader(const struct maker *m, const struct hd_gpu_gemm *g, const struct shape *b) {
    const struct hd_expr_stmt *y = &m->f->stmt[g->reader];
    const char *name = hd_gpu_name_of(m, g->reader), *rest[HD_EXPR_RANK] = {0};
    const char *rows = y->var[y->rank - 1].name;
    bool two = g->column[1] >= 0;
    int n_rest = 0;
    fprintf(m->out, "split %s %s %d hd_b0 hd_in0\nsplit %s hd_in0 %d hd_t0 hd_lane\n", name, rows,
            b->rows, name, b->vector);
    cut(m, name, y->var[g->column[0]].name, b->columns[0], b->across[1], 1);
    for (int d = 0; d + 1 < y->rank; d++)
        if (d != g->column[0] && d != g->column[1]) rest[n_rest++] = y->var[d].name;
    if (two) {
        cut(m, name, y->var[g->column[1]].name, b->columns[1], b->across[2], 2);
        rest[n_rest++] = "hd_b2";
    }
    hd_gpu_reorder_reader(m, name, n_rest, rest,
                          two ? "hd_b0 hd_b1 hd_e2 hd_e1 hd_t2 hd_t1 hd_t0 hd_lane"
                              : "hd_b0 hd_b1 hd_e1 hd_t1 hd_t0 hd_lane");
    fprintf(m->out,
            "bind %s hd_b0 block.y\nbind %s hd_b1 block.x\nbind %s hd_t1 thread.y\n"
            "bind %s hd_t0 thread.x\n",
            name, name, name, name);
    if (two) fprintf(m->out, "bind %s hd_t2 thread.z\n", name);
    if (b->vector > 1) fprintf(m->out, "vectorize %s hd_lane\n", name);
}

static void sum(const struct maker *m, const struct hd_gpu_gemm *g, const struct hd_gpu_choice *c) {
    const struct hd_expr_stmt *s = sum_of(m, g);
    const char *name = hd_gpu_name_of(m, g->sum), *rows = s->var[s->rank - 1].name;
    fprintf(m->out, "compute_at %s %s hd_b1\nreorder %s", name, hd_gpu_name_of(m, g->reader), name);
    for (int v = 0; v + 1 < s->rank; v++)
        if (v != g->column[0] && v != g->column[1]) fprintf(m->out, " %s", s->var[v].name);
    fprintf(m->out, " %s", rows);
    if (g->column[1] >= 0) fprintf(m->out, " %s", s->var[g->column[1]].name);
    fprintf(m->out, " %s", s->var[g->column[0]].name);
    for (int v = s->rank; v < s->n_vars; v++)
        if (v != g->k) fprintf(m->out, " %s", s->var[v].name);
    fprintf(m->out, " %s\ngemm %s %s %d %d\n", s->var[g->k].name, name, rows, c->threads[1],
            c->stages);
}

/* The choice that is asked for, or the cheapest. */
static bool decide(const struct maker *m, const struct hd_gpu_gemm *g, struct hd_gpu_choice *c,
                   struct shape *b) {
    if (!m->choice && !choose(m, g, c)) return false;
    if (m->choice) *c = *m->choice;
    return c->form == HD_GPU_GEMM && shape_of(m, g, c, b);
}

bool hd_gpu_beside_gemm(const struct maker *m, int sum, int reader) {
    struct hd_gpu_gemm g;
    struct hd_gpu_choice c;
    struct shape b;
    return hd_gpu_find_gemm(m, reader, &g) && g.sum != sum && decide(m, &g, &c, &b);
}

bool hd_gpu_schedule_gemm(const struct maker *m, const struct hd_gpu_gemm *g) {
    struct hd_gpu_choice c;
    struct shape b;
    if (!decide(m, g, &c, &b)) return false;
    reader(m, g, &b);
    sum(m, g, &c);
    return true;
}
