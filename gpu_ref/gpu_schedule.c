/* Schedules for kernels: see gpu_schedule.h. */
#include "gpu_ref/gpu_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/expr/rewrite.h"

enum { THREADS = 64 };

struct maker {
    const struct hd_expr *f;
    const struct hd_gpu_limits *limits;
    FILE *out;
};

static const char *name_of(const struct maker *m, int s) {
    return m->f->tensor[m->f->stmt[s].tensor].name;
}

/* The variables of the left side become one loop, which is cut into blocks of threads. */
static void flat(const struct maker *m, int s) {
    const struct hd_expr_stmt *y = &m->f->stmt[s];
    const char *t = name_of(m, s), *loop = y->var[y->lhs[0]].name;
    int64_t n = 1;
    int threads = THREADS < m->limits->max_threads ? THREADS : m->limits->max_threads;
    for (int d = 0; d < y->rank; d++) n *= y->var[y->lhs[d]].extent;
    if (n < threads) threads = n < 1 ? 1 : (int)n;
    char fused[32];
    for (int d = 1; d < y->rank; d++) {
        fprintf(m->out, "fuse %s %s %s hd_f%d\n", t, loop, y->var[y->lhs[d]].name, d);
        snprintf(fused, sizeof fused, "hd_f%d", d);
        loop = fused;
    }
    fprintf(m->out, "split %s %s %d hd_block hd_thread\n", t, loop, threads);
    fprintf(m->out, "bind %s hd_block block.x\nbind %s hd_thread thread.x\n", t, t);
}

const char *hd_gpu_schedule(hd_arena *a, const struct hd_expr *f, const struct hd_gpu_limits *l) {
    char *text = NULL;
    size_t bytes;
    struct maker m = {f, l, open_memstream(&text, &bytes)};
    HD_ASSERT(m.out);
    for (int s = 0; s < (int)f->n_stmts; s++) {
        bool sum = f->stmt[s].reduce != HD_REDUCE_NONE;
        int reader = sum ? hd_expr_reader(f, s) : -1;
        if (reader >= 0 && f->stmt[reader].rank) continue;
        if (f->stmt[s].rank) flat(&m, s);
        for (int k = 0; k < s; k++)
            if (f->stmt[k].reduce != HD_REDUCE_NONE && hd_expr_reader(f, k) == s && f->stmt[s].rank)
                fprintf(m.out, "compute_at %s %s hd_thread\n", name_of(&m, k), name_of(&m, s));
    }
    fclose(m.out);
    const char *kept = hd_strdup(a, text);
    free(text);
    return kept;
}
