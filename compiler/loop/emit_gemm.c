/* A block's product of bytes as text. In CUDA C++ its warps have 16 rows and all columns each, in
 * registers ("fragments"), on mma.m16n8k32; elsewhere the threads of the block share the elements
 * among them.
 *
 * 64 of the reduced range at a time: a lane reads 16 bytes of a row, which are registers of two
 * instructions. Which element of the range is which of an instruction does not matter, as long as
 * it is the same for both operands. Warps that share the rows have every n-th 64 each, and add to
 * the sums in local memory. With stages, 64 of the range of all rows and columns are copied to
 * local memory while those before are multiplied. */
#include <string.h>

#include "compiler/loop/emit.h"

enum { WARP = 32, STEP = 64, PIECE = 16, ROWS = 16, COLUMNS = 8, MOST_INNER = 3 };

struct operand {
    int access; /* node */
    int pad;    /* the byte that stands outside of the tensor */
    bool is_unsigned;
};

struct gemm {
    struct hd_emitter *e;
    int loop[MOST_INNER], n_loops; /* rows; of columns from the outermost */
    int reduced[HD_LOOP_DEPTH], n_reduced, depth;
    const struct hd_loop_stmt *first, *leaf;
    struct operand w, x; /* of rows, of columns */
    int threads, row_warps, each_rows, parts, stages;
    int rows, columns; /* of the block; one column, or whole tiles of them */
    int tiles;         /* of columns */
    int64_t depth_steps, steps;
};

static const struct hd_loop *loop_of(const struct gemm *g, int loop) {
    return &g->e->n->loop[loop];
}

static struct operand operand(const struct hd_emitter *e, int cast) {
    const struct hd_expr_node *n = e->n->f->node;
    struct operand o = {.access = n[cast].arg[0]};
    if (n[o.access].op == HD_EXPR_PAD) {
        o.pad = (int)n[n[o.access].arg[1]].i & 0xff;
        o.access = n[o.access].arg[0];
    }
    o.is_unsigned = n[o.access].type == HD_U8;
    return o;
}

/* Guards are not looked at: elements behind an edge are computed for nobody, and loads are inside
 * their tensors. */
static void walk(struct gemm *g, const struct hd_loop_stmt *s) {
    for (; s; s = s->next) {
        if (s->kind == HD_LOOP_SET) g->first = s;
        if (s->kind == HD_LOOP_UPDATE) g->leaf = s;
        if (s->kind == HD_LOOP_FOR && loop_of(g, s->loop)->reduced)
            g->reduced[g->n_reduced++] = s->loop;
        else if (s->kind == HD_LOOP_FOR)
            g->loop[g->n_loops++] = s->loop;
        if (s->kind == HD_LOOP_FOR || s->kind == HD_LOOP_IF) walk(g, s->body);
    }
}

static void look(struct gemm *g, const struct hd_loop_stmt *s, const struct hd_kernel_call *c) {
    struct hd_loop_stmt only = *s;
    only.next = NULL;
    walk(g, &only);
    const struct hd_expr_node *n = g->e->n->f->node, *mul = &n[g->leaf->value];
    g->w = operand(g->e, mul->arg[0]), g->x = operand(g->e, mul->arg[1]);
    if (!hd_expr_uses(g->e->n->f, g->w.access, s->loop)) {
        struct operand swap = g->w;
        g->w = g->x, g->x = swap;
    }
    const struct hd_expr_node *a = &n[g->w.access];
    g->depth = (int)n[a->arg[a->n - 1]].i;
    g->threads = c->block[0] * c->block[1] * c->block[2];
    g->rows = (int)loop_of(g, s->loop)->extent;
    g->parts = loop_of(g, s->loop)->parts, g->stages = loop_of(g, s->loop)->stages;
    g->columns = 1;
    for (int i = 1; i < g->n_loops; i++) g->columns *= (int)loop_of(g, g->loop[i])->extent;
    g->tiles = (g->columns + COLUMNS - 1) / COLUMNS;
    g->row_warps = g->threads / WARP / g->parts;
    HD_ASSERT(g->threads % (WARP * g->parts) == 0 && g->rows % (ROWS * g->row_warps) == 0);
    g->each_rows = g->rows / ROWS / g->row_warps;
    g->depth_steps = (loop_of(g, g->depth)->extent + STEP - 1) / STEP;
    g->steps = g->depth_steps;
    for (int i = 0; i < g->n_reduced; i++)
        if (g->reduced[i] != g->depth) g->steps *= loop_of(g, g->reduced[i])->extent;
}

/* ---- elements ------------------------------------------------------------------------------- */

/* Least and largest value of an index; false = not known. */
static bool range(const struct gemm *g, int node, int64_t *lo, int64_t *hi) {
    const struct hd_expr_node *k = &g->e->n->f->node[node];
    int64_t a[2], b[2];
    *lo = *hi = k->i;
    if (k->op == HD_EXPR_INT) return true;
    if (k->op == HD_EXPR_VAR) {
        bool ragged = k->i == g->depth && loop_of(g, g->depth)->extent % STEP;
        *lo = 0, *hi = ragged ? g->depth_steps * STEP - 1 : loop_of(g, (int)k->i)->extent - 1;
        return true;
    }
    if (k->n != 2 || !range(g, k->arg[0], &a[0], &a[1]) || !range(g, k->arg[1], &b[0], &b[1]))
        return false;
    if (k->op == HD_EXPR_add) *lo = a[0] + b[0], *hi = a[1] + b[1];
    if (k->op == HD_EXPR_sub) *lo = a[0] - b[1], *hi = a[1] - b[0];
    if (k->op == HD_EXPR_mul) *lo = a[0] * b[0], *hi = a[1] * b[1];
    return k->op == HD_EXPR_add || k->op == HD_EXPR_sub ||
           (k->op == HD_EXPR_mul && a[0] >= 0 && b[0] >= 0);
}

/* The access is inside its tensor: a condition as text, "1" when it always is. */
static void inside(const struct gemm *g, const struct operand *o) {
    const struct hd_expr_node *k = &g->e->n->f->node[o->access];
    FILE *out = g->e->out;
    bool any = false;
    for (int d = 0; d < k->n; d++) {
        int64_t lo, hi, size = g->e->n->f->tensor[k->i].dim[d].value;
        if (range(g, k->arg[d], &lo, &hi) && lo >= 0 && hi < size) continue;
        fprintf(out, "%s(uint)(", any ? " && " : "");
        hd_emit_index(g->e, k->arg[d]);
        fprintf(out, ") < %lldu", (long long)size);
        any = true;
    }
    if (!any) fputc('1', out);
}

static void address(const struct gemm *g, const struct operand *o) {
    const struct hd_expr_node *k = &g->e->n->f->node[o->access];
    fputs("(const hd_16 *)&", g->e->out);
    hd_emit_element(g->e, (int)k->i, k->n, k->arg);
}

/* Variables of the columns' loops, from a column's number. */
static void column(const struct gemm *g, const char *number) {
    int inner = 1;
    for (int i = g->n_loops - 1; i > 0; i--) {
        int n = (int)loop_of(g, g->loop[i])->extent;
        fprintf(g->e->out, "const int i%d = (%s) / %d %% %d; ", g->loop[i], number, inner, n);
        inner *= n;
    }
}

/* Variables of the reduced loops but the depth, and hd_k, its first element, from a step's number.
 */
static void reduced(const struct gemm *g, const char *step) {
    int64_t inner = g->depth_steps;
    fprintf(g->e->out, "const int hd_k = (%s) %% %lld * %d; ", step, (long long)inner, STEP);
    for (int i = g->n_reduced - 1; i >= 0; i--) {
        int loop = g->reduced[i];
        if (loop == g->depth) continue;
        int64_t n = loop_of(g, loop)->extent;
        fprintf(g->e->out, "const int i%d = (%s) / %lld %% %lld; ", loop, step, (long long)inner,
                (long long)n);
        inner *= n;
    }
}

static const char *product_of(const struct gemm *g) {
    return g->w.is_unsigned ? g->x.is_unsigned ? "uu" : "us" : g->x.is_unsigned ? "su" : "ss";
}

/* ---- on tensor cores ------------------------------------------------------------------------ */

static void products(const struct gemm *g) {
    fprintf(g->e->out,
            "\n#pragma unroll\nfor (int i = 0; i < %d; i++) {\n"
            "const int lo[4] = {a[i][0].w[0], a[i][1].w[0], a[i][0].w[1], a[i][1].w[1]};\n"
            "const int hi[4] = {a[i][0].w[2], a[i][1].w[2], a[i][0].w[3], a[i][1].w[3]};\n"
            "hd_mma_%s(hd_f[i][j], lo, b.w);\nhd_mma_%s(hd_f[i][j], hi, b.w + 2);\n}\n",
            g->each_rows, product_of(g), product_of(g));
}

/* Every part-th step, from memory. */
static void direct(const struct gemm *g) {
    FILE *out = g->e->out;
    fprintf(out, "for (int hd_s = part; hd_s < %lld; hd_s += %d) {\n", (long long)g->steps,
            g->parts);
    reduced(g, "hd_s");
    fprintf(out, "const int i%d = hd_k + lane %% 4 * %d;\nhd_16 a[%d][2];\n", g->depth, PIECE,
            g->each_rows);
    fprintf(out,
            "\n#pragma unroll\nfor (int r = 0; r < %d; r++) {\n"
            "const int i%d = (row * %d + r / 2) * %d + lane / 4 + r %% 2 * 8;\na[r / 2][r %% 2] = ",
            2 * g->each_rows, g->loop[0], g->each_rows, ROWS);
    inside(g, &g->w);
    fputs(" ? *", out);
    address(g, &g->w);
    fprintf(out, " : hd_fill16(%d);\n}\n", g->w.pad);
    fprintf(out, "\n#pragma unroll\nfor (int j = 0; j < %d; j++) {\n", g->tiles);
    column(g, "j * 8 + lane / 4");
    fputs("\nconst hd_16 b = ", out);
    inside(g, &g->x);
    fputs(" ? *", out);
    address(g, &g->x);
    fprintf(out, " : hd_fill16(%d);\n", g->x.pad);
    products(g);
    fputs("}\n}\n", out);
}

static void copies(const struct gemm *g, const struct operand *o, int n, int first) {
    FILE *out = g->e->out;
    fprintf(out, "\n#pragma unroll\nfor (int o = 0; o < %d; o++) {\nconst int e = o * %d + id;\n",
            (n * 4 + g->threads - 1) / g->threads, g->threads);
    if (n * 4 % g->threads) fprintf(out, "if (e < %d) {\n", n * 4);
    fprintf(out, "const int i%d = hd_k + e %% 4 * %d; ", g->depth, PIECE);
    if (first)
        column(g, "e / 4");
    else
        fprintf(out, "const int i%d = e / 4; ", g->loop[0]);
    fputs("\nhd_16 *to = &hd_stage[hd_to + ", out);
    fprintf(out, "%d + e];\nif (", first * 4);
    inside(g, o);
    fputs(") hd_copy16(to, ", out);
    address(g, o);
    fprintf(out, "); else *to = hd_fill16(%d);\n}\n", o->pad);
    if (n * 4 % g->threads) fputs("}\n", out);
}

static void load(const struct gemm *g, const char *step) {
    fprintf(g->e->out, "if (%s < %lld) {\n", step, (long long)g->steps);
    reduced(g, step);
    fprintf(g->e->out, "const int hd_to = (%s) %% %d * %d;\n", step, g->stages,
            (g->rows + g->columns) * 4);
    copies(g, &g->w, g->rows, 0);
    copies(g, &g->x, g->columns, g->rows);
    fputs("}\nhd_copy_commit();\n", g->e->out);
}

/* Copies of a step are asked for stages - 1 steps before it is multiplied. */
static void staged(const struct gemm *g) {
    FILE *out = g->e->out;
    fprintf(out, "for (int hd_s = 0; hd_s < %d; hd_s++) {\n", g->stages - 1);
    load(g, "hd_s");
    fprintf(out, "}\nfor (int hd_s = 0; hd_s < %lld; hd_s++) {\nhd_copy_wait<%d>();\n%s;\n",
            (long long)g->steps, g->stages - 2, g->e->d->barrier);
    char ahead[32];
    snprintf(ahead, sizeof ahead, "hd_s + %d", g->stages - 1);
    load(g, ahead);
    fprintf(out,
            "const hd_16 *from = &hd_stage[hd_s %% %d * %d + lane %% 4];\nhd_16 a[%d][2];\n"
            "\n#pragma unroll\nfor (int r = 0; r < %d; r++)\n"
            "a[r / 2][r %% 2] = from[((row * %d + r / 2) * %d + lane / 4 + r %% 2 * 8) * 4];\n"
            "\n#pragma unroll\nfor (int j = 0; j < %d; j++) {\n"
            "const hd_16 b = from[(%d + j * 8 + lane / 4) * 4];\n",
            g->stages, (g->rows + g->columns) * 4, g->each_rows, 2 * g->each_rows, g->each_rows,
            ROWS, g->tiles, g->rows);
    products(g);
    fprintf(out, "}\n}\nhd_copy_wait<0>();\n%s;\n", g->e->d->barrier);
}

/* Register r of a lane is element (lane/4 + 8*(r/2), lane%4*2 + r%2). */
static void to_sums(const struct gemm *g) {
    FILE *out = g->e->out;
    fprintf(out,
            "\n#pragma unroll\nfor (int i = 0; i < %d; i++) {\n\n#pragma unroll\n"
            "for (int j = 0; j < %d; j++) {\n\n#pragma unroll\nfor (int r = 0; r < 4; r++) {\n"
            "const int i%d = (row * %d + i) * %d + lane / 4 + r / 2 * 8; ",
            g->each_rows, g->tiles, g->loop[0], g->each_rows, ROWS);
    column(g, "j * 8 + lane % 4 * 2 + r % 2");
    fputc('\n', out);
    if (g->columns % COLUMNS) fputs("if (lane % 4 == 0 && r % 2 == 0) ", out);
    fputs(g->parts > 1 ? "atomicAdd(&" : "", out);
    hd_emit_element(g->e, g->leaf->tensor, g->leaf->n_index, g->leaf->index);
    fputs(g->parts > 1 ? ", hd_f[i][j][r]);\n}\n}\n}\n" : " = hd_f[i][j][r];\n}\n}\n}\n", out);
}

static void on_tensor_cores(const struct gemm *g, const struct hd_kernel_call *c) {
    FILE *out = g->e->out;
    const char *const *t = g->e->d->thread;
    const struct hd_expr_tensor *sums = &g->e->n->f->tensor[g->leaf->tensor];
    fprintf(out,
            "{ const int id = %s + %d * %s + %d * %s, lane = id %% %d, row = id / %d %% %d, part = "
            "id / %d;\n(void)part;\nint hd_f[%d][%d][4] = {};\n",
            t[0], c->block[0], t[1], c->block[0] * c->block[1], t[2], WARP, WARP, g->row_warps,
            WARP * g->row_warps, g->each_rows, g->tiles);
    if (g->parts > 1)
        fprintf(out, "for (int o = id; o < %lld; o += %d) t%d[o] = 0;\n%s;\n",
                (long long)hd_expr_elems(sums), g->threads, g->leaf->tensor, g->e->d->barrier);
    if (g->stages) {
        fprintf(out, "hd_16 *const hd_stage = (hd_16 *)t%d;\n", g->leaf->tensor);
        g->e->room[g->leaf->tensor] = g->stages * (g->rows + g->columns) * STEP;
        staged(g);
    } else {
        direct(g);
    }
    to_sums(g);
    fputs("}\n", out);
}

/* ---- elsewhere ------------------------------------------------------------------------------ */

static void dealt(const struct gemm *g, const struct hd_loop_stmt *s,
                  const struct hd_kernel_call *c) {
    FILE *out = g->e->out;
    const char *const *t = g->e->d->thread;
    fprintf(out, "for (int hd_e = %s + %d * (%s + %d * %s); hd_e < %d; hd_e += %d) {\n", t[0],
            c->block[0], t[1], c->block[1], t[2], g->rows * g->columns, g->threads);
    fprintf(out, "const int i%d = hd_e / %d; ", s->loop, g->columns);
    column(g, "hd_e");
    fputc('\n', out);
    for (int i = 0; i < g->n_loops; i++) s = s->body;
    g->e->list(g->e, s, c);
    fputs("}\n", out);
}

void hd_emit_gemm(struct hd_emitter *e, const struct hd_loop_stmt *s,
                  const struct hd_kernel_call *c) {
    struct gemm g = {.e = e};
    look(&g, s, c);
    if (e->d->intrinsics)
        on_tensor_cores(&g, c);
    else
        dealt(&g, s, c);
}
