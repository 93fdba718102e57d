/* Loops that are an intrinsic, as text. In CUDA C++ it is the processor's instruction; elsewhere a
 * warp's threads share the elements of the result among them.
 *
 * A matrix instruction of a warp has its sums in registers ("fragments") that only it can name: one
 * for each iteration of the unrolled loops around it. They go to the buffer of the sums where the
 * barrier stands, behind which other threads read. */
#include <string.h>

#include "compiler/loop/emit.h"

enum { WARP = 32 };

struct operand {
    int access; /* node */
    bool is_unsigned;
};

static const struct hd_loop_stmt *leaf_of(const struct hd_loop_stmt *s) {
    while (s->kind == HD_LOOP_FOR) s = s->body;
    return s;
}

/* i32(a) * i32(b) */
static struct operand operand(const struct hd_emitter *e, const struct hd_loop_stmt *leaf, int i) {
    const struct hd_expr_node *n = e->n->f->node;
    struct operand o = {.access = n[n[leaf->value].arg[i]].arg[0]};
    o.is_unsigned = n[o.access].type == HD_U8;
    return o;
}

/* Four bytes that lie together, as an int. */
static void word(struct hd_emitter *e, const struct operand *o) {
    const struct hd_expr_node *k = &e->n->f->node[o->access];
    fprintf(e->out, "*(const int *)&");
    hd_emit_element(e, (int)k->i, k->n, k->arg);
}

static const char *types_of(const struct operand *a, const struct operand *b) {
    return a->is_unsigned ? b->is_unsigned ? "uu" : "us" : b->is_unsigned ? "su" : "ss";
}

static void dp4a(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *leaf = leaf_of(s);
    struct operand a = operand(e, leaf, 0), b = operand(e, leaf, 1);
    if (!a.is_unsigned && b.is_unsigned) {
        struct operand swap = a;
        a = b;
        b = swap;
    }
    fprintf(e->out, "{ const int i%d = 0; ", s->loop);
    hd_emit_element(e, leaf->tensor, leaf->n_index, leaf->index);
    fprintf(e->out, " = hd_dp4a_%s(", types_of(&a, &b));
    word(e, &a);
    fputs(", ", e->out);
    word(e, &b);
    fputs(", ", e->out);
    hd_emit_element(e, leaf->tensor, leaf->n_index, leaf->index);
    fputs("); }\n", e->out);
}

/* ---- a warp's --------------------------------------------------------------------------------*/

static void lane(struct hd_emitter *e, const struct hd_kernel_call *c) {
    const char *const *t = e->d->thread;
    fprintf(e->out, "const int lane = (%s + %d * %s) %% %d;\n", t[0], c->block[0], t[1], WARP);
}

/* Threads share the elements of the loops that are not reduced. */
static void dealt(struct hd_emitter *e, const struct hd_loop_stmt *s,
                  const struct hd_kernel_call *c) {
    int rows = s->loop, columns = s->body->loop;
    int n = (int)e->n->loop[columns].extent, all = n * (int)e->n->loop[rows].extent;
    fputs("{ ", e->out);
    lane(e, c);
    fprintf(e->out,
            "for (int hd_e = lane; hd_e < %d; hd_e += %d) {\nconst int i%d = hd_e / %d, i%d = hd_e "
            "%% %d;\n",
            all, WARP, rows, n, columns, n);
    e->list(e, s->body->body, c);
    fputs("} }\n", e->out);
}

/* The number of the fragment, which is that of the unrolled loops' iteration. */
static void fragment(struct hd_emitter *e, int tensor) {
    int n = 1;
    fprintf(e->out, "f%d[", tensor);
    for (int i = 0; i < e->n_unrolled; i++) {
        int64_t step = 1;
        for (int k = i + 1; k < e->n_unrolled; k++) step *= e->n->loop[e->unrolled[k]].extent;
        fprintf(e->out, "i%d*%lld + ", e->unrolled[i], (long long)step);
        n *= (int)e->n->loop[e->unrolled[i]].extent;
    }
    fputs("0]", e->out);
    e->fragments[tensor] = n;
}

/* Register r of a lane is element (lane/4 + 8*(r/2), lane%4*2 + r%2). */
static void to_buffer(struct hd_emitter *e, const struct hd_loop_stmt *s,
                      const struct hd_kernel_call *c) {
    const struct hd_loop_stmt *leaf = leaf_of(s);
    fputs("{ ", e->out);
    lane(e, c);
    for (int r = 0; r < 4; r++) {
        fprintf(e->out, "{ const int i%d = lane / 4 + %d, i%d = lane %% 4 * 2 + %d; ", s->loop,
                r / 2 * 8, s->body->loop, r % 2);
        hd_emit_element(e, leaf->tensor, leaf->n_index, leaf->index);
        fputs(" = ", e->out);
        fragment(e, leaf->tensor);
        fprintf(e->out, "[%d]; }\n", r);
    }
    fputs("}\n", e->out);
}

static void first(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *leaf = leaf_of(s);
    for (int r = 0; r < 4; r++) {
        fragment(e, leaf->tensor);
        fprintf(e->out, "[%d] = 0;\n", r);
    }
}

/* Registers of a are bytes k, k + 1, .. of rows lane/4 and lane/4 + 8, then those 16 further; of b
 * the same of column lane/4. k is lane%4*4. */
static void product(struct hd_emitter *e, const struct hd_loop_stmt *s,
                    const struct hd_kernel_call *c) {
    const struct hd_loop_stmt *leaf = leaf_of(s);
    int rows = s->loop, columns = s->body->loop, k = s->body->body->loop;
    struct operand a = operand(e, leaf, 0), b = operand(e, leaf, 1);
    if (hd_expr_uses(e->n->f, a.access, columns)) {
        struct operand swap = a;
        a = b;
        b = swap;
    }
    fputs("{ int a[4], b[2]; ", e->out);
    lane(e, c);
    for (int r = 0; r < 4; r++) {
        fprintf(e->out, "{ const int i%d = lane / 4 + %d, i%d = lane %% 4 * 4 + %d; a[%d] = ", rows,
                r % 2 * 8, k, r / 2 * 16, r);
        word(e, &a);
        fputs("; }\n", e->out);
    }
    for (int r = 0; r < 2; r++) {
        fprintf(e->out, "{ const int i%d = lane / 4, i%d = lane %% 4 * 4 + %d; b[%d] = ", columns,
                k, r * 16, r);
        word(e, &b);
        fputs("; }\n", e->out);
    }
    fprintf(e->out, "hd_mma_%s(", types_of(&a, &b));
    fragment(e, leaf->tensor);
    fputs(", a, b); }\n", e->out);
}

bool hd_emit_intrinsic(struct hd_emitter *e, const struct hd_loop_stmt *s,
                       const struct hd_kernel_call *c) {
    const char *name = e->n->loop[s->loop].intrinsic;
    bool update = leaf_of(s)->kind == HD_LOOP_UPDATE;
    if (!strncmp(name, "dp4a", 4)) {
        if (!e->d->intrinsics) return false;
        dp4a(e, s);
        return true;
    }
    if (strncmp(name, "mma_m16n8k32", 12)) return false;
    if (!e->d->intrinsics)
        dealt(e, s, c);
    else if (update)
        product(e, s, c);
    else if (e->storing)
        to_buffer(e, s, c);
    else
        first(e, s);
    return true;
}

void hd_emit_fragments(struct hd_emitter *e) {
    for (int t = 0; t < (int)e->n->f->n_tensors; t++)
        if (e->fragments[t]) fprintf(e->out, "  int f%d[%d][4];\n", t, e->fragments[t]);
}
