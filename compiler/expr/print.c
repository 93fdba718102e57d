/* Tensor expressions: value to text, in the normal form. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"

struct printer {
    const struct hd_expr *f;
    const struct hd_expr_stmt *s;
    const char *const *var; /* names of variables */
    FILE *out;
};

static void value(struct printer *p, int node, int level);

static void number(FILE *out, double v) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", v);
    if (v != v) snprintf(text, sizeof text, "nan"); /* without its sign */
    fputs(text, out);
    if (!strpbrk(text, ".en")) fputs(".0", out);
}

static void arguments(struct printer *p, const struct hd_expr_node *k, char open, char close) {
    fputc(open, p->out);
    for (int i = 0; i < k->n; i++) {
        if (i) fputs(open == '[' ? "," : ", ", p->out);
        value(p, k->arg[i], 1);
    }
    fputc(close, p->out);
}

static void other(struct printer *p, const struct hd_expr_node *k) {
    switch (k->op) {
    case HD_EXPR_INT:
        fprintf(p->out, "%lld", (long long)k->i);
        break;
    case HD_EXPR_FLOAT:
        number(p->out, k->f);
        break;
    case HD_EXPR_NAME:
        fputs(k->name, p->out);
        break;
    case HD_EXPR_VAR:
        fputs(p->var[k->i], p->out);
        break;
    case HD_EXPR_REST:
        fputs("...", p->out);
        break;
    case HD_EXPR_ACCESS:
        fputs(p->f->tensor[k->i].name, p->out);
        arguments(p, k, '[', ']');
        break;
    case HD_EXPR_CAST:
        fputs(hd_dtype_name((hd_dtype)k->type), p->out);
        if (k->round) fprintf(p->out, ".%s", hd_round_text[k->round]);
        if (k->saturate) fputs(".sat", p->out);
        arguments(p, k, '(', ')');
        break;
    default:
        fputs(k->op == HD_EXPR_PAD ? "pad" : "select", p->out);
        arguments(p, k, '(', ')');
    }
}

/* In parentheses when it binds less than `level`. */
static void value(struct printer *p, int node, int level) {
    const struct hd_expr_node *k = &p->f->node[node];
    const struct hd_expr_info *info = &hd_expr_infos[k->op];
    bool low = info->form == HD_FORM_INFIX && info->level < level;
    if (low) fputc('(', p->out);
    switch (info->form) {
    case HD_FORM_OTHER:
        other(p, k);
        break;
    case HD_FORM_FUNCTION:
        fputs(info->text, p->out);
        arguments(p, k, '(', ')');
        break;
    case HD_FORM_PREFIX: { /* -(5) is no number */
        const struct hd_expr_node *x = &p->f->node[k->arg[0]];
        bool number = x->op == HD_EXPR_INT || x->op == HD_EXPR_FLOAT;
        fprintf(p->out, "%s%s", info->text, number ? "(" : "");
        value(p, k->arg[0], info->level);
        if (number) fputc(')', p->out);
        break;
    }
    default:
        value(p, k->arg[0], info->level);
        fprintf(p->out, info->level < 8 ? " %s " : "%s", info->text);
        value(p, k->arg[1], info->level + 1);
    }
    if (low) fputc(')', p->out);
}

void hd_expr_print_node(FILE *out, const struct hd_expr *f, int node, const char *const *var) {
    struct printer p = {.f = f, .var = var, .out = out};
    value(&p, node, 1);
}

static void shape(struct printer *p, const struct hd_expr_tensor *t) {
    if (t->type >= 0 || t->rank >= 0) fputs(": ", p->out);
    if (t->type >= 0) fputs(hd_dtype_name((hd_dtype)t->type), p->out);
    if (t->rank < 0) return;
    fputc('[', p->out);
    for (int d = 0; d < t->rank; d++) {
        if (d) fputc(',', p->out);
        if (t->dim[d].rest)
            fputs("...", p->out);
        else if (t->dim[d].name)
            fputs(t->dim[d].name, p->out);
        else
            fprintf(p->out, "%lld", (long long)t->dim[d].value);
    }
    fputc(']', p->out);
}

static void header(struct printer *p) {
    const struct hd_expr *f = p->f;
    fputc('(', p->out);
    for (int i = 0; i < f->n_params; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        fprintf(p->out, "%s%s", i ? ", " : "", t->name);
        shape(p, t);
        if (!t->optional) continue;
        fputs(" = ", p->out);
        number(p->out, t->value);
    }
    for (size_t i = 0; i < f->n_scalars && !f->bound; i++) {
        const struct hd_expr_scalar *s = &f->scalar[i];
        fprintf(p->out, "%s%s: %s", i || f->n_params ? ", " : "", s->name,
                s->is_float ? "float" : "int");
        if (!s->known) continue;
        fputs(" = ", p->out);
        if (s->is_float)
            number(p->out, s->f);
        else
            fprintf(p->out, "%lld", (long long)s->i);
    }
    fputs(") ->", p->out);
    for (size_t i = 0; i < f->n_results; i++) {
        fprintf(p->out, "%s %s", i ? "," : "", f->tensor[f->result[i]].name);
        shape(p, &f->tensor[f->result[i]]);
    }
    fputc('\n', p->out);
}

/* Limits as they were written; of bound ones all ranges. */
static void limits(struct printer *p) {
    const struct hd_expr_stmt *s = p->s;
    bool first = true;
    for (int v = 0; v < s->n_vars; v++) {
        if (!p->f->bound && s->var[v].where < 0) continue;
        fprintf(p->out, "%s%s < ", first ? " where " : ", ", s->var[v].name);
        first = false;
        if (p->f->bound)
            fprintf(p->out, "%lld", (long long)s->var[v].extent);
        else
            value(p, s->var[v].where, hd_expr_infos[HD_EXPR_lt].level + 1);
    }
}

const char *hd_expr_text(hd_arena *a, const struct hd_expr *f) {
    char *text = NULL;
    size_t bytes = 0;
    struct printer p = {.f = f, .out = open_memstream(&text, &bytes)};
    HD_ASSERT(p.out);
    header(&p);
    for (size_t i = 0; i < f->n_stmts; i++) {
        const struct hd_expr_stmt *s = p.s = &f->stmt[i];
        const char *names[HD_EXPR_VARS];
        for (int v = 0; v < s->n_vars; v++) names[v] = s->var[v].name;
        p.var = names;
        fprintf(p.out, "%s[", f->tensor[s->tensor].name);
        for (int d = 0; d < s->rank; d++)
            fprintf(p.out, "%s%s", d ? "," : "", s->lhs[d] < 0 ? "..." : s->var[s->lhs[d]].name);
        fprintf(p.out, "] %s ", hd_reduce_text[s->reduce]);
        value(&p, s->value, 1);
        limits(&p);
        fputc('\n', p.out);
    }
    p.var = NULL;
    fclose(p.out);
    char *kept = hd_strdup(a, text);
    free(text);
    return kept;
}
