/* Selectors: text to query and back.
 *
 *   list      selector { "," selector }
 *   selector  compound { ( ">" | space ) compound }
 *   compound  ( type | "*" | test ) { test }
 *   test      "#" name | "." label | "[" attribute [ op value ] "]" | ":not(" list ")"
 *   name, label, attribute, type, value:  a word of letters, digits, _ - / or a "string"
 *   a value may also be a number with sign, fraction, exponent, or % */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/query/query.h"

const char *const hd_query_op_text[HD_QUERY_OPS] = {
#define OP(name, text) text,
#include "compiler/query/ops.def"
};

struct parser {
    hd_ctx *ctx;
    hd_arena *a;
    const char *text, *p;
    int depth;
};

static hd_status wanted(struct parser *x, const char *what) {
    return hd_fail(x->ctx, HD_INVALID,
                   "selector '%s', at column %d ('%.20s'): want %s; see docs/query.md", x->text,
                   (int)(x->p - x->text) + 1, x->p, what);
}

static void skip_space(struct parser *x) {
    while (isspace((unsigned char)*x->p)) x->p++;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '/' || (c & 0x80);
}

/* A string in quotes of either kind; \ takes the next character as it is. */
static hd_status string(struct parser *x, const char **out) {
    char quote = *x->p++, *to = hd_alloc(x->a, strlen(x->p) + 1);
    *out = to;
    for (; *x->p && *x->p != quote; x->p++) {
        if (*x->p == '\\' && x->p[1]) x->p++;
        *to++ = *x->p;
    }
    if (!*x->p) return wanted(x, "the quote that ends the string");
    x->p++;
    return HD_OK;
}

static hd_status word(struct parser *x, const char *what, const char **out) {
    if (*x->p == '"' || *x->p == '\'') return string(x, out);
    const char *begin = x->p;
    while (is_word(*x->p)) x->p++;
    if (x->p == begin) return wanted(x, what);
    *out = hd_strndup(x->a, begin, (size_t)(x->p - begin));
    return HD_OK;
}

/* A number, or a word. */
static hd_status value(struct parser *x, struct hd_query_test *t) {
    char *end = NULL;
    const char *begin = x->p;
    double v = *begin == '"' || *begin == '\'' || isalpha((unsigned char)*begin)
                   ? NAN
                   : strtod(begin, &end);
    if (isfinite(v) && end > begin) {
        bool percent = *end == '%';
        if (!is_word(end[percent]) && end[percent] != '.') {
            x->p = end + percent;
            t->is_number = true;
            t->number = percent ? v / 100 : v;
            t->value = hd_sprintf(x->a, "%.17g", t->number);
            return HD_OK;
        }
    }
    return word(x, "a number, a word or a \"string\"", &t->value);
}

static hd_status attribute(struct parser *x, struct hd_query_test *t) {
    t->kind = HD_TEST_ATTR;
    skip_space(x);
    TRY(word(x, "the name of an attribute", &t->name));
    skip_space(x);
    for (int op = 1; op < HD_QUERY_OPS; op++) {
        size_t n = strlen(hd_query_op_text[op]);
        if (strncmp(x->p, hd_query_op_text[op], n)) continue;
        x->p += n;
        t->op = (enum hd_query_op)op;
        skip_space(x);
        const char *at = x->p;
        TRY(value(x, t));
        bool ordered =
            op == HD_QUERY_lt || op == HD_QUERY_gt || op == HD_QUERY_le || op == HD_QUERY_ge;
        if (ordered && !t->is_number) {
            x->p = at;
            return wanted(x, "a number, since the comparison is one of order");
        }
        break;
    }
    skip_space(x);
    if (*x->p != ']') return wanted(x, t->op ? "]" : "a comparison (= != < <= > >= ^= $= *=) or ]");
    x->p++;
    return HD_OK;
}

static hd_status list(struct parser *x, const struct hd_query **out);

static hd_status negation(struct parser *x, struct hd_query_test *t) {
    t->kind = HD_TEST_NOT;
    if (strncmp(x->p, "not(", 4)) return wanted(x, "not(...), the only word behind a colon");
    x->p += 4;
    if (++x->depth > HD_QUERY_NESTING) return wanted(x, "at most 16 :not() within each other");
    TRY(list(x, &t->inner));
    x->depth--;
    if (*x->p != ')') return wanted(x, ")");
    x->p++;
    return HD_OK;
}

static hd_status compound(struct parser *x, struct hd_query_compound *c) {
    bool any = *x->p == '*';
    if (any)
        x->p++;
    else if (is_word(*x->p))
        TRY(word(x, "a type", &c->type));
    else if (!*x->p || !strchr("#.[:", *x->p))
        return wanted(x, "an operation, *, #name, .label, [attribute] or :not(...)");
    struct hd_query_test **end = &c->tests;
    while (*x->p && strchr("#.[:", *x->p)) {
        struct hd_query_test *t = *end = hd_new(x->a, struct hd_query_test);
        end = &t->next;
        switch (*x->p++) {
        case '#':
            t->kind = HD_TEST_NAME;
            TRY(word(x, "a name; one with other characters goes in quotes: #\"a:b\"", &t->name));
            break;
        case '.':
            t->kind = HD_TEST_LABEL;
            TRY(word(x, "a label", &t->name));
            break;
        case '[':
            TRY(attribute(x, t));
            break;
        default:
            TRY(negation(x, t));
            break;
        }
    }
    return HD_OK;
}

static hd_status selector(struct parser *x, struct hd_query *q) {
    struct hd_query_compound **end = &q->first;
    for (char combinator = 0;;) {
        struct hd_query_compound *c = *end = hd_new(x->a, struct hd_query_compound);
        c->combinator = combinator;
        end = &c->next;
        TRY(compound(x, c));
        const char *before = x->p;
        skip_space(x);
        if (*x->p == '>') {
            combinator = '>';
            x->p++;
            skip_space(x);
        } else if (!*x->p || *x->p == ',' || *x->p == ')') {
            return HD_OK;
        } else if (x->p > before) {
            combinator = ' ';
        } else {
            return wanted(x, "a space, >, a comma or the end");
        }
    }
}

static hd_status list(struct parser *x, const struct hd_query **out) {
    struct hd_query *q = hd_new(x->a, struct hd_query);
    *out = q;
    for (;;) {
        skip_space(x);
        TRY(selector(x, q));
        if (*x->p != ',') return HD_OK;
        x->p++;
        q = q->next = hd_new(x->a, struct hd_query);
    }
}

hd_status hd_query_parse(hd_ctx *ctx, hd_arena *a, const char *text, const struct hd_query **out) {
    struct parser x = {.ctx = ctx, .a = a, .text = text, .p = text};
    if (strlen(text) > HD_QUERY_BYTES)
        return hd_fail(ctx, HD_INVALID, "selector: %zu characters, at most %d", strlen(text),
                       HD_QUERY_BYTES);
    TRY(list(&x, out));
    return *x.p ? wanted(&x, "a comma or the end") : HD_OK;
}

/* ---- back to text --------------------------------------------------------------------------- */

static const char *quoted(hd_arena *a, const char *s, bool plain) {
    for (const char *p = s; *p; p++) plain = plain && is_word(*p);
    if (plain && *s) return s;
    char *to = hd_alloc(a, 2 * strlen(s) + 3), *begin = to;
    *to++ = '"';
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') *to++ = '\\';
        *to++ = *s;
    }
    *to = '"';
    return begin;
}

static const char *test_text(hd_arena *a, const struct hd_query_test *t) {
    switch (t->kind) {
    case HD_TEST_NAME:
        return hd_sprintf(a, "#%s", quoted(a, t->name, true));
    case HD_TEST_LABEL:
        return hd_sprintf(a, ".%s", quoted(a, t->name, true));
    case HD_TEST_NOT:
        return hd_sprintf(a, ":not(%s)", hd_query_text(a, t->inner));
    default:
        if (!t->op) return hd_sprintf(a, "[%s]", quoted(a, t->name, true));
        return hd_sprintf(a, "[%s%s%s]", quoted(a, t->name, true), hd_query_op_text[t->op],
                          t->is_number ? t->value
                                       : quoted(a, t->value, isalpha((unsigned char)*t->value)));
    }
}

const char *hd_query_text(hd_arena *a, const struct hd_query *q) {
    const char *text = "";
    for (const struct hd_query *s = q; s; s = s->next) {
        if (s != q) text = hd_sprintf(a, "%s, ", text);
        for (const struct hd_query_compound *c = s->first; c; c = c->next) {
            const char *between = c->combinator == '>' ? " > " : c->combinator ? " " : "";
            text = hd_sprintf(a, "%s%s%s", text, between, c->type ? c->type : c->tests ? "" : "*");
            for (const struct hd_query_test *t = c->tests; t; t = t->next)
                text = hd_sprintf(a, "%s%s", text, test_text(a, t));
        }
    }
    return text;
}

static void add_attrs(hd_arena *a, const struct hd_query *q, const char ***list_, size_t *n,
                      size_t *cap) {
    for (; q; q = q->next)
        for (const struct hd_query_compound *c = q->first; c; c = c->next)
            for (const struct hd_query_test *t = c->tests; t; t = t->next) {
                if (t->kind == HD_TEST_NOT) add_attrs(a, t->inner, list_, n, cap);
                bool is_new = t->kind == HD_TEST_ATTR && strcmp(t->name, "name") != 0;
                for (size_t i = 0; i < *n && is_new; i++)
                    is_new = strcmp((*list_)[i], t->name) != 0;
                if (is_new) *hd_push(a, *list_, *n, *cap) = t->name;
            }
}

const char *const *hd_query_attrs(hd_arena *a, const struct hd_query *q, int *out_n) {
    const char **names = NULL;
    size_t n = 0, cap = 0;
    add_attrs(a, q, &names, &n, &cap);
    *out_n = (int)n;
    return names;
}
