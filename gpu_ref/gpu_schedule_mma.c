/* Schedules for sums of products of bytes on matrix instructions: an implicit product of matrices.
 *
 * Rows are what moves the first operand alone (output channels), columns what moves the second
 * (pixels of a row, and some rows of the image). A block computes rows x columns; each of its warps
 * has 16 rows and all columns. 32 elements of the reduced range at a time lie in local memory, and
 * last in it, so that a register is four neighbours. Ragged edges are computed for nobody. */
#include <string.h>

#include "gpu_ref/gpu_schedule_int.h"

enum {
    ROWS = HD_GPU_MMA_ROWS,
    COLUMNS = HD_GPU_MMA_COLUMNS,
    LANES = HD_GPU_WARP,
    DEPTH = 32,
    LEAST_DEPTH = 16
};

struct mma {
    const struct maker *m;
    const struct product *p;
    int image;      /* a second variable that moves the second operand alone; -1 = none */
    int d_image;    /* the reader's dimension of it */
    int warps;      /* each has ROWS rows */
    int columns[2]; /* of variable j; of the image */
    int k[2];       /* dimension of each operand that the reduced variable moves */
};

static const struct hd_expr_stmt *sum_of(const struct mma *t) {
    return &t->m->f->stmt[t->p->sum];
}

/* The other variable of pixels: the largest. */
static int find_image(const struct mma *t) {
    const struct hd_expr_stmt *s = sum_of(t);
    int best = -1;
    for (int v = 0; v < s->n_vars; v++) {
        if (s->var[v].reduced || v == t->p->j || s->var[v].extent < 2) continue;
        if (!hd_expr_uses(t->m->f, t->p->b, v) || hd_expr_uses(t->m->f, t->p->a, v)) continue;
        if (best < 0 || s->var[v].extent > s->var[best].extent) best = v;
    }
    return best;
}

/* Elements of an access that a block reads of DEPTH of the reduced range. */
static size_t bytes_of(const struct mma *t, int access) {
    const struct hd_expr_stmt *s = sum_of(t);
    const struct hd_expr_node *x = &t->m->f->node[access];
    size_t n = 1;
    for (int d = 0; d < x->n; d++) {
        int64_t span = 1;
        for (int v = 0; v < s->n_vars; v++) {
            int64_t run = v == t->p->i        ? t->warps * ROWS
                          : v == t->p->j      ? t->columns[0]
                          : v == t->image     ? t->columns[1]
                          : v == t->p->k      ? DEPTH
                          : s->var[v].reduced ? s->var[v].extent
                                              : 1;
            span += (run - 1) * hd_gpu_step_of(t->m->f, x->arg[d], v);
        }
        if (span < 1 || span > 1 << 20) return (size_t)1 << 40;
        n *= (size_t)span;
    }
    return n;
}

static size_t local_bytes(const struct mma *t) {
    size_t sums = (size_t)(t->warps * ROWS * t->columns[0] * t->columns[1]) * sizeof(int32_t);
    return sums + bytes_of(t, t->p->a) + bytes_of(t, t->p->b);
}

/* What is asked for, when a warp can have it. */
static bool chosen(struct mma *t) {
    const struct hd_gpu_choice *c = t->m->choice;
    t->warps = c->threads[0];
    t->columns[0] = c->each[0], t->columns[1] = c->each[1];
    return t->columns[0] % COLUMNS == 0 && LANES % t->columns[0] == 0 &&
           (t->image >= 0 || t->columns[1] == 1) && t->warps * LANES <= t->m->limits->max_threads &&
           local_bytes(t) <= t->m->limits->local_bytes;
}

static bool choose(struct mma *t) {
    const struct hd_expr_stmt *s = sum_of(t);
    int64_t rows = s->var[t->p->i].extent, columns = s->var[t->p->j].extent;
    int64_t image = t->image < 0 ? 1 : s->var[t->image].extent;
    t->warps = hd_gpu_least((rows + ROWS - 1) / ROWS, 4);
    t->columns[0] = columns > 2 * COLUMNS ? 4 * COLUMNS : columns > COLUMNS ? 2 * COLUMNS : COLUMNS;
    t->columns[1] = hd_gpu_least(image, 64 / t->columns[0]);
    while (local_bytes(t) > t->m->limits->local_bytes) {
        if (t->columns[1] > 1)
            t->columns[1] /= 2;
        else if (t->warps > 1)
            t->warps /= 2;
        else if (t->columns[0] > COLUMNS)
            t->columns[0] /= 2;
        else
            return false;
    }
    return t->warps * LANES <= t->m->limits->max_threads;
}

/* Blocks; elements of a thread; threads: in x columns, in y and z rows, a warp for each z. */
static void reader(const struct mma *t) {
    FILE *out = t->m->out;
    const struct hd_expr_stmt *y = &t->m->f->stmt[t->p->reader];
    const char *name = hd_gpu_name_of(t->m, t->p->reader), *rest[HD_EXPR_RANK] = {0};
    int n_rest = 0, across = LANES / t->columns[0];
    fprintf(out, "split %s %s %d hd_b0 hd_r\n", name, y->var[y->lhs[t->p->di]].name,
            t->warps * ROWS);
    fprintf(out, "split %s hd_r %d hd_e0 hd_w\nsplit %s hd_w %d hd_t2 hd_t1\n", name,
            t->warps * across, name, across);
    fprintf(out, "split %s %s %d hd_b1 hd_t0\n", name, y->var[y->lhs[t->p->dj]].name,
            t->columns[0]);
    for (int d = 0; d < y->rank; d++)
        if (d != t->p->di && d != t->p->dj && d != t->d_image)
            rest[n_rest++] = y->var[y->lhs[d]].name;
    if (t->image >= 0) {
        fprintf(out, "split %s %s %d hd_b2 hd_e1\n", name, y->var[y->lhs[t->d_image]].name,
                t->columns[1]);
        rest[n_rest++] = "hd_b2";
    }
    hd_gpu_reorder_reader(t->m, name, n_rest, rest,
                          t->image < 0 ? "hd_b0 hd_b1 hd_e0 hd_t2 hd_t1 hd_t0"
                                       : "hd_b0 hd_b1 hd_e0 hd_e1 hd_t2 hd_t1 hd_t0");
    fprintf(out,
            "bind %s hd_b0 block.y\nbind %s hd_b1 block.x\nbind %s hd_t2 thread.z\n"
            "bind %s hd_t1 thread.y\nbind %s hd_t0 thread.x\n",
            name, name, name, name, name);
}

static const char *instruction(const struct mma *t) {
    bool a = t->m->f->tensor[t->m->f->node[t->p->a].i].type == HD_U8;
    bool b = t->m->f->tensor[t->m->f->node[t->p->b].i].type == HD_U8;
    return a ? b ? "mma_m16n8k32_uu" : "mma_m16n8k32_us" : b ? "mma_m16n8k32_su" : "mma_m16n8k32";
}

static void sum(const struct mma *t) {
    FILE *out = t->m->out;
    const struct hd_expr *f = t->m->f;
    const struct hd_expr_stmt *s = sum_of(t);
    const char *name = hd_gpu_name_of(t->m, t->p->sum);
    const char *image = t->image < 0 ? NULL : s->var[t->image].name;
    fprintf(out, "compute_at %s %s hd_b1\n", name, hd_gpu_name_of(t->m, t->p->reader));
    fprintf(out, "split %s %s %d hd_ko hd_ki\n", name, s->var[t->p->k].name, DEPTH);
    fprintf(out, "split %s %s %d hd_mt hd_m\n", name, s->var[t->p->i].name, ROWS);
    fprintf(out, "split %s %s %d hd_nt hd_n\nreorder %s", name, s->var[t->p->j].name, COLUMNS,
            name);
    for (int v = 0; v < s->n_vars; v++)
        if (!s->var[v].reduced && v != t->p->i && v != t->p->j && v != t->image)
            fprintf(out, " %s", s->var[v].name);
    fputs(" hd_ko", out);
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].reduced && v != t->p->k) fprintf(out, " %s", s->var[v].name);
    fprintf(out, " hd_mt%s%s hd_nt hd_m hd_n hd_ki\n", image ? " " : "", image ? image : "");
    fprintf(out, "bind %s hd_mt thread.z\nunroll %s hd_nt\n", name, name);
    if (image) fprintf(out, "unroll %s %s\n", name, image);
    fprintf(out, "share_last %s %s hd_ko %d hd_sa\n", name, f->tensor[f->node[t->p->a].i].name,
            t->k[0]);
    fprintf(out, "share_last %s %s hd_ko %d hd_sb\n", name, f->tensor[f->node[t->p->b].i].name,
            t->k[1]);
    fprintf(out, "tensorize %s hd_m %s\n", name, instruction(t));
}

bool hd_gpu_schedule_mma(const struct maker *m, const struct product *p) {
    struct mma t = {.m = m, .p = p, .d_image = -1};
    if (!m->limits->mma || !hd_gpu_is_bytes(m, p) || sum_of(&t)->var[p->k].extent < LEAST_DEPTH)
        return false;
    t.k[0] = hd_gpu_dimension_with(m->f, p->a, p->k);
    t.k[1] = hd_gpu_dimension_with(m->f, p->b, p->k);
    t.image = find_image(&t);
    if (t.image >= 0) t.d_image = hd_gpu_dimension_of(m, p, t.image);
    if (t.k[0] < 0 || t.k[1] < 0 || !(m->choice ? chosen(&t) : choose(&t))) return false;
    reader(&t);
    sum(&t);
    return true;
}
