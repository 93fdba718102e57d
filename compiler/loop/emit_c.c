/* The loop IR as C11: one function of pointers, parameters first, then results. It computes what
 * the interpreters compute, to the bit. */
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/emit.h"

const char *hd_loop_c_prologue(void) {
    return hd_dialect_c.prologue;
}

static void store(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    int type = e->n->f->tensor[s->tensor].type;
    hd_emit_element(e, s->tensor, s->n_index, s->index);
    fputs(" = ", e->out);
    if (s->kind == HD_LOOP_UPDATE) {
        hd_emit_call(e, hd_emit_reduce_op(s->reduce), type);
        hd_emit_element(e, s->tensor, s->n_index, s->index);
        fputs(", ", e->out);
    }
    hd_emit_value(e, s->value);
    fputs(s->kind == HD_LOOP_UPDATE ? ");\n" : ";\n", e->out);
}

/* What the compiler is told of a loop; those bound to a GPU run one after the other. */
static void mark(struct hd_emitter *e, const struct hd_loop *l, int depth) {
    if (l->mark == HD_LOOP_UNROLLED)
        fprintf(e->out, "HD_UNROLL(%lld)\n", (long long)(l->extent ? l->extent : 1));
    else if (l->mark == HD_LOOP_VECTOR || l->mark == HD_LOOP_PARALLEL)
        fprintf(e->out, "HD_%s\n", l->mark == HD_LOOP_VECTOR ? "VECTOR" : "PARALLEL");
    else
        return;
    fprintf(e->out, "%*s", 4 * depth, "");
}

static void find_threaded(struct hd_emitter *e, const struct hd_loop_stmt *s, bool inside) {
    for (; s; s = s->next) {
        bool here =
            inside || (s->kind == HD_LOOP_FOR && e->n->loop[s->loop].mark == HD_LOOP_PARALLEL);
        if (s->kind == HD_LOOP_FOR) e->threaded[s->loop] = here;
        if (s->kind == HD_LOOP_FOR || s->kind == HD_LOOP_IF) find_threaded(e, s->body, here);
    }
}

static void list(struct hd_emitter *e, const struct hd_loop_stmt *s, int depth) {
    for (; s; s = s->next) {
        if (s->kind == HD_LOOP_BARRIER) continue; /* a block's threads are loops here */
        fprintf(e->out, "%*s", 4 * depth, "");
        if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
            store(e, s);
            continue;
        }
        if (s->kind == HD_LOOP_IF) {
            fputs("if (", e->out);
            hd_emit_value(e, s->value);
            fputs(") {\n", e->out);
        } else {
            mark(e, &e->n->loop[s->loop], depth);
            fprintf(e->out, "for (int64_t i%d = 0; i%d < %lld; i%d++) {\n", s->loop, s->loop,
                    (long long)e->n->loop[s->loop].extent, s->loop);
        }
        list(e, s->body, depth + 1);
        fprintf(e->out, "%*s}\n", 4 * depth, "");
    }
}

/* Buffers are the function's own, and each thread's where a loop on threads fills them. */
static void head(struct hd_emitter *e) {
    const struct hd_expr *f = e->n->f;
    fprintf(e->out, "void %s(const void *const *in, void *const *out) {\n", e->name);
    for (int i = 0; i < (int)f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        const char *type = e->d->type[t->type];
        int result = -1;
        for (size_t k = 0; k < f->n_results; k++)
            if (f->result[k] == i) result = (int)k;
        if (i < f->n_params)
            fprintf(e->out, "    const %s *t%d = in[%d];\n", type, i, i);
        else if (result >= 0)
            fprintf(e->out, "    %s *t%d = out[%d];\n", type, i, result);
        else
            fprintf(e->out, "    static %s%s t%d[%lld];\n",
                    e->n->scope[i] >= 0 && e->threaded[e->n->scope[i]] ? "_Thread_local " : "",
                    type, i, (long long)hd_expr_elems(t) + 1);
    }
    for (int i = 0; i < f->n_params; i++) fprintf(e->out, "    (void)t%d;\n", i);
}

static hd_status can(hd_ctx *ctx, const struct hd_nest *n) {
    TRY(hd_emit_can(ctx, &hd_dialect_c, n));
    for (size_t i = 0; i < n->f->n_nodes; i++)
        if (n->f->node[i].op == HD_EXPR_ACCESS && n->f->node[i].checked)
            return hd_fail(ctx, HD_UNSUPPORTED, "a gather, whose indexes C would not check");
    for (size_t i = 0; i < n->f->n_stmts; i++)
        if (n->f->stmt[i].reduce >= HD_REDUCE_ARGMAX)
            return hd_fail(ctx, HD_UNSUPPORTED, "%s", hd_reduce_text[n->f->stmt[i].reduce]);
    return HD_OK;
}

hd_status hd_loop_c(hd_ctx *ctx, hd_arena *a, const struct hd_nest *n, const char *name,
                    const char **out) {
    TRY(hd_note(ctx, can(ctx, n), "while printing '%s' as C", name));
    char *body = NULL, *helpers = NULL;
    size_t bytes[2];
    struct hd_emitter *e = hd_new(a, struct hd_emitter);
    e->d = &hd_dialect_c;
    e->n = n;
    e->name = name;
    e->out = open_memstream(&body, &bytes[0]);
    e->helpers = open_memstream(&helpers, &bytes[1]);
    HD_ASSERT(e->out && e->helpers);
    find_threaded(e, n->body, false);
    head(e);
    list(e, n->body, 1);
    fputs("}\n", e->out);
    fclose(e->out);
    fclose(e->helpers);
    *out = hd_sprintf(a, "%s%s", helpers, body);
    free(body);
    free(helpers);
    return HD_OK;
}
