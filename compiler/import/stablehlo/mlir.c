/* A parser of MLIR text by recursive descent, which goes 32 regions deep. What separates the parts
 * of an operation is the same in all pretty forms, so one loop reads them all. */
#include "compiler/import/stablehlo/mlir.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 32 };

struct parser {
    hd_ctx *ctx;
    hd_arena *a;
    const char *p;
    int line, depth;
};

static hd_status bad(struct parser *s, const char *want) {
    return hd_fail(s->ctx, HD_INVALID, "line %d: got '%.20s', want %s", s->line, s->p, want);
}

static void blanks(struct parser *s) {
    for (;; s->p++) {
        if (s->p[0] == '/' && s->p[1] == '/') s->p += strcspn(s->p, "\n");
        if (!*s->p || !isspace((unsigned char)*s->p)) return;
        if (*s->p == '\n') s->line++;
    }
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static bool take(struct parser *s, const char *text) {
    size_t n = strlen(text);
    blanks(s);
    if (strncmp(s->p, text, n) || (is_word(text[n - 1]) && is_word(s->p[n]))) return false;
    s->p += n;
    return true;
}

static bool peek(struct parser *s, const char *text) {
    struct parser saved = *s;
    bool yes = take(s, text);
    *s = saved;
    return yes;
}

static const char *word(struct parser *s) {
    size_t n = 0;
    blanks(s);
    if (*s->p == '"') {
        const char *from = ++s->p;
        while (*s->p && *s->p != '"') s->p += s->p[0] == '\\' && s->p[1] ? 2 : 1;
        const char *v = hd_strndup(s->a, from, (size_t)(s->p - from));
        if (*s->p) s->p++;
        return v;
    }
    while (is_word(s->p[n])) n++;
    const char *v = n ? hd_strndup(s->a, s->p, n) : NULL;
    s->p += n;
    return v;
}

/* "%name" or "%name#1". */
static const char *value_name(struct parser *s) {
    size_t n = 1;
    while (is_word(s->p[n]) || s->p[n] == '-' || s->p[n] == '#') n++;
    const char *v = hd_strndup(s->a, s->p, n);
    s->p += n;
    return v;
}

/* Text up to one of `ends` outside brackets and strings. */
static hd_status balanced(struct parser *s, const char *ends, const char **out) {
    int depth = 0;
    blanks(s);
    const char *from = s->p;
    for (; *s->p; s->p++) {
        char c = *s->p;
        if (c == '\n') s->line++;
        if (!depth && s->p > from && strchr(ends, c)) break;
        if (c == '"') {
            for (s->p++; *s->p && *s->p != '"'; s->p++)
                if (s->p[0] == '\\' && s->p[1]) s->p++;
            if (!*s->p) return bad(s, "the end of a string");
        } else if (c == '-' && s->p[1] == '>') {
            s->p++;
        } else if (strchr("([{<", c)) {
            depth++;
        } else if (strchr(")]}>", c)) {
            if (!depth) break;
            depth--;
        }
        if (!depth && *from == '{' && c == '}') {
            s->p++;
            break;
        }
    }
    if (depth) return bad(s, "a closing bracket");
    size_t n = (size_t)(s->p - from);
    while (n && isspace((unsigned char)from[n - 1])) n--;
    if (!n) return bad(s, "a value");
    *out = hd_strndup(s->a, from, n);
    return HD_OK;
}

static void add_attr(struct parser *s, struct hd_mlir_op *op, const char *name, const char *text) {
    *hd_push(s->a, op->attrs, op->n_attrs, op->cap_attrs) = (struct hd_mlir_attr){name, text};
}

/* {name = value, name, ..}; the brace is open. */
static hd_status dictionary(struct parser *s, struct hd_mlir_op *op) {
    while (!take(s, "}")) {
        const char *name = word(s), *text = "unit";
        if (!name) return bad(s, "the name of an attribute");
        if (take(s, "=")) TRY(balanced(s, ",}", &text));
        add_attr(s, op, name, text);
        take(s, ",");
    }
    return HD_OK;
}

static hd_status type_list(struct parser *s, const char ***list, size_t *n, size_t *cap) {
    const char *type;
    if (take(s, "(")) {
        while (!take(s, ")")) {
            TRY(balanced(s, ",){", &type));
            *hd_push(s->a, *list, *n, *cap) = type;
            if (peek(s, "{")) TRY(balanced(s, ",)", &type)); /* attributes of a result */
            take(s, ",");
        }
        return HD_OK;
    }
    do {
        blanks(s);
        if (strchr("-({", *s->p)) return bad(s, "a type");
        TRY(balanced(s, ", \n\r\t)]}", &type));
        *hd_push(s->a, *list, *n, *cap) = type;
    } while (take(s, ","));
    return HD_OK;
}

static hd_status signature(struct parser *s, struct hd_mlir_op *op) {
    TRY(type_list(s, &op->types, &op->n_types, &op->cap_types));
    if (take(s, "->") || take(s, "to"))
        return type_list(s, &op->result_types, &op->n_result_types, &op->cap_result_types);
    return HD_OK;
}

/* ---- operations ---- */

static hd_status ops(struct parser *s, struct hd_mlir_region *r);

/* "{ ^bb0(%a: type, ..): ops }"; the brace is open. */
static hd_status region(struct parser *s, struct hd_mlir_op *op, const char *const *args,
                        size_t n_args) {
    struct hd_mlir_region r = {0};
    const char *type;
    if (++s->depth > NESTING_MAX)
        return hd_fail(s->ctx, HD_UNSUPPORTED, "line %d: regions nested deeper than %d", s->line,
                       NESTING_MAX);
    for (size_t i = 0; i < n_args; i++) *hd_push(s->a, r.args, r.n_args, r.cap_args) = args[i];
    blanks(s);
    if (*s->p == '^') {
        s->p += strcspn(s->p, "(:\n");
        if (take(s, "("))
            while (!take(s, ")")) {
                blanks(s);
                if (*s->p != '%') return bad(s, "a block argument");
                *hd_push(s->a, r.args, r.n_args, r.cap_args) = value_name(s);
                if (take(s, ":")) TRY(balanced(s, ",)", &type));
                take(s, ",");
            }
        if (!take(s, ":")) return bad(s, "':' behind a block's name");
    }
    TRY(ops(s, &r));
    if (!take(s, "}")) return bad(s, "the end of a region");
    s->depth--;
    *hd_push(s->a, op->regions, op->n_regions, op->cap_regions) = r;
    return HD_OK;
}

struct loop_args { /* of while: %iter = %operand; of reduce: reducer(%a: type, ..) */
    const char **name;
    size_t n, cap;
    int parens;   /* that are open */
    bool literal; /* the last part was one, and has its type behind a colon */
};

static hd_status operand(struct parser *s, struct hd_mlir_op *op, struct loop_args *iter) {
    const char *name = value_name(s);
    if (peek(s, "=") && !peek(s, "==")) {
        take(s, "=");
        *hd_push(s->a, iter->name, iter->n, iter->cap) = name;
        return HD_OK;
    }
    *hd_push(s->a, op->operands, op->n_operands, op->cap_operands) = name;
    return HD_OK;
}

static hd_status reducer(struct parser *s, struct hd_mlir_op *op) {
    struct loop_args args = {0};
    const char *type;
    while (take(s, "(")) {
        while (!take(s, ")")) {
            blanks(s);
            if (*s->p != '%') return bad(s, "an argument");
            *hd_push(s->a, args.name, args.n, args.cap) = value_name(s);
            if (take(s, ":")) TRY(balanced(s, ",)", &type));
            take(s, ",");
        }
        take(s, ",");
    }
    /* reducer(%a, %b) (%c, %d) pairs left and right operands: left ones go first in a block. */
    const char **flat = hd_new_array(s->a, const char *, args.n + 1);
    for (size_t i = 0; i < args.n; i++) flat[i % 2 ? args.n / 2 + i / 2 : i / 2] = args.name[i];
    if (!take(s, "{")) return bad(s, "the body of a reducer");
    return region(s, op, flat, args.n);
}

static hd_status named(struct parser *s, struct hd_mlir_op *op, const char *name) {
    const char *text;
    if (!strcmp(name, "applies")) {
        text = word(s);
        if (!text) return bad(s, "an operation");
        add_attr(s, op, "applies", text);
        return HD_OK;
    }
    if (take(s, "=")) {
        TRY(balanced(s, ",:{\n", &text));
        add_attr(s, op, name, text);
        return HD_OK;
    }
    blanks(s);
    *hd_push(s->a, op->words, op->n_words, op->cap_words) = name;
    return HD_OK;
}

static bool begins_literal(const struct parser *s) {
    return !strncmp(s->p, "dense<", 6) || !strncmp(s->p, "array<", 6) ||
           !strncmp(s->p, "dense_resource<", 15);
}

/* One part of an operation; *done: it was the last one. */
static hd_status part(struct parser *s, struct hd_mlir_op *op, struct loop_args *iter, bool *done) {
    const char *text;
    char c = *s->p;
    bool literal = iter->literal;
    iter->literal = false;
    if (c == '%') return operand(s, op, iter);
    if (begins_literal(s)) {
        iter->literal = true;
        TRY(balanced(s, ":,)\n", &text));
        add_attr(s, op, "value", text);
    } else if (c == ':' && iter->parens) {
        s->p++;
        if (literal) TRY(type_list(s, &op->types, &op->n_types, &op->cap_types));
    } else if (take(s, ":")) {
        TRY(signature(s, op));
        *done = !peek(s, "cond") && !peek(s, "do") && !peek(s, "reducer") && !peek(s, "attributes");
    } else if (take(s, "cond") || take(s, "do")) {
        if (!take(s, "{")) return bad(s, "a region");
        TRY(region(s, op, iter->name, iter->n));
        *done = op->n_regions == 2;
    } else if (take(s, "reducer")) {
        TRY(reducer(s, op));
        *done = true;
    } else if (c == '(' && (s->p++, peek(s, "{"))) {
        do {
            if (!take(s, "{")) return bad(s, "a region");
            TRY(region(s, op, NULL, 0));
        } while (take(s, ","));
        if (!take(s, ")")) return bad(s, "')' behind regions");
    } else if (c == '(') {
        iter->parens++; /* which has been taken */
    } else if (c == ')' || c == ',') {
        iter->parens -= c == ')' && iter->parens;
        s->p++;
    } else if (c == '<' && s->p[1] == '{') {
        s->p += 2;
        TRY(dictionary(s, op));
        if (!take(s, ">")) return bad(s, "'>'");
    } else if (take(s, "{")) {
        TRY(dictionary(s, op));
    } else if (take(s, "@")) {
        text = word(s);
        if (!text) return bad(s, "a symbol");
        add_attr(s, op, "callee", text);
    } else if (c == '[') {
        TRY(balanced(s, "{:,\n", &text));
        add_attr(s, op, "[]", text);
    } else if (c == '#') {
        TRY(balanced(s, ",:\n", &text));
        add_attr(s, op, "#", text);
    } else if ((text = word(s))) {
        return named(s, op, text);
    } else {
        return bad(s, "a part of an operation");
    }
    return HD_OK;
}

static bool is_return(const char *name) {
    size_t n = strlen(name);
    return n >= 6 && !strcmp(name + n - 6, "return");
}

static hd_status operation(struct parser *s, struct hd_mlir_op *op) {
    struct loop_args iter = {0};
    op->line = s->line;
    if (*s->p == '%') {
        op->result = value_name(s);
        op->n_results = 1;
        if (take(s, ":")) op->n_results = (int)strtol(s->p, (char **)&s->p, 10);
        while (take(s, ",")) { /* %a, %b = ..: each a name of its own */
            blanks(s);
            if (*s->p != '%') return bad(s, "a result");
            op->result = hd_sprintf(s->a, "%s,%s", op->result, value_name(s));
            op->n_results++;
        }
        if (op->n_results < 1 || op->n_results > 1024) return bad(s, "1 to 1024 results");
        if (!take(s, "=")) return bad(s, "'='");
    }
    op->name = word(s);
    if (!op->name) return bad(s, "an operation");
    bool done = false;
    while (!done) {
        const char *before = s->p;
        int line = s->line;
        blanks(s);
        if (!*s->p || *s->p == '}') break;
        if (s->line > line && is_return(op->name) && *s->p != ':' && *s->p != '%') break;
        TRY(part(s, op, &iter, &done));
        if (s->p == before) return bad(s, "a part of an operation");
    }
    return HD_OK;
}

static hd_status ops(struct parser *s, struct hd_mlir_region *r) {
    for (blanks(s); *s->p && *s->p != '}'; blanks(s)) {
        struct hd_mlir_op op = {0};
        TRY(operation(s, &op));
        *hd_push(s->a, r->ops, r->n_ops, r->cap_ops) = op;
    }
    return HD_OK;
}

/* ---- functions and modules ---- */

static hd_status function(struct parser *s, struct hd_mlir_module *m) {
    struct hd_mlir_func f = {0};
    const char *text;
    while (take(s, "public") || take(s, "private")) continue;
    if (!take(s, "@") || !(f.name = word(s))) return bad(s, "the name of a function");
    if (!take(s, "(")) return bad(s, "arguments");
    while (!take(s, ")")) {
        blanks(s);
        if (*s->p != '%') return bad(s, "an argument");
        *hd_push(s->a, f.body.args, f.body.n_args, f.body.cap_args) = value_name(s);
        if (!take(s, ":")) return bad(s, "the type of an argument");
        TRY(balanced(s, ",){", &text));
        *hd_push(s->a, f.arg_types, f.n_arg_types, f.cap_arg_types) = text;
        if (peek(s, "{")) TRY(balanced(s, ",)", &text));
        take(s, ",");
    }
    if (take(s, "->")) {
        struct hd_mlir_op unused = {0};
        TRY(type_list(s, &unused.types, &unused.n_types, &unused.cap_types));
    }
    if (take(s, "attributes")) TRY(balanced(s, "\n", &text));
    if (take(s, "{")) {
        TRY(ops(s, &f.body));
        if (!take(s, "}")) return bad(s, "the end of a function");
    }
    *hd_push(s->a, m->funcs, m->n_funcs, m->cap_funcs) = f;
    return HD_OK;
}

static hd_status top(struct parser *s, struct hd_mlir_module *m) {
    const char *text;
    for (blanks(s); *s->p && *s->p != '}'; blanks(s)) {
        if (take(s, "module") || take(s, "builtin.module")) {
            if (take(s, "@")) word(s);
            if (take(s, "attributes")) TRY(balanced(s, "\n", &text));
            if (!take(s, "{")) return bad(s, "the body of a module");
            if (++s->depth > NESTING_MAX) return bad(s, "fewer modules in modules");
            TRY(top(s, m));
            s->depth--;
            if (!take(s, "}")) return bad(s, "the end of a module");
        } else if (take(s, "func.func") || take(s, "func")) {
            TRY(function(s, m));
        } else if (*s->p == '#') { /* a name for an attribute */
            TRY(balanced(s, "\n", &text));
        } else {
            return bad(s, "a module or a function");
        }
    }
    return HD_OK;
}

hd_status hd_mlir_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_mlir_module *out) {
    struct parser s = {.ctx = ctx, .a = a, .p = text, .line = 1};
    *out = (struct hd_mlir_module){0};
    TRY(top(&s, out));
    return *s.p ? bad(&s, "the end of the file") : HD_OK;
}

/* ---- access ---- */

const char *hd_mlir_attr(const struct hd_mlir_op *op, const char *name) {
    for (size_t i = 0; i < op->n_attrs; i++)
        if (!strcmp(op->attrs[i].name, name)) return op->attrs[i].text;
    return NULL;
}

bool hd_mlir_has_word(const struct hd_mlir_op *op, const char *w) {
    for (size_t i = 0; i < op->n_words; i++)
        if (!strcmp(op->words[i], w)) return true;
    return false;
}

int hd_mlir_ints(const char *text, int64_t *out, int max) {
    int n = 0;
    if (!text) return 0;
    if (!strncmp(text, "array<", 6)) text += strcspn(text, ":>");
    for (const char *p = text; *p;) {
        if (*p == ':' && p > text && p[-1] == ' ') break; /* its type */
        bool digit = isdigit((unsigned char)*p) || (*p == '-' && isdigit((unsigned char)p[1]));
        if (!digit || (p > text && (isalnum((unsigned char)p[-1]) && p[-1] != 'x'))) {
            p++;
            continue;
        }
        char *end;
        int64_t v = strtoll(p, &end, 10);
        if (n < max) out[n] = v;
        n++;
        p = end;
    }
    return n;
}
