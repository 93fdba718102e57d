/* Tensor expressions: text to value. docs/expressions.md has the language for users.
 *
 *   program    [ header ] statement { statement }
 *   header     "(" [ param { "," param } ] ")" "->" result { "," result } [ ";" ]
 *   param      name [ ":" ( shape | "int" | "float" ) ] [ "=" number ]
 *   result     name [ ":" shape ]
 *   shape      [ type ] "[" [ size { "," size } ] "]" | type        size: number | name | "..."
 *   statement  name "[" [ index { "," index } ] "]" becomes value [ "where" limit { "," limit } ]
 *              [ ";" ]                                              index: name | "..."
 *   becomes    "=" | "+=" | "*=" | "max=" | "min=" | "argmax=" | "argmin="
 *   limit      name "<" value
 *   value      operators of expr.def over: number | name | name "[" values "]" | "(" value ")"
 *              | function "(" values ")" | type { "." how } "(" value ")"
 *              | "select" "(" c "," a "," b ")" | "clamp" "(" x "," lo "," hi ")"
 *              | "pad" "(" access "," value ")"
 *   how        "sat" | "trunc" | "even" | "away" | "floor" | "ceil"
 * Comments begin with "#". A parameter without brackets and with a number is a scalar. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"

struct parser {
    hd_ctx *ctx;
    struct hd_expr *f;
    const char *text, *p;
    int depth;
};

static hd_status wanted(struct parser *x, const char *what) {
    return hd_expr_fail(x->ctx, x->f, (int)(x->p - x->text), "want %s", what);
}

static void skip(struct parser *x) {
    for (;;) {
        while (isspace((unsigned char)*x->p)) x->p++;
        if (*x->p != '#') return;
        while (*x->p && *x->p != '\n') x->p++;
    }
}

static bool take(struct parser *x, const char *text) {
    size_t n = strlen(text);
    skip(x);
    if (strncmp(x->p, text, n)) return false;
    x->p += n;
    return true;
}

static hd_status need(struct parser *x, const char *text, const char *what) {
    return take(x, text) ? HD_OK : wanted(x, what);
}

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || c == '_';
}
static bool is_word(char c) {
    return is_letter(c) || isdigit((unsigned char)c);
}

/* A word that stands here alone, such as "where". */
static bool take_word(struct parser *x, const char *text) {
    size_t n = strlen(text);
    skip(x);
    if (strncmp(x->p, text, n) || is_word(x->p[n])) return false;
    x->p += n;
    return true;
}

static hd_status name(struct parser *x, const char *what, const char **out) {
    skip(x);
    const char *begin = x->p;
    if (!is_letter(*x->p)) return wanted(x, what);
    while (is_word(*x->p)) x->p++;
    *out = hd_strndup(x->f->arena, begin, (size_t)(x->p - begin));
    return HD_OK;
}

struct number {
    bool is_float;
    int64_t i;
    double f;
};

static hd_status number(struct parser *x, struct number *out) {
    char *end;
    skip(x);
    const char *begin = x->p, *digits = begin + (*begin == '-');
    if (!isdigit((unsigned char)*digits) && strncmp(digits, "inf", 3) && strncmp(digits, "nan", 3))
        return wanted(x, "a number");
    errno = 0;
    *out = (struct number){.i = strtoll(begin, &end, 10)};
    if (end == begin || *end == '.' || *end == 'e' || *end == 'E') {
        out->is_float = true;
        out->f = strtod(begin, &end);
        out->i = 0;
    } else {
        out->f = (double)out->i;
        if (errno == ERANGE) return wanted(x, "a number within 64 bits");
    }
    if (is_word(*end)) return wanted(x, "a number; a product needs its *");
    x->p = end;
    return HD_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

static hd_status value(struct parser *x, int level, int *out);

static hd_status new_node(struct parser *x, enum hd_expr_op op, const char *at, int *out) {
    if (x->f->n_nodes >= HD_EXPR_NODES) return wanted(x, "at most 4096 operators and operands");
    *out = hd_expr_new_node(x->f, op, (int)(at - x->text));
    return HD_OK;
}

static hd_status arguments(struct parser *x, int node, int n) {
    for (int i = 0; i < n; i++) {
        if (i) TRY(need(x, ",", "a comma and another argument"));
        int arg = 0;
        TRY(value(x, 1, &arg));
        x->f->node[node].arg[i] = arg;
    }
    x->f->node[node].n = n;
    return need(x, ")", n > 1 ? "a closing parenthesis" : "an operator or a closing parenthesis");
}

/* clamp(x, lo, hi) is min(max(x, lo), hi). */
static hd_status clamp(struct parser *x, const char *at, int *out) {
    int three, low;
    TRY(new_node(x, HD_EXPR_SELECT, at, &three));
    x->depth++; /* as in the normal form */
    TRY(arguments(x, three, 3));
    x->depth--;
    TRY(new_node(x, HD_EXPR_max, at, &low));
    struct hd_expr_node *k = &x->f->node[three], *m = &x->f->node[low];
    m->n = k->n = 2;
    m->arg[0] = k->arg[0];
    m->arg[1] = k->arg[1];
    k->op = HD_EXPR_min;
    k->arg[0] = low;
    k->arg[1] = k->arg[2];
    *out = three;
    return HD_OK;
}

static hd_status cast(struct parser *x, int type, const char *at, int *out) {
    TRY(new_node(x, HD_EXPR_CAST, at, out));
    x->f->node[*out].type = type;
    while (take(x, ".")) {
        bool known = false;
        if (take_word(x, "sat")) known = x->f->node[*out].saturate = true;
        for (int r = HD_ROUND_TRUNC; r <= HD_ROUND_CEIL && !known; r++)
            if (take_word(x, hd_round_text[r])) {
                x->f->node[*out].round = (enum hd_expr_round)r;
                known = true;
            }
        if (!known) return wanted(x, "sat, trunc, even, away, floor or ceil");
    }
    TRY(need(x, "(", "the value to convert in parentheses"));
    return arguments(x, *out, 1);
}

static hd_status call(struct parser *x, const char *word, const char *at, int *out) {
    if (!strcmp(word, "clamp")) return clamp(x, at, out);
    if (!strcmp(word, "select")) {
        TRY(new_node(x, HD_EXPR_SELECT, at, out));
        return arguments(x, *out, 3);
    }
    if (!strcmp(word, "pad")) {
        TRY(new_node(x, HD_EXPR_PAD, at, out));
        TRY(arguments(x, *out, 2));
        const struct hd_expr_node *k = &x->f->node[*out];
        if (x->f->node[k->arg[0]].op == HD_EXPR_ACCESS) return HD_OK;
        x->p = at;
        return wanted(x, "an element of a tensor as the first argument of pad");
    }
    for (int op = 0; op < HD_EXPR_OPS; op++)
        if (hd_expr_infos[op].form == HD_FORM_FUNCTION && !strcmp(hd_expr_infos[op].text, word)) {
            TRY(new_node(x, (enum hd_expr_op)op, at, out));
            return arguments(x, *out, hd_expr_infos[op].n_args);
        }
    x->p = at;
    return wanted(x, "a function that is known (exp, max, select, ...), or [ behind a tensor");
}

static hd_status access(struct parser *x, const char *word, const char *at, int *out) {
    TRY(new_node(x, HD_EXPR_ACCESS, at, out));
    x->f->node[*out].name = word;
    for (int n = 0; !take(x, "]"); n++) {
        int index = 0;
        if (n) TRY(need(x, ",", "an operator, a comma or ]"));
        if (n == HD_EXPR_RANK) return wanted(x, "at most 8 indexes");
        skip(x);
        if (!strncmp(x->p, "...", 3)) {
            TRY(new_node(x, HD_EXPR_REST, x->p, &index));
            x->p += 3;
        } else {
            TRY(value(x, 1, &index));
        }
        x->f->node[*out].arg[n] = index;
        x->f->node[*out].n = n + 1;
    }
    return HD_OK;
}

static hd_status literal(struct parser *x, int *out) {
    struct number v;
    TRY(new_node(x, HD_EXPR_INT, x->p, out));
    TRY(number(x, &v));
    struct hd_expr_node *k = &x->f->node[*out];
    if (v.is_float) k->op = HD_EXPR_FLOAT;
    k->i = v.i;
    k->f = v.f;
    return HD_OK;
}

static bool is_number(const char *p) {
    p += *p == '-';
    if (isdigit((unsigned char)*p)) return true;
    return (!strncmp(p, "inf", 3) || !strncmp(p, "nan", 3)) && !is_word(p[3]);
}

static hd_status primary(struct parser *x, int *out) {
    const char *word;
    skip(x);
    const char *at = x->p;
    if (is_number(x->p)) return literal(x, out);
    if (take(x, "(")) {
        TRY(value(x, 1, out));
        return need(x, ")", "an operator or a closing parenthesis");
    }
    for (int op = 0; op < HD_EXPR_OPS; op++)
        if (hd_expr_infos[op].form == HD_FORM_PREFIX && take(x, hd_expr_infos[op].text)) {
            int arg = 0;
            TRY(new_node(x, (enum hd_expr_op)op, at, out));
            if (++x->depth > HD_EXPR_NESTING) return wanted(x, "at most 64 levels of nesting");
            TRY(primary(x, &arg));
            x->depth--;
            x->f->node[*out].n = 1;
            x->f->node[*out].arg[0] = arg;
            return HD_OK;
        }
    TRY(name(x, "a value: a number, a variable, an element or a function", &word));
    int type = hd_dtype_by_name(word);
    skip(x);
    if (type >= 0 && (*x->p == '(' || *x->p == '.')) {
        if (hd_expr_type_set(type)) return cast(x, type, at, out);
        x->p = at;
        return wanted(x, "a type of 8 bits or more, of integers, f16, bf16, f32, f64 or bool");
    }
    if (take(x, "[")) return access(x, word, at, out);
    if (take(x, "(")) return call(x, word, at, out);
    TRY(new_node(x, HD_EXPR_NAME, at, out));
    x->f->node[*out].name = word;
    return HD_OK;
}

/* The operator that stands here, the longest one; -1 = none. */
static int infix_here(struct parser *x) {
    int best = -1;
    skip(x);
    for (int op = 0; op < HD_EXPR_OPS; op++) {
        const struct hd_expr_info *k = &hd_expr_infos[op];
        if (k->form != HD_FORM_INFIX || strncmp(x->p, k->text, strlen(k->text))) continue;
        if (best < 0 || strlen(k->text) > strlen(hd_expr_infos[best].text)) best = op;
    }
    return best;
}

/* Operators of `level` and above. */
static hd_status value(struct parser *x, int level, int *out) {
    int left;
    if (++x->depth > HD_EXPR_NESTING) return wanted(x, "at most 64 levels of nesting");
    TRY(primary(x, &left));
    for (;;) {
        int right = 0, node = 0, op = infix_here(x);
        if (op < 0 || hd_expr_infos[op].level < level) break;
        const char *at = x->p;
        x->p += strlen(hd_expr_infos[op].text);
        TRY(value(x, hd_expr_infos[op].level + 1, &right));
        TRY(new_node(x, (enum hd_expr_op)op, at, &node));
        x->f->node[node].n = 2;
        x->f->node[node].arg[0] = left;
        x->f->node[node].arg[1] = right;
        left = node;
    }
    x->depth--;
    *out = left;
    return HD_OK;
}

/* ---- header and statements ------------------------------------------------------------------ */

static hd_status dims(struct parser *x, struct hd_expr_tensor *t) {
    int rest = 0;
    for (t->rank = 0; !take(x, "]"); t->rank++) {
        if (t->rank) TRY(need(x, ",", "a comma or ]"));
        if (t->rank == HD_EXPR_RANK) return wanted(x, "at most 8 dimensions");
        struct hd_expr_size *d = &t->dim[t->rank];
        skip(x);
        if (take(x, "...")) {
            d->rest = true;
            if (rest++) return wanted(x, "one ... at most");
        } else if (isdigit((unsigned char)*x->p)) {
            struct number v;
            TRY(number(x, &v));
            if (v.is_float) return wanted(x, "an integer as the size of a dimension");
            d->value = v.i;
        } else {
            TRY(name(x, "the size of a dimension: a number, a name or ...", &d->name));
        }
    }
    return HD_OK;
}

static hd_status shape(struct parser *x, struct hd_expr_tensor *t) {
    const char *word;
    skip(x);
    const char *at = x->p;
    if (*x->p != '[') {
        TRY(name(x, "a type or a shape", &word));
        t->type = hd_dtype_by_name(word);
        if (!hd_expr_type_set(t->type)) {
            x->p = at;
            return wanted(x, "a type (i8 .. u64, f16, bf16, f32, f64, bool), int, float or [");
        }
    }
    return take(x, "[") ? dims(x, t) : HD_OK;
}

static hd_status new_tensor(struct parser *x, const char *word, const char *at,
                            struct hd_expr_tensor **out) {
    struct hd_expr *f = x->f;
    if (f->n_tensors >= HD_EXPR_TENSORS) return wanted(x, "at most 64 tensors");
    if (hd_expr_tensor_by_name(f, word) >= 0 || hd_expr_scalar_by_name(f, word) >= 0) {
        x->p = at;
        return wanted(x, "a name that is not taken: each is defined once");
    }
    *out = hd_push(f->arena, f->tensor, f->n_tensors, f->cap_tensors);
    **out =
        (struct hd_expr_tensor){.name = word, .type = -1, .rank = -1, .at = (int)(at - x->text)};
    return HD_OK;
}

static hd_status param(struct parser *x) {
    struct hd_expr *f = x->f;
    const char *word;
    skip(x);
    const char *at = x->p;
    TRY(name(x, "the name of a parameter", &word));
    bool colon = take(x, ":"), is_int = colon && take_word(x, "int"),
         is_float = colon && !is_int && take_word(x, "float");
    struct hd_expr_tensor *t = NULL;
    if (colon && !is_int && !is_float) {
        TRY(new_tensor(x, word, at, &t));
        TRY(shape(x, t));
    }
    skip(x);
    if (*x->p != '=') {
        if (!colon) TRY(new_tensor(x, word, at, &t));
        if (t) t->param = true;
        if (t) return HD_OK;
    }
    struct number v = {.is_float = is_float};
    bool has_value = take(x, "=");
    if (has_value) TRY(number(x, &v));
    if (t) {
        t->param = t->optional = true;
        t->value = v.f;
        return HD_OK;
    }
    if (hd_expr_tensor_by_name(f, word) >= 0 || hd_expr_scalar_by_name(f, word) >= 0) {
        x->p = at;
        return wanted(x, "a name that is not taken");
    }
    if (f->n_scalars >= HD_EXPR_TENSORS) return wanted(x, "at most 64 scalars");
    if (is_int && v.is_float) return wanted(x, "an integer as the value of an int");
    *hd_push(f->arena, f->scalar, f->n_scalars, f->cap_scalars) = (struct hd_expr_scalar){
        .name = word, .is_float = is_float || v.is_float, .known = has_value, .i = v.i, .f = v.f};
    return HD_OK;
}

static hd_status header(struct parser *x) {
    struct hd_expr *f = x->f;
    for (int n = 0; !take(x, ")"); n++) {
        if (n) TRY(need(x, ",", "a comma or )"));
        TRY(param(x));
    }
    f->n_params = (int)f->n_tensors;
    TRY(need(x, "->", "-> and the names of the results"));
    do {
        const char *word;
        struct hd_expr_tensor *t;
        skip(x);
        const char *at = x->p;
        TRY(name(x, "the name of a result", &word));
        TRY(new_tensor(x, word, at, &t));
        t->result = true;
        if (take(x, ":")) TRY(shape(x, t));
        *hd_push(f->arena, f->result, f->n_results, f->cap_results) = (int)f->n_tensors - 1;
    } while (take(x, ","));
    take(x, ";");
    return HD_OK;
}

static hd_status left_side(struct parser *x, struct hd_expr_stmt *s) {
    TRY(need(x, "[", "[ and the indexes of the result"));
    for (s->rank = 0; !take(x, "]"); s->rank++) {
        if (s->rank) TRY(need(x, ",", "a comma or ]"));
        if (s->rank == HD_EXPR_RANK) return wanted(x, "at most 8 indexes");
        if (take(x, "...")) {
            s->lhs[s->rank] = -1;
            continue;
        }
        const char *word;
        skip(x);
        const char *at = x->p;
        TRY(name(x, "an index variable of its own for each dimension, or ...", &word));
        for (int v = 0; v < s->n_vars; v++)
            if (!strcmp(s->var[v].name, word)) {
                x->p = at;
                return wanted(x, "an index variable that is not there yet");
            }
        s->lhs[s->rank] = s->n_vars;
        s->var[s->n_vars++] = (struct hd_expr_var){.name = word, .extent = -1, .where = -1};
    }
    return HD_OK;
}

static hd_status limits(struct parser *x, struct hd_expr_stmt *s) {
    do {
        const char *word;
        int v = 0;
        skip(x);
        const char *at = x->p;
        TRY(name(x, "an index variable", &word));
        while (v < s->n_vars && strcmp(s->var[v].name, word)) v++;
        if (v == HD_EXPR_VARS) return wanted(x, "at most 24 index variables");
        if (v == s->n_vars) /* a reduction's: the value has it, or resolve refuses it */
            s->var[s->n_vars++] =
                (struct hd_expr_var){.name = word, .extent = -1, .where = -1, .reduced = true};
        if (s->var[v].where >= 0) {
            x->p = at;
            return wanted(x, "one limit for each variable");
        }
        TRY(need(x, "<", "< and the limit"));
        int limit;
        TRY(value(x, hd_expr_infos[HD_EXPR_lt].level + 1, &limit));
        s->var[v].where = limit;
    } while (take(x, ","));
    return HD_OK;
}

static hd_status statement(struct parser *x) {
    struct hd_expr *f = x->f;
    if (f->n_stmts >= HD_EXPR_TENSORS) return wanted(x, "at most 64 statements");
    struct hd_expr_stmt *s = hd_push(f->arena, f->stmt, f->n_stmts, f->cap_stmts);
    const char *word;
    skip(x);
    const char *at = x->p;
    s->at = (int)(at - x->text);
    TRY(name(x, "the name of the tensor that a statement defines", &word));
    s->tensor = hd_expr_tensor_by_name(f, word);
    struct hd_expr_tensor *t = s->tensor >= 0 ? &f->tensor[s->tensor] : NULL;
    bool again = t && !t->result;
    for (size_t i = 0; i + 1 < f->n_stmts; i++) again = again || f->stmt[i].tensor == s->tensor;
    if (t && again) {
        x->p = at;
        return wanted(x, "a name that is not defined yet: each is defined once");
    }
    if (!t) {
        TRY(new_tensor(x, word, at, &t));
        s->tensor = (int)f->n_tensors - 1;
    }
    TRY(left_side(x, s));
    skip(x);
    for (int r = HD_REDUCES - 1; r >= 0; r--)
        if (take(x, hd_reduce_text[r])) {
            s->reduce = (enum hd_expr_reduce)r;
            TRY(value(x, 1, &s->value));
            if (take_word(x, "where")) TRY(limits(x, s));
            take(x, ";");
            return HD_OK;
        }
    return wanted(x, "=, +=, *=, max=, min=, argmax= or argmin=");
}

hd_status hd_expr_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_expr **out) {
    struct hd_expr *f = hd_new(a, struct hd_expr);
    f->arena = a;
    size_t bytes = strlen(text);
    if (bytes > HD_EXPR_BYTES)
        return hd_fail(ctx, HD_INVALID, "expression: %zu bytes of text, at most %d", bytes,
                       HD_EXPR_BYTES);
    f->text = hd_strdup(a, text);
    struct parser x = {.ctx = ctx, .f = f, .text = f->text, .p = f->text};
    if (take(&x, "(")) TRY(header(&x));
    do {
        x.depth = 0;
        TRY(statement(&x));
        skip(&x);
    } while (*x.p);
    TRY(hd_expr_resolve(ctx, f));
    *out = f;
    return HD_OK;
}
