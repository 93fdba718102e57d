/* The loop IR as text. */
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

struct printer {
    const struct hd_nest *n;
    hd_arena *a;
    const char *name[HD_LOOP_MAX];
    int around[HD_LOOP_MAX]; /* loops that stand around */
    FILE *out;
};

static void store(struct printer *p, const struct hd_loop_stmt *s) {
    fprintf(p->out, "%s[", p->n->f->tensor[s->tensor].name);
    for (int d = 0; d < s->n_index; d++) {
        if (d) fputc(',', p->out);
        hd_expr_print_node(p->out, p->n->f, s->index[d], p->name);
    }
    enum hd_expr_reduce r = s->kind == HD_LOOP_SET ? HD_REDUCE_NONE : s->reduce;
    fprintf(p->out, "] %s ", hd_reduce_text[r]);
    hd_expr_print_node(p->out, p->n->f, s->value, p->name);
    if (s->kind == HD_LOOP_UPDATE && s->position >= 0) {
        fputs(" at ", p->out);
        hd_expr_print_node(p->out, p->n->f, s->position, p->name);
    }
    fputc('\n', p->out);
}

/* The name of a loop, unlike those around it. */
static void name_loop(struct printer *p, int loop, int n_around) {
    for (int i = 0; i < n_around; i++)
        if (!strcmp(p->name[p->around[i]], p->name[loop]))
            p->name[loop] = hd_sprintf(p->a, "%s_%d", p->n->loop[loop].name, loop);
    p->around[n_around] = loop;
}

static void list(struct printer *p, const struct hd_loop_stmt *s, int depth, int n_around) {
    for (; s; s = s->next) {
        fprintf(p->out, "%*s", 2 * depth, "");
        if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
            store(p, s);
            continue;
        }
        if (s->kind == HD_LOOP_BARRIER) {
            fprintf(p->out, "barrier %s\n", p->n->f->tensor[s->tensor].name);
            continue;
        }
        if (s->kind == HD_LOOP_IF) {
            fputs("if ", p->out);
            hd_expr_print_node(p->out, p->n->f, s->value, p->name);
        } else {
            const struct hd_loop *l = &p->n->loop[s->loop];
            name_loop(p, s->loop, n_around);
            fprintf(p->out, "for %s < %lld", p->name[s->loop], (long long)l->extent);
            if (l->mark) fprintf(p->out, " %s", hd_loop_mark_text[l->mark]);
            if (l->intrinsic) fprintf(p->out, " intrinsic %s", l->intrinsic);
        }
        fputc('\n', p->out);
        list(p, s->body, depth + 1, n_around + (s->kind == HD_LOOP_FOR));
    }
}

static void buffers(struct printer *p) {
    const struct hd_expr *f = p->n->f;
    for (int i = 0; i < (int)f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        if (t->param || t->result) continue;
        fprintf(p->out, "buffer %s: %s[", t->name, hd_dtype_name((hd_dtype)t->type));
        for (int d = 0; d < t->rank; d++)
            fprintf(p->out, "%s%lld", d ? "," : "", (long long)t->dim[d].value);
        fputc(']', p->out);
        if (p->n->scope[i] >= 0) fprintf(p->out, " in %s", p->name[p->n->scope[i]]);
        fputc('\n', p->out);
    }
}

const char *hd_loop_text(hd_arena *a, const struct hd_nest *n) {
    char *text = NULL;
    size_t bytes = 0;
    struct printer *p = hd_new(a, struct printer);
    p->n = n;
    p->a = a;
    p->out = open_memstream(&text, &bytes);
    HD_ASSERT(p->out);
    for (int i = 0; i < n->n_loops; i++) p->name[i] = n->loop[i].name;
    buffers(p);
    list(p, n->body, 0, 0);
    fclose(p->out);
    char *kept = hd_strdup(a, text);
    free(text);
    return kept;
}
