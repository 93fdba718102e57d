/* Schedules for kernels: see gpu_schedule.h.
 *
 * A sum of products of two tensors whose elements are read again and again (products of matrices,
 * convolutions) is tiled: a block computes a tile of the result, each of its threads a few elements
 * of it in registers, and the parts of both operands that the tile needs go through local memory,
 * some of the reduced range at a time. On a processor a block is one thread with a larger tile, and
 * nothing goes through local memory. All other statements are flat: an element for each thread. */
#include "gpu_ref/gpu_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "gpu_ref/gpu_schedule_int.h"

const struct hd_gpu_choice hd_gpu_flat = {HD_GPU_FLAT, {1, 64}, {1, 1}, 0, false, 0};

/* ---- flat ----------------------------------------------------------------------------------- */

const char *hd_gpu_name_of(const struct maker *m, int s) {
    return m->f->tensor[m->f->stmt[s].tensor].name;
}

const char *hd_gpu_fuse(const struct maker *m, const char *t, int n, const char *const *list,
                        char name[static 32]) {
    const char *loop = list[0];
    for (int i = 1; i < n; i++) {
        fprintf(m->out, "fuse %s %s %s hd_f%d\n", t, loop, list[i], i);
        snprintf(name, 32, "hd_f%d", i);
        loop = name;
    }
    return loop;
}

void hd_gpu_reorder_reader(const struct maker *m, const char *name, int n, const char *const *rest,
                           const char *inside) {
    char fused[32];
    fprintf(m->out, "reorder %s", name);
    for (int i = 0; i < n; i++) fprintf(m->out, " %s", rest[i]);
    fprintf(m->out, " %s\n", inside);
    if (n) fprintf(m->out, "bind %s %s block.z\n", name, hd_gpu_fuse(m, name, n, rest, fused));
}

/* The variables of the left side become one loop, which is cut into blocks of threads. A thread's
 * elements lie as far apart as the block has threads. */
static void flat(const struct maker *m, int s) {
    const struct hd_expr_stmt *y = &m->f->stmt[s];
    const struct hd_gpu_choice *c =
        m->choice && m->choice->form == HD_GPU_FLAT ? m->choice : &hd_gpu_flat;
    const char *t = hd_gpu_name_of(m, s), *list[HD_EXPR_RANK] = {0};
    int64_t n = 1;
    int threads = hd_gpu_least(c->threads[1], m->limits->max_threads);
    char fused[32];
    for (int d = 0; d < y->rank; d++) {
        n *= y->var[y->lhs[d]].extent;
        list[d] = y->var[y->lhs[d]].name;
    }
    if (n < threads) threads = n < 1 ? 1 : (int)n;
    fprintf(m->out, "split %s %s %d hd_block %s\n", t, hd_gpu_fuse(m, t, y->rank, list, fused),
            threads * c->each[1], c->each[1] > 1 ? "hd_part" : "hd_thread");
    if (c->each[1] > 1) fprintf(m->out, "split %s hd_part %d hd_each hd_thread\n", t, threads);
    fprintf(m->out, "bind %s hd_block block.x\nbind %s hd_thread thread.x\n", t, t);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* The only tensor access below the node; -1 = none, or several. */
static int only_access(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    int found = -1;
    if (k->op == HD_EXPR_ACCESS) return k->checked ? -1 : node;
    for (int i = 0; i < k->n; i++) {
        bool leaf = f->node[k->arg[i]].n == 0 && f->node[k->arg[i]].op != HD_EXPR_ACCESS;
        if (leaf) continue;
        int one = only_access(f, k->arg[i]);
        if (one < 0 || found >= 0) return -1;
        found = one;
    }
    return found;
}

/* The dimension of the reader that is variable v of the sum. */
int hd_gpu_dimension_of(const struct maker *m, const struct product *p, int v) {
    const struct hd_expr_stmt *s = &m->f->stmt[p->sum];
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] == v) return d;
    return -1;
}

/* The reader's left side names the sum's dimensions in order. */
static bool same_order(const struct maker *m, const struct product *p) {
    const struct hd_expr_stmt *s = &m->f->stmt[p->sum], *y = &m->f->stmt[p->reader];
    if (s->rank != y->rank) return false;
    for (int d = 0; d < s->rank; d++)
        if (s->var[s->lhs[d]].extent != y->var[y->lhs[d]].extent) return false;
    return true;
}

static bool is_product(const struct maker *m, int sum, struct product *p) {
    const struct hd_expr *f = m->f;
    const struct hd_expr_stmt *s = &f->stmt[sum];
    const struct hd_expr_node *k = &f->node[s->value];
    *p = (struct product){.sum = sum, .reader = hd_expr_reader(f, sum), .i = -1, .j = -1, .k = -1};
    if (s->reduce != HD_REDUCE_SUM || k->op != HD_EXPR_mul || p->reader < 0) return false;
    p->a = only_access(f, k->arg[0]);
    p->b = only_access(f, k->arg[1]);
    if (p->a < 0 || p->b < 0 || f->node[p->a].i == f->node[p->b].i || !same_order(m, p))
        return false;
    for (int v = 0; v < s->n_vars; v++) {
        bool a = hd_expr_uses(f, p->a, v), b = hd_expr_uses(f, p->b, v);
        int64_t n = s->var[v].extent;
        if (s->var[v].reduced && a && b && n > 1 && p->k < 0) p->k = v;
        if (s->var[v].reduced || n < 2 || a == b) continue;
        int *best = a ? &p->i : &p->j;
        if (*best < 0 || n >= s->var[*best].extent) *best = v;
    }
    if (p->i < 0 || p->j < 0 || p->k < 0) return false;
    p->di = hd_gpu_dimension_of(m, p, p->i);
    p->dj = hd_gpu_dimension_of(m, p, p->j);
    if (p->di > p->dj) /* neighbours in memory are neighbouring threads */
        *p = (struct product){p->sum, p->reader, p->b, p->a, p->j, p->i, p->dj, p->di, p->k};
    return p->di >= 0 && p->dj >= 0;
}

int hd_gpu_dimension_with(const struct hd_expr *f, int access, int v) {
    int found = -1;
    for (int d = 0; d < f->node[access].n; d++) {
        if (!hd_expr_uses(f, f->node[access].arg[d], v)) continue;
        if (found >= 0) return -1;
        found = d;
    }
    return found;
}

/* i32 of an i8 or a u8. */
static bool is_byte(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op != HD_EXPR_CAST || k->type != HD_I32) return false;
    const struct hd_expr_node *x = &f->node[k->arg[0]];
    return (x->op == HD_EXPR_ACCESS || x->op == HD_EXPR_PAD) &&
           (x->type == HD_I8 || x->type == HD_U8);
}

bool hd_gpu_is_bytes(const struct maker *m, const struct product *p) {
    const struct hd_expr_node *k = &m->f->node[m->f->stmt[p->sum].value];
    return is_byte(m->f, k->arg[0]) && is_byte(m->f, k->arg[1]);
}

int hd_gpu_least(int64_t a, int64_t b) {
    return (int)(a < b ? a : b);
}

/* How far an index moves when variable v moves by one. */
int64_t hd_gpu_step_of(const struct hd_expr *f, int node, int v) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_VAR) return k->i == v;
    if (k->n != 2) return 0;
    int64_t a = hd_gpu_step_of(f, k->arg[0], v), b = hd_gpu_step_of(f, k->arg[1], v);
    if (k->op == HD_EXPR_mul)
        return a ? a * f->node[k->arg[1]].i : b ? b * f->node[k->arg[0]].i : 0;
    return a + b; /* of a difference at most */
}

/* Elements of an access that a tile with this depth reads: each index is a sum of variables times
 * constants, so a dimension spans the sum of what they move. */
int64_t hd_gpu_elements(const struct maker *m, const struct product *p, int access,
                        const struct hd_gpu_tile *t) {
    const struct hd_expr_stmt *s = &m->f->stmt[p->sum];
    const struct hd_expr_node *x = &m->f->node[access];
    int64_t n = 1;
    for (int d = 0; d < x->n; d++) {
        int64_t size = m->f->tensor[x->i].dim[d].value, span = 1;
        for (int v = 0; v < s->n_vars; v++) {
            int64_t run = v == p->i           ? t->threads[0] * t->each[0]
                          : v == p->j         ? t->threads[1] * t->each[1]
                          : v == p->k         ? t->depth
                          : s->var[v].reduced ? s->var[v].extent
                                              : 1;
            span += (run - 1) * hd_gpu_step_of(m->f, x->arg[d], v);
        }
        n *= span < 1 || span > 2 * size + 16 ? 2 * size + 16 : span;
    }
    return n;
}

/* Sums of four products of bytes: the depth is a multiple of four, also when the range is not. */
static void choose_dot(const struct maker *m, const struct product *p, struct hd_gpu_tile *t) {
    bool a = m->f->tensor[m->f->node[p->a].i].type == HD_U8;
    bool b = m->f->tensor[m->f->node[p->b].i].type == HD_U8;
    t->k[0] = hd_gpu_dimension_with(m->f, p->a, p->k);
    t->k[1] = hd_gpu_dimension_with(m->f, p->b, p->k);
    if (!m->limits->dot8 || !t->depth || !hd_gpu_is_bytes(m, p) || t->k[0] < 0 || t->k[1] < 0)
        return;
    t->dot = a && b ? "dp4a_uu" : a || b ? "dp4a_us" : "dp4a";
    t->depth = (t->depth + 3) / 4 * 4;
}

static struct hd_gpu_tile choose(const struct maker *m, const struct product *p) {
    const struct hd_expr_stmt *s = &m->f->stmt[p->sum];
    int64_t n[2] = {s->var[p->i].extent, s->var[p->j].extent};
    struct hd_gpu_tile t = {{1, 1}, {1, 1}, 0, !m->limits->is_cpu, NULL, {-1, -1}};
    for (int d = 0; d < 2; d++) {
        if (m->limits->is_cpu) {
            t.each[d] = hd_gpu_least(n[d], d ? 16 : 4);
            continue;
        }
        t.each[d] = n[d] >= 64 ? 4 : n[d] >= 16 ? 2 : 1;
        t.threads[d] = hd_gpu_least((n[d] + t.each[d] - 1) / t.each[d], 16);
    }
    if (m->limits->is_cpu) return t;
    size_t bytes = hd_dtype_bytes((hd_dtype)m->f->tensor[m->f->node[p->a].i].type) +
                   hd_dtype_bytes((hd_dtype)m->f->tensor[m->f->node[p->b].i].type);
    for (t.depth = hd_gpu_least(s->var[p->k].extent, 16); t.depth > 1; t.depth /= 2) {
        int64_t most = hd_gpu_elements(m, p, p->a, &t), other = hd_gpu_elements(m, p, p->b, &t);
        if ((size_t)(most > other ? most : other) * bytes <= m->limits->local_bytes / 2) {
            choose_dot(m, p, &t);
            return t;
        }
    }
    t.depth = 0; /* it does not fit: both are read as they lie */
    return t;
}

static struct hd_gpu_tile chosen(const struct maker *m, const struct product *p) {
    const struct hd_gpu_choice *c = m->choice;
    struct hd_gpu_tile t = {{c->threads[0], c->threads[1]},
                            {c->each[0], c->each[1]},
                            c->depth,
                            c->unroll,
                            NULL,
                            {-1, -1}};
    choose_dot(m, p, &t);
    return t;
}

/* The reader's loops: blocks of tiles, threads, elements of a thread; the rest is block.z. */
static void tile_reader(const struct maker *m, const struct product *p,
                        const struct hd_gpu_tile *t) {
    const struct hd_expr_stmt *y = &m->f->stmt[p->reader];
    const char *name = hd_gpu_name_of(m, p->reader), *rest[HD_EXPR_RANK] = {0};
    int n_rest = 0, dims[2] = {p->di, p->dj};
    for (int d = 0; d < 2; d++) {
        const char *v = y->var[y->lhs[dims[d]]].name;
        fprintf(m->out, "split %s %s %d hd_b%d hd_in%d\n", name, v, t->threads[d] * t->each[d], d,
                d);
        fprintf(m->out, "split %s hd_in%d %d hd_t%d hd_e%d\n", name, d, t->each[d], d, d);
    }
    for (int d = 0; d < y->rank; d++)
        if (d != p->di && d != p->dj) rest[n_rest++] = y->var[y->lhs[d]].name;
    hd_gpu_reorder_reader(m, name, n_rest, rest, "hd_b0 hd_b1 hd_t0 hd_t1 hd_e0 hd_e1");
    fprintf(m->out,
            "bind %s hd_b0 block.y\nbind %s hd_b1 block.x\nbind %s hd_t0 thread.y\n"
            "bind %s hd_t1 thread.x\n",
            name, name, name, name);
}

/* The sum's loops: reduced ones outside, the thread's elements inside. */
static void tile_sum(const struct maker *m, const struct product *p, const struct hd_gpu_tile *t) {
    const struct hd_expr *f = m->f;
    const struct hd_expr_stmt *s = &f->stmt[p->sum];
    const char *name = hd_gpu_name_of(m, p->sum);
    fprintf(m->out, "compute_at %s %s hd_t1\n", name, hd_gpu_name_of(m, p->reader));
    if (t->depth)
        fprintf(m->out, "split %s %s %d hd_ko hd_ki\n", name, s->var[p->k].name, t->depth);
    if (t->dot) fprintf(m->out, "split %s hd_ki 4 hd_kq hd_k4\n", name);
    fprintf(m->out, "reorder %s", name);
    if (t->depth) fputs(" hd_ko", m->out);
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].reduced && (v != p->k || !t->depth)) fprintf(m->out, " %s", s->var[v].name);
    if (t->depth) fputs(t->dot ? " hd_kq" : " hd_ki", m->out);
    for (int d = 0; d < s->rank; d++)
        if (s->lhs[d] != p->i && s->lhs[d] != p->j) fprintf(m->out, " %s", s->var[s->lhs[d]].name);
    fprintf(m->out, " %s %s%s\n", s->var[p->i].name, s->var[p->j].name, t->dot ? " hd_k4" : "");
    if (t->unroll)
        fprintf(m->out, "unroll %s %s\nunroll %s %s\n", name, s->var[p->i].name, name,
                s->var[p->j].name);
    const char *a = f->tensor[f->node[p->a].i].name, *b = f->tensor[f->node[p->b].i].name;
    if (t->depth && !t->dot)
        fprintf(m->out, "share %s %s hd_ko hd_sa\nshare %s %s hd_ko hd_sb\n", name, a, name, b);
    if (t->dot)
        fprintf(m->out,
                "share_last %s %s hd_ko %d hd_sa\nshare_last %s %s hd_ko %d hd_sb\n"
                "tensorize %s hd_k4 %s\n",
                name, a, t->k[0], name, b, t->k[1], name, t->dot);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* What is computed inside statement s, in its innermost loop of blocks and threads. */
static void inside(const struct maker *m, int s) {
    for (int k = 0; k < s; k++)
        if (m->f->stmt[k].reduce != HD_REDUCE_NONE && hd_expr_reader(m->f, k) == s)
            fprintf(m->out, "compute_at %s %s hd_thread\n", hd_gpu_name_of(m, k),
                    hd_gpu_name_of(m, s));
}

bool hd_gpu_find_product(const struct maker *m, int s, struct product *out) {
    for (int k = 0; k < s; k++) {
        if (!is_product(m, k, out) || out->reader != s) continue;
        for (int other = 0; other < s; other++) /* one sum alone */
            if (other != k && m->f->stmt[other].reduce != HD_REDUCE_NONE &&
                hd_expr_reader(m->f, other) == s)
                return false;
        return true;
    }
    return false;
}

static bool tiled(const struct maker *m, int s) {
    bool any = !m->choice, tile = any || m->choice->form == HD_GPU_TILE;
    struct product p;
    struct hd_gpu_gemm g;
    if (!any && m->choice->form == HD_GPU_FLAT) return false;
    if ((any || m->choice->form == HD_GPU_GEMM) && hd_gpu_find_gemm(m, s, &g) &&
        hd_gpu_schedule_gemm(m, &g))
        return true;
    if (!hd_gpu_find_product(m, s, &p)) return false;
    if ((any || m->choice->form == HD_GPU_WARPS) && hd_gpu_schedule_mma(m, &p)) return true;
    if (!tile) return false;
    struct hd_gpu_tile t = any ? choose(m, &p) : chosen(m, &p);
    tile_reader(m, &p, &t);
    tile_sum(m, &p, &t);
    return true;
}

const char *hd_gpu_schedule(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l,
                            const struct hd_gpu_choice *choice) {
    char *text = NULL;
    size_t bytes;
    struct maker m = {f, l, choice, open_memstream(&text, &bytes)};
    bool fits = !choice || choice->form == HD_GPU_FLAT;
    HD_ASSERT(m.out);
    for (int s = 0; s < (int)f->n_stmts; s++) {
        bool sum = f->stmt[s].reduce != HD_REDUCE_NONE;
        int reader = sum ? hd_expr_reader(f, s) : -1;
        bool inside_reader =
            reader >= 0 && f->stmt[reader].rank && !hd_gpu_beside_gemm(&m, s, reader);
        if (inside_reader || !f->stmt[s].rank) continue;
        if (tiled(&m, s)) {
            fits = true;
            continue;
        }
        flat(&m, s);
        inside(&m, s);
    }
    fclose(m.out);
    const char *kept = fits ? hd_strdup(a, text) : NULL;
    free(text);
    return kept;
}
