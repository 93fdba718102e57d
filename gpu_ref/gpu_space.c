/* Candidates for an expression, in the order of a model of their time. The model counts what a
 * block does: products, loads, elements that local memory is filled with, those that stand outside
 * of a ragged edge, and blocks that leave units idle. Its constants are guesses for a processor
 * with vectors and for a GPU whose warps run in step; measured is what tells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "gpu_ref/gpu_choice.h"
#include "gpu_ref/gpu_schedule_int.h"

enum { MOST = 4096, VECTOR = 8, CACHE_BYTES = 24 << 10, REGISTERS = 40000, OTHER_REGISTERS = 32 };
/* Cycles, those of a processor fitted to pocl on an AMD EPYC with AVX2. */
static const double LOOP = 4, VECTOR_STEP = 2, PADDED = 2.5, APART = 5, UNROLLED = 1,
                    UNROLLED_PADDED = 2.7, COPY = 6, STORE = 4, BLOCK = 400, FLAT_BLOCK = 50,
                    THREAD = 6, FAR = 1.5;
/* Cycles of a GPU's unit, guessed. */
static const double LOCAL_LOAD = 0.5, GLOBAL_LOAD = 2, CHECKED_LOAD = 6, GPU_COPY = 8, WAIT = 60;

struct space {
    hd_arena *a;
    struct maker m;
    bool tiled; /* p is there */
    struct product p;
    double rows, columns, rest, depth; /* of the product; rest: of all other results */
    double elements, each;             /* of the largest flat statement; steps for one of them */
    bool padded, apart;                /* under pad; neighbours in j are none in memory */
    size_t bytes[2];                   /* of an element of a and of b */
    struct hd_gpu_candidate *list;
    int n;
};

static double up(double n, double of) {
    return ceil(n / of);
}

/* ---- what is computed ----------------------------------------------------------------------- */

static bool has_pad(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    bool found = k->op == HD_EXPR_PAD;
    for (int i = 0; i < k->n; i++) found = found || has_pad(f, k->arg[i]);
    return found;
}

static void look_at_product(struct space *s) {
    const struct hd_expr *f = s->m.f;
    const struct hd_expr_stmt *sum = &f->stmt[s->p.sum];
    const struct hd_expr_node *b = &f->node[s->p.b], *value = &f->node[sum->value];
    s->rest = s->depth = 1;
    for (int v = 0; v < sum->n_vars; v++) {
        double n = (double)sum->var[v].extent;
        if (v == s->p.i)
            s->rows = n;
        else if (v == s->p.j)
            s->columns = n;
        else if (sum->var[v].reduced)
            s->depth *= n;
        else
            s->rest *= n;
    }
    s->padded = has_pad(f, value->arg[0]) || has_pad(f, value->arg[1]);
    s->apart = hd_gpu_step_of(f, b->arg[b->n - 1], s->p.j) != 1;
    s->bytes[0] = hd_dtype_bytes((hd_dtype)f->tensor[f->node[s->p.a].i].type);
    s->bytes[1] = hd_dtype_bytes((hd_dtype)f->tensor[b->i].type);
}

/* The statement with the most elements; a reduction that it reads is computed for each of them. */
static void look_at_rest(struct space *s) {
    const struct hd_expr *f = s->m.f;
    for (size_t i = 0; i < f->n_stmts; i++) {
        const struct hd_expr_stmt *y = &f->stmt[i];
        double n = 1, steps = 1;
        for (int v = 0; v < y->n_vars; v++)
            *(y->var[v].reduced ? &steps : &n) *= (double)y->var[v].extent;
        if (n > s->elements) s->elements = n;
        if (steps > s->each) s->each = steps;
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Of one block's part of a tile: how often its local memory is filled, and with how much. */
static double filled(const struct space *s, const struct hd_gpu_choice *c, double *out_bytes) {
    const struct hd_gpu_tile t = {
        {c->threads[0], c->threads[1]}, {c->each[0], c->each[1]}, c->depth, false, NULL, {-1, -1}};
    double k = (double)s->m.f->stmt[s->p.sum].var[s->p.k].extent;
    double a = (double)hd_gpu_elements(&s->m, &s->p, s->p.a, &t);
    double b = (double)hd_gpu_elements(&s->m, &s->p, s->p.b, &t);
    *out_bytes = a * (double)s->bytes[0] + b * (double)s->bytes[1];
    return up(k, c->depth) * (a + b);
}

/* One step of the reduction for all elements of a thread. */
static double step_on_processor(const struct space *s, const struct hd_gpu_choice *c) {
    double each = c->each[0] * c->each[1], vectors = up(c->each[1], VECTOR);
    bool direct = !c->depth, bytes = s->bytes[1] == 1;
    bool apart = direct && (s->apart || (s->padded && bytes));
    if (c->unroll) return each * (s->padded ? UNROLLED_PADDED : UNROLLED);
    if (apart) return c->each[0] * (LOOP + APART * c->each[1]);
    return c->each[0] * (LOOP + VECTOR_STEP * vectors) * (direct && s->padded ? PADDED : 1);
}

static double step_on_gpu(const struct space *s, const struct hd_gpu_choice *c) {
    double loads = c->each[0] + c->each[1];
    return c->each[0] * c->each[1] + loads * (c->depth                ? LOCAL_LOAD
                                              : s->padded || s->apart ? CHECKED_LOAD
                                                                      : GLOBAL_LOAD);
}

static double tile_cycles(const struct space *s, const struct hd_gpu_choice *c) {
    const struct hd_gpu_limits *l = s->m.limits;
    double threads = c->threads[0] * c->threads[1], each = c->each[0] * c->each[1], bytes = 0;
    double blocks = s->rest * up(s->rows, c->threads[0] * c->each[0]) *
                    up(s->columns, c->threads[1] * c->each[1]);
    double copies = c->depth ? filled(s, c, &bytes) : 0, block;
    if (bytes > (double)l->local_bytes) return INFINITY;
    if (!l->is_cpu && threads * (each + OTHER_REGISTERS) > REGISTERS) return INFINITY;
    if (l->is_cpu) {
        block = threads * (s->depth * step_on_processor(s, c) + STORE * each) + COPY * copies;
        if (bytes > CACHE_BYTES) block *= FAR;
    } else {
        block = up(threads, HD_GPU_WARP) * (s->depth * step_on_gpu(s, c) + STORE * each) +
                GPU_COPY * copies / HD_GPU_WARP + (c->depth ? WAIT * copies / threads : 0);
        if (threads < 2 * HD_GPU_WARP) block *= 2; /* nothing else runs while one waits */
    }
    return (block + BLOCK) * up(blocks, l->units > 0 ? l->units : 1);
}

/* On a processor, elements without a reduction are lanes of vectors, when one loop runs over them:
 * that over threads, or that over the elements of one thread. */
static double flat_cycles(const struct space *s, const struct hd_gpu_choice *c) {
    const struct hd_gpu_limits *l = s->m.limits;
    double threads = c->threads[1], each = c->each[1], step = STORE + APART * (s->each - 1);
    double blocks = up(s->elements, threads * each), block;
    if (l->is_cpu) {
        bool whole = fmod(s->elements, threads * each) == 0; /* no guard at a ragged end */
        bool lanes = s->each == 1 && whole && (each == 1 || threads == 1);
        block = lanes ? 2 * up(threads * each, VECTOR) * step : threads * (THREAD + each * step);
    } else {
        block = up(threads, HD_GPU_WARP) * (THREAD + each * step);
        if (threads < 2 * HD_GPU_WARP) block *= 2;
    }
    return (block + FLAT_BLOCK) * up(blocks, l->units > 0 ? l->units : 1);
}

static double warp_cycles(const struct space *s, const struct hd_gpu_choice *c) {
    double columns = c->each[0] * c->each[1], units = s->m.limits->units ? s->m.limits->units : 1;
    double blocks =
        s->rest * up(s->rows, c->threads[0] * HD_GPU_MMA_ROWS) * up(s->columns, columns);
    return up(blocks, units) * (c->threads[0] * (s->depth * columns / 16 + STORE * columns) +
                                s->depth * (columns + c->threads[0] * HD_GPU_MMA_ROWS) / 8 + BLOCK);
}

/* ---- candidates ----------------------------------------------------------------------------- */

static void add(struct space *s, struct hd_gpu_choice c) {
    double cycles = c.form == HD_GPU_TILE   ? tile_cycles(s, &c)
                    : c.form == HD_GPU_FLAT ? flat_cycles(s, &c)
                                            : warp_cycles(s, &c);
    if (s->n == MOST || isinf(cycles) || c.threads[0] * c.threads[1] > s->m.limits->max_threads)
        return;
    if (c.form == HD_GPU_WARPS && !hd_gpu_schedule(s->a, s->m.f, s->m.limits, &c)) return;
    s->list[s->n++] = (struct hd_gpu_candidate){c, hd_gpu_choice_text(s->a, &c), cycles};
}

/* All tiles with these threads: their elements are not many more than there are. */
static void add_tiles(struct space *s, int t0, int t1, const int *each, int n) {
    static const int depths[] = {0, 4, 8, 16, 32, 64};
    double k = (double)s->m.f->stmt[s->p.sum].var[s->p.k].extent;
    bool cpu = s->m.limits->is_cpu;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
                for (int unroll = !cpu; unroll < 2; unroll++) { /* GPUs: sums are registers */
                    struct hd_gpu_choice c = {HD_GPU_TILE, {t0, t1}, {each[i], each[j]},
                                              depths[d],   unroll,   0};
                    int all = each[i] * each[j];
                    if (t0 * each[i] >= 2 * s->rows || t1 * each[j] >= 2 * s->columns) continue;
                    /* barriers cut a processor's loop over threads: slow, and slow to compile */
                    if (cpu && depths[d] && t0 * t1 > 1) continue;
                    if (depths[d] >= 2 * k || (unroll && all > (cpu ? 32 : 64))) continue;
                    if (all > 1024 || (cpu && all < 4)) continue;
                    add(s, c);
                }
}

static void add_all_tiles(struct space *s) {
    static const int cpu_threads[][2] = {{1, 1}, {1, 4}, {4, 1}};
    static const int cpu_each[] = {1, 2, 4, 8, 16, 32, 64}, gpu_each[] = {1, 2, 4, 8};
    for (int i = 0; s->m.limits->is_cpu && i < 3; i++)
        add_tiles(s, cpu_threads[i][0], cpu_threads[i][1], cpu_each, 7);
    for (int t0 = 1; !s->m.limits->is_cpu && t0 <= 32; t0 *= 2)
        for (int t1 = 4; t1 <= 64; t1 *= 2)
            if (t0 * t1 >= HD_GPU_WARP && t0 * t1 <= 512) add_tiles(s, t0, t1, gpu_each, 4);
}

static void add_warps(struct space *s) {
    for (int warps = 1; warps <= 8; warps *= 2)
        for (int j = HD_GPU_MMA_COLUMNS; j <= HD_GPU_WARP; j *= 2)
            for (int image = 1; image * j <= 128; image *= 2)
                add(s, (struct hd_gpu_choice){HD_GPU_WARPS, {warps, 1}, {j, image}, 0, false, 0});
}

static void add_flat(struct space *s) {
    int most = hd_gpu_least(s->m.limits->max_threads, s->m.limits->is_cpu ? 1024 : 256);
    for (int threads = s->m.limits->is_cpu ? 1 : 32; threads <= most; threads *= 2)
        for (int each = 1; each <= 64; each *= 2)
            if (threads * each < 2 * s->elements || (each == 1 && threads == 32))
                add(s, (struct hd_gpu_choice){HD_GPU_FLAT, {1, threads}, {1, each}, 0, false, 0});
}

static int by_cycles(const void *a, const void *b) {
    const struct hd_gpu_candidate *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? 1 : -1;
    return strcmp(x->text, y->text);
}

static void add_gemm(struct space *s) {
    struct hd_gpu_gemm_candidate *list;
    struct hd_gpu_gemm g;
    for (int i = 0; i < (int)s->m.f->n_stmts; i++) {
        if (!hd_gpu_find_gemm(&s->m, i, &g)) continue;
        int n = hd_gpu_gemm_space(s->a, &s->m, &g, &list);
        for (int k = 0; k < n && s->n < MOST; k++)
            s->list[s->n++] = (struct hd_gpu_candidate){
                list[k].choice, hd_gpu_choice_text(s->a, &list[k].choice), list[k].cycles};
        return;
    }
}

int hd_gpu_space(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l,
                 struct hd_gpu_candidate **out) {
    struct space s = {.a = a, .m = {f, l, NULL, NULL}, .each = 1};
    s.list = hd_new_array(a, struct hd_gpu_candidate, MOST);
    for (int i = 0; i < (int)f->n_stmts && !s.tiled; i++)
        s.tiled = f->stmt[i].reduce == HD_REDUCE_NONE && hd_gpu_find_product(&s.m, i, &s.p);
    look_at_rest(&s);
    if (s.tiled) {
        look_at_product(&s);
        add_all_tiles(&s);
        if (l->mma && hd_gpu_is_bytes(&s.m, &s.p)) add_warps(&s);
    }
    add_gemm(&s);
    add_flat(&s);
    qsort(s.list, (size_t)s.n, sizeof *s.list, by_cycles);
    *out = s.list;
    return s.n;
}
