/* The loop IR as LLVM IR in text: see llvm.h. LLVM's passes make registers of buffers. */
#include <stdlib.h>
#include <string.h>

#include "compiler/loop/llvm_int.h"

enum { WIDEST = 64, STACK_BYTES = 1 << 18 };

/* ---- statements ----------------------------------------------------------------------------- */

static void list(struct hd_ir *e, const struct hd_loop_stmt *s);

static bool is_own(const struct hd_ir *e, int tensor) {
    return e->n->scope[tensor] >= 0;
}

/* A counted loop around what `body` prints. */
static void counted(struct hd_ir *e, int loop, const char *from, const char *to, int step,
                    void (*body)(struct hd_ir *, const struct hd_loop_stmt *),
                    const struct hd_loop_stmt *s) {
    int l = e->labels++;
    struct hd_ir_value i = hd_ir_temp(e, HD_I64, 1), c = hd_ir_temp(e, HD_BOOL, 1);
    fprintf(e->out, "  store i64 %s, ptr %%i%d, align 8\n  br label %%loop%d\nloop%d:\n", from,
            loop, l, l);
    fprintf(e->out, "  %s = load i64, ptr %%i%d, align 8\n", i.text, loop);
    fprintf(e->out, "  %s = icmp slt i64 %s, %s\n", c.text, i.text, to);
    fprintf(e->out, "  br i1 %s, label %%body%d, label %%done%d\nbody%d:\n", c.text, l, l, l);
    body(e, s);
    struct hd_ir_value j = hd_ir_temp(e, HD_I64, 1), next = hd_ir_temp(e, HD_I64, 1);
    fprintf(e->out, "  %s = load i64, ptr %%i%d, align 8\n", j.text, loop);
    fprintf(e->out, "  %s = add nuw nsw i64 %s, %d\n", next.text, j.text, step);
    fprintf(e->out, "  store i64 %s, ptr %%i%d, align 8\n  br label %%loop%d\ndone%d:\n", next.text,
            loop, l, l);
}

/* Neighbours that are read, in every access of the value. */
static bool reads_evenly(const struct hd_ir *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    if (k->op == HD_EXPR_ACCESS) {
        int64_t all = 0, one;
        for (int d = 0; d < k->n; d++) {
            if (!hd_ir_step(e, k->arg[d], &one)) return false;
            all += one * hd_ir_stride(&e->n->f->tensor[k->i], d);
        }
        return all == 0 || all == 1;
    }
    for (int i = 0; i < k->n; i++)
        if (!reads_evenly(e, k->arg[i])) return false;
    return true;
}

/* Lanes of a register of what a statement stores: four bytes each are e->strip. */
static int strip_of(const struct hd_ir *e, const struct hd_loop_stmt *b) {
    int type = e->n->f->tensor[b->tensor].type, bytes = (int)hd_dtype_bytes((hd_dtype)type);
    return bytes < 4 && !hd_scalar_is_float(type) ? e->strip * 4 / bytes : e->strip;
}

/* An innermost loop of one store to neighbours. */
static bool becomes_vectors(struct hd_ir *e, const struct hd_loop_stmt *s) {
    const struct hd_loop *l = &e->n->loop[s->loop];
    const struct hd_loop_stmt *b = s->body;
    if (e->vector >= 0 || !b || b->next || b->kind != HD_LOOP_SET || l->extent < strip_of(e, b))
        return false;
    int64_t all = 0, one;
    bool even = true;
    e->vector = s->loop;
    for (int d = 0; d < b->n_index && even; d++) {
        even = hd_ir_step(e, b->index[d], &one);
        all += one * hd_ir_stride(&e->n->f->tensor[b->tensor], d);
    }
    even = even && all == 1 && reads_evenly(e, b->value);
    e->vector = -1;
    return even;
}

static void strips(struct hd_ir *e, const struct hd_loop_stmt *s) {
    int width = strip_of(e, s->body);
    int64_t n = e->n->loop[s->loop].extent, whole = n / width * width;
    e->vector = s->loop, e->lanes = width;
    counted(e, s->loop, "0", hd_ir_immediate(whole).text, width, hd_ir_leaf, s->body);
    if (whole < n) {
        size_t at = 0;
        char *mask = hd_alloc(e->a, 16 * WIDEST);
        mask[at++] = '<';
        for (int i = 0; i < width; i++)
            at += (size_t)sprintf(mask + at, "%si1 %d", i ? ", " : "", whole + i < n);
        mask[at++] = '>', mask[at] = 0;
        struct hd_ir_value m = hd_ir_temp(e, HD_BOOL, width);
        fprintf(e->out, "  %s = and <%d x i1> %s, %s\n", m.text, width, mask, mask);
        memcpy(e->mask, m.text, sizeof m.text);
        fprintf(e->out, "  store i64 %lld, ptr %%i%d, align 8\n", (long long)whole, s->loop);
        hd_ir_leaf(e, s->body);
        e->mask[0] = 0;
    }
    e->vector = -1, e->lanes = 1;
}

/* The loop's iterations are lanes. */
static void lanes(struct hd_ir *e, const struct hd_loop_stmt *s) {
    int strip = e->strip;
    if (e->vector >= 0) hd_ir_fail(e, "a vector in a vector");
    e->vector = s->loop, e->lanes = (int)e->n->loop[s->loop].extent, e->strip = 0;
    list(e, s->body);
    e->vector = -1, e->lanes = 1, e->strip = strip;
}

/* Of a buffer that each call fills for itself: all of it is needed, whatever the call's part is. */
static bool fills_own(const struct hd_ir *e, const struct hd_loop_stmt *s) {
    while (s->body) s = s->body;
    return is_own(e, s->tensor);
}

static void loop(struct hd_ir *e, const struct hd_loop_stmt *s) {
    const struct hd_loop *l = &e->n->loop[s->loop];
    if (l->intrinsic && s->body->kind == HD_LOOP_SET) {
        lanes(e, s); /* the first values of its sums */
    } else if (l->intrinsic) {
        hd_ir_intrinsic(e, s);
    } else if (l->mark == HD_LOOP_UNROLLED) {
        for (int64_t i = 0; i < l->extent; i++) {
            e->is_fixed[s->loop] = true, e->fixed[s->loop] = i;
            list(e, s->body);
        }
        e->is_fixed[s->loop] = false;
    } else if (l->mark == HD_LOOP_VECTOR && l->extent > 1 && l->extent <= WIDEST) {
        lanes(e, s);
    } else if (l->mark == HD_LOOP_PARALLEL && !e->parallel_done && !fills_own(e, s)) {
        e->parallel_done = true;
        e->result->part[e->result->n_parts].iterations = l->extent;
        counted(e, s->loop, "%begin", "%end", 1, list, s->body);
    } else if (becomes_vectors(e, s)) {
        strips(e, s);
    } else {
        counted(e, s->loop, "0", hd_ir_immediate(l->extent).text, 1, list, s->body);
    }
}

static void guard(struct hd_ir *e, const struct hd_loop_stmt *s) {
    struct hd_ir_value c = hd_ir_value(e, s->value);
    if (c.lanes > 1) {
        char before[sizeof e->mask];
        memcpy(before, e->mask, sizeof before);
        if (*before) {
            struct hd_ir_value both = hd_ir_temp(e, HD_BOOL, c.lanes);
            fprintf(e->out, "  %s = and <%d x i1> %s, %s\n", both.text, c.lanes, c.text, before);
            c = both;
        }
        memcpy(e->mask, c.text, sizeof c.text);
        list(e, s->body);
        memcpy(e->mask, before, sizeof before);
        return;
    }
    int l = e->labels++;
    fprintf(e->out, "  br i1 %s, label %%then%d, label %%join%d\nthen%d:\n", c.text, l, l, l);
    list(e, s->body);
    fprintf(e->out, "  br label %%join%d\njoin%d:\n", l, l);
}

static void list(struct hd_ir *e, const struct hd_loop_stmt *s) {
    for (; s && e->status == HD_OK; s = s->next) {
        if (s->kind == HD_LOOP_FOR)
            loop(e, s);
        else if (s->kind == HD_LOOP_IF)
            guard(e, s);
        else if (s->kind != HD_LOOP_BARRIER)
            hd_ir_leaf(e, s);
    }
}

/* ---- functions ------------------------------------------------------------------------------ */

/* Where the tensors lie; buffers of loops are the function's own. */
static void begin(struct hd_ir *e, FILE *to, const char *name, int part) {
    size_t own = 0;
    fprintf(to, "define void @%s_%d(ptr noalias %%args, i64 %%begin, i64 %%end) #0 {\n", name,
            part);
    for (int i = 0; i < (int)e->n->f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &e->n->f->tensor[i];
        if (is_own(e, i)) {
            own += (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type);
            fprintf(to, "  %%p%d = alloca [%lld x %s], align 64\n", i, (long long)hd_expr_elems(t),
                    t->type == HD_BOOL ? "i8" : hd_ir_type(e, t->type, 1));
            continue;
        }
        fprintf(to, "  %%a%d = getelementptr ptr, ptr %%args, i64 %d\n", i, i);
        fprintf(to, "  %%p%d = load ptr, ptr %%a%d, align 8\n", i, i);
    }
    for (int i = 0; i < e->n->n_loops; i++) fprintf(to, "  %%i%d = alloca i64, align 8\n", i);
    if (own > STACK_BYTES) hd_ir_fail(e, "a buffer of more than 256 KiB in a loop");
}

/* The parameter that a statement copies to a buffer, or a copy of it, and no more; -1 = none. */
static int copies(const struct hd_ir *e, const struct hd_loop_stmt *s) {
    while (s->kind == HD_LOOP_FOR || s->kind == HD_LOOP_IF) s = s->body;
    if (s->kind != HD_LOOP_SET || s->next || is_own(e, s->tensor)) return -1;
    if (e->n->f->tensor[s->tensor].result) return -1;
    const struct hd_expr_node *k = &e->n->f->node[s->value];
    while (k->op == HD_EXPR_PAD) k = &e->n->f->node[k->arg[0]];
    if (k->op != HD_EXPR_ACCESS) return -1;
    return k->i < e->n->f->n_params ? (int)k->i : e->origin[k->i];
}

static void part(struct hd_ir *e, FILE *all, const char *name, const struct hd_loop_stmt *s) {
    struct hd_loop_stmt alone = *s;
    struct hd_loop_llvm *r = e->result;
    char *body = NULL;
    size_t n;
    alone.next = NULL;
    e->parallel_done = false;
    int once = copies(e, s);
    r->part[r->n_parts] = (struct hd_loop_part){1, once};
    const struct hd_loop_stmt *leaf = s;
    while (leaf->body) leaf = leaf->body;
    e->origin[leaf->tensor] = once;
    e->out = open_memstream(&body, &n);
    HD_ASSERT(e->out);
    list(e, &alone);
    fclose(e->out);
    begin(e, all, name, r->n_parts++);
    fprintf(all, "%s  ret void\n}\n", body);
    free(body);
}

hd_status hd_loop_llvm(hd_ctx *ctx, hd_arena *a, const struct hd_nest *n, const char *name,
                       int lanes, struct hd_loop_llvm *out) {
    char *text = NULL;
    size_t bytes, n_parts = 1;
    for (const struct hd_loop_stmt *s = n->body; s; s = s->next) n_parts++;
    *out = (struct hd_loop_llvm){.part = hd_new_array(a, struct hd_loop_part, n_parts)};
    struct hd_ir *e = hd_new(a, struct hd_ir);
    *e = (struct hd_ir){.ctx = ctx,
                        .a = a,
                        .n = n,
                        .vector = -1,
                        .lanes = 1,
                        .strip = lanes,
                        .declared = "",
                        .origin = hd_new_array(a, int, n->f->n_tensors),
                        .result = out};
    for (size_t i = 0; i < n->f->n_tensors; i++) e->origin[i] = -1;
    FILE *all = open_memstream(&text, &bytes);
    HD_ASSERT(all);
    for (const struct hd_loop_stmt *s = n->body; s; s = s->next) part(e, all, name, s);
    fclose(all);
    out->text = hd_sprintf(a, "%s%s", text, e->declared);
    free(text);
    return hd_note(ctx, e->status, "while printing '%s'", name);
}
