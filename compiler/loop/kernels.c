/* Loops as kernels: see kernels.h. */
#include "compiler/loop/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/emit.h"

struct hd_kernels {
    hd_arena *a;
    const struct hd_dialect *d;
    struct hd_emitter e; /* of helpers, which all kernels share */
    const char **text;   /* of each kernel, from "(" on */
    int *threads;        /* of a block of each at most; 0 = not known */
    const char **parts;  /* of kernels written by hand: what they call */
    size_t n, cap, n_threads, cap_threads, n_parts, cap_parts;
    char *helpers;
    size_t helper_bytes;
};

struct hd_kernels *hd_kernels_create(hd_arena *a, const struct hd_dialect *d) {
    struct hd_kernels *k = hd_new(a, struct hd_kernels);
    k->a = a;
    k->d = k->e.d = d;
    k->e.name = "h";
    return k;
}

/* ---- what a kernel is ----------------------------------------------------------------------- */

struct root { /* one statement of the nest's body */
    const struct hd_nest *n;
    bool *used; /* per tensor */
    struct hd_kernel_call *call;
};

static void use_node(struct root *r, int node) {
    const struct hd_expr_node *k = &r->n->f->node[node];
    if (k->op == HD_EXPR_ACCESS) r->used[k->i] = true;
    for (int i = 0; i < k->n; i++) use_node(r, k->arg[i]);
}

static void look(struct root *r, const struct hd_loop_stmt *s) {
    for (; s; s = s->next) {
        if (s->kind == HD_LOOP_BARRIER) continue;
        if (s->kind == HD_LOOP_FOR) {
            const struct hd_loop *l = &r->n->loop[s->loop];
            int axis = (int)l->mark - HD_LOOP_BLOCK_X;
            if (axis >= 0 && axis < 3) r->call->grid[axis] = l->extent;
            if (axis >= 3) r->call->block[axis - 3] = (int)l->extent;
        } else {
            use_node(r, s->value);
        }
        if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
            r->used[s->tensor] = true;
            for (int d = 0; d < s->n_index; d++) use_node(r, s->index[d]);
            if (s->best >= 0 && s->reduce >= HD_REDUCE_ARGMAX) r->used[s->best] = true;
        }
        look(r, s->body);
    }
}

static bool is_argument(const struct hd_nest *n, int tensor) {
    return n->scope[tensor] < 0;
}

/* ---- statements ----------------------------------------------------------------------------- */

static void arg_update(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    int type = e->n->f->node[s->value].type;
    bool is_float = hd_scalar_is_float(type), most = s->reduce == HD_REDUCE_ARGMAX;
    fprintf(e->out, "{ const %s v = ", e->d->type[type]);
    hd_emit_value(e, s->value);
    fputs("; const ", e->out);
    fprintf(e->out, "%s b = ", e->d->type[type]);
    hd_emit_element(e, s->best, s->n_index, s->index);
    fputs("; if (", e->out);
    hd_emit_element(e, s->tensor, s->n_index, s->index);
    fprintf(e->out, " < 0 || %s(v %s b%s)) { ", is_float ? "(b == b) && " : "", most ? ">" : "<",
            is_float ? " || v != v" : "");
    hd_emit_element(e, s->best, s->n_index, s->index);
    fputs(" = v; ", e->out);
    hd_emit_element(e, s->tensor, s->n_index, s->index);
    fputs(" = ", e->out);
    hd_emit_value(e, s->position);
    fputs("; } }\n", e->out);
}

static void store(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    bool update = s->kind == HD_LOOP_UPDATE;
    if (update && s->reduce >= HD_REDUCE_ARGMAX) {
        arg_update(e, s);
        return;
    }
    hd_emit_element(e, s->tensor, s->n_index, s->index);
    fputs(" = ", e->out);
    if (update) {
        hd_emit_call(e, hd_emit_reduce_op(s->reduce), e->n->f->tensor[s->tensor].type);
        hd_emit_element(e, s->tensor, s->n_index, s->index);
        fputs(", ", e->out);
    }
    hd_emit_value(e, s->value);
    fputs(update ? ");\n" : ";\n", e->out);
}

/* The threads of a block share the iterations; nobody reads the buffer before or after. */
static void shared_loop(struct hd_emitter *e, const struct hd_loop *l, int id,
                        const struct hd_kernel_call *c) {
    const char *const *t = e->d->thread;
    int all = c->block[0] * c->block[1] * c->block[2];
    fprintf(e->out, "%s;\nfor (int i%d = %s", e->d->barrier, id, t[0]);
    if (c->block[1] > 1) fprintf(e->out, " + %d * %s", c->block[0], t[1]);
    if (c->block[2] > 1) fprintf(e->out, " + %d * %s", c->block[0] * c->block[1], t[2]);
    fprintf(e->out, "; i%d < %lld; i%d += %d) {\n", id, (long long)l->extent, id, all);
}

static void loop_head(struct hd_emitter *e, int id, const struct hd_kernel_call *c) {
    const struct hd_loop *l = &e->n->loop[id];
    int axis = (int)l->mark - HD_LOOP_BLOCK_X;
    if (axis >= 0) {
        const char *index = axis < 3 ? e->d->block[axis] : e->d->thread[axis - 3];
        fprintf(e->out, "{ const int i%d = %s;\n", id, index);
    } else if (l->mark == HD_LOOP_THREADS) {
        shared_loop(e, l, id, c);
    } else {
        if (l->mark == HD_LOOP_UNROLLED || l->mark == HD_LOOP_VECTOR)
            fputs("\n#pragma unroll\n", e->out);
        fprintf(e->out, "for (int i%d = 0; i%d < %lld; i%d++) {\n", id, id, (long long)l->extent,
                id);
    }
}

/* What a block's threads have computed is whole: sums in registers go to their buffer first. */
static void barrier(struct hd_emitter *e, const struct hd_loop_stmt *s,
                    const struct hd_kernel_call *c) {
    if (e->fragments[s->tensor]) {
        struct hd_loop_stmt only = *e->first[s->tensor];
        only.next = NULL;
        e->storing = true;
        e->list(e, &only, c);
        e->storing = false;
    }
    const char *wait = e->d->barrier;
    fprintf(e->out, "%s;\n", wait);
}

static void loop(struct hd_emitter *e, const struct hd_loop_stmt *s,
                 const struct hd_kernel_call *c) {
    const struct hd_loop *l = &e->n->loop[s->loop];
    if (l->parts) {
        hd_emit_gemm(e, s, c);
        return;
    }
    if (l->intrinsic && hd_emit_intrinsic(e, s, c)) return;
    if (l->mark == HD_LOOP_VECTOR && hd_emit_vector(e, s)) return;
    bool unrolled = l->mark == HD_LOOP_UNROLLED;
    loop_head(e, s->loop, c);
    if (unrolled) e->unrolled[e->n_unrolled++] = s->loop;
    e->list(e, s->body, c);
    e->n_unrolled -= unrolled;
    fputs("}\n", e->out);
    if (l->mark == HD_LOOP_THREADS) fprintf(e->out, "%s;\n", e->d->barrier);
}

/* The whole nest that gives a tensor its first values. */
static void note_first(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *k = s;
    while (k->kind == HD_LOOP_FOR && !k->body->next) k = k->body;
    if (k->kind == HD_LOOP_SET && !e->first[k->tensor]) e->first[k->tensor] = s;
}

static void list(struct hd_emitter *e, const struct hd_loop_stmt *s,
                 const struct hd_kernel_call *c) {
    for (; s; s = s->next) {
        if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
            store(e, s);
        } else if (s->kind == HD_LOOP_BARRIER) {
            barrier(e, s, c);
        } else if (s->kind == HD_LOOP_IF) {
            fputs("if (", e->out);
            hd_emit_value(e, s->value);
            fputs(") {\n", e->out);
            list(e, s->body, c);
            fputs("}\n", e->out);
        } else {
            note_first(e, s);
            loop(e, s, c);
        }
    }
}

/* ---- a kernel ------------------------------------------------------------------------------- */

static void arguments(struct hd_emitter *e, const struct hd_kernel_call *c) {
    const struct hd_expr *f = e->n->f;
    fputc('(', e->out);
    for (int i = 0; i < c->n_tensors; i++) {
        int t = c->tensor[i];
        fprintf(e->out, "%s%s%s%s *%st%d", i ? ", " : "", e->d->global,
                t < f->n_params ? "const " : "", e->d->type[f->tensor[t].type], e->d->alone, t);
    }
    if (c->gathers) fprintf(e->out, ", %sint *fault", e->d->global);
    fputs(") {\n", e->out);
}

static void buffers(struct hd_emitter *e, const struct root *r) {
    const struct hd_expr *f = e->n->f;
    for (int i = 0; i < (int)f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        if (!r->used[i] || is_argument(r->n, i)) continue;
        int64_t n = hd_expr_elems(t), bytes = hd_dtype_bytes((hd_dtype)t->type);
        bool shared = r->n->shared[i];
        if (n * bytes < e->room[i]) n = (e->room[i] + bytes - 1) / bytes;
        if (shared) r->call->local_bytes += (size_t)(n * bytes);
        fprintf(e->out, "  %s%s t%d[%lld];\n", shared ? e->d->local : "", e->d->type[t->type], i,
                (long long)(n ? n : 1));
    }
}

static int intern(struct hd_kernels *k, const char *text, int threads) {
    for (size_t i = 0; i < k->n; i++) {
        if (strcmp(k->text[i], text)) continue;
        if (threads > k->threads[i]) k->threads[i] = threads;
        return (int)i;
    }
    *hd_push(k->a, k->text, k->n, k->cap) = hd_strdup(k->a, text);
    *hd_push(k->a, k->threads, k->n_threads, k->cap_threads) = threads;
    return (int)k->n - 1;
}

/* The tensor that statements store to, of those that are arguments. */
static void find_made(const struct root *r, const struct hd_loop_stmt *s, int *made) {
    for (; s; s = s->next) {
        if (s->kind == HD_LOOP_FOR || s->kind == HD_LOOP_IF) find_made(r, s->body, made);
        if (s->kind != HD_LOOP_SET && s->kind != HD_LOOP_UPDATE) continue;
        if (is_argument(r->n, s->tensor) && *made != s->tensor)
            *made = *made == -2 ? s->tensor : -1;
    }
}

/* The body is printed first, since it tells what the head needs. */
static void print(struct hd_kernels *k, struct root *r, const struct hd_loop_stmt *only) {
    char *body = NULL, *head = NULL;
    size_t bytes;
    struct hd_emitter *e = &k->e;
    e->n = r->n;
    e->gathers = false;
    e->out = open_memstream(&body, &bytes);
    HD_ASSERT(e->out);
    memset(e->fragments, 0, sizeof e->fragments);
    memset(e->first, 0, sizeof e->first);
    memset(e->room, 0, sizeof e->room);
    e->list = list;
    list(e, only, r->call);
    fclose(e->out);
    r->call->gathers = e->gathers;
    e->out = open_memstream(&head, &bytes);
    HD_ASSERT(e->out);
    arguments(e, r->call);
    buffers(e, r);
    hd_emit_fragments(e);
    fputs(body, e->out);
    fputs("}\n", e->out);
    fclose(e->out);
    r->call->kernel = intern(k, head, r->call->block[0] * r->call->block[1] * r->call->block[2]);
    free(body);
    free(head);
}

static hd_status can(hd_ctx *ctx, const struct hd_kernels *k, const struct hd_nest *n) {
    TRY(hd_emit_can(ctx, k->d, n));
    for (size_t i = 0; i < n->f->n_tensors; i++)
        if (hd_expr_elems(&n->f->tensor[i]) > INT32_MAX)
            return hd_fail(ctx, HD_UNSUPPORTED, "'%s' has %lld elements, at most %d",
                           n->f->tensor[i].name, (long long)hd_expr_elems(&n->f->tensor[i]),
                           INT32_MAX);
    return HD_OK;
}

hd_status hd_kernels_add(hd_ctx *ctx, struct hd_kernels *k, const struct hd_nest *n,
                         struct hd_kernel_call **out, int *out_n) {
    size_t count = 0, cap = 0;
    struct hd_kernel_call *calls = NULL;
    TRY(can(ctx, k, n));
    char *more = NULL;
    size_t bytes;
    k->e.helpers = open_memstream(&more, &bytes);
    HD_ASSERT(k->e.helpers);
    for (const struct hd_loop_stmt *s = n->body; s; s = s->next) {
        struct hd_loop_stmt only = *s;
        struct root r = {.n = n, .used = hd_new_array(k->a, bool, n->f->n_tensors)};
        only.next = NULL;
        r.call = hd_push(k->a, calls, count, cap);
        *r.call = (struct hd_kernel_call){.grid = {1, 1, 1}, .block = {1, 1, 1}};
        look(&r, &only);
        r.call->tensor = hd_new_array(k->a, int, n->f->n_tensors);
        for (int t = 0; t < (int)n->f->n_tensors; t++)
            if (r.used[t] && is_argument(n, t)) r.call->tensor[r.call->n_tensors++] = t;
        r.call->made = -2;
        find_made(&r, &only, &r.call->made);
        print(k, &r, &only);
    }
    fclose(k->e.helpers);
    *hd_push(k->a, k->parts, k->n_parts, k->cap_parts) = hd_strdup(k->a, more);
    free(more);
    *out = calls;
    *out_n = (int)count;
    return HD_OK;
}

int hd_kernels_template(struct hd_kernels *k, const char *prologue, const char *text) {
    bool there = !prologue;
    for (size_t i = 0; i < k->n_parts; i++) there = there || !strcmp(k->parts[i], prologue);
    if (!there) *hd_push(k->a, k->parts, k->n_parts, k->cap_parts) = hd_strdup(k->a, prologue);
    return intern(k, text, 0);
}

int hd_kernels_count(const struct hd_kernels *k) {
    return (int)k->n;
}

void hd_kernels_cut(struct hd_kernels *k, int n) {
    k->n = k->n_threads = (size_t)n;
}

const char *hd_kernel_name(const struct hd_kernels *k, int kernel) {
    return hd_sprintf(k->a, "k%d", kernel);
}

const char *hd_kernels_text(struct hd_kernels *k) {
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    HD_ASSERT(f);
    fputs(k->d->prologue, f);
    for (size_t i = 0; i < k->n_parts; i++) fputs(k->parts[i], f);
    for (size_t i = 0; i < k->n; i++) {
        fputs(k->d->kernel, f);
        if (k->d->bounds && k->threads[i]) fprintf(f, " %s(%d)", k->d->bounds, k->threads[i]);
        fprintf(f, " k%zu%s", i, k->text[i]);
    }
    fclose(f);
    const char *kept = hd_strdup(k->a, text);
    free(text);
    return kept;
}
