/* Parser of einsum equations.  Source: ONNX Einsum-12. */
#include "compiler/ir/einsum.h"

#include <string.h>

/* Dimensions under "..." get labels of their own, counted from the last: 'last' is ELLIPSIS. */
enum { ELLIPSIS = 128, CHARS = ELLIPSIS + HD_MAX_RANK };

struct term {
    int n; /* labels, with the ellipsis spread out */
    int c[HD_MAX_RANK];
};

static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static hd_status push(hd_ctx *ctx, const char *equation, struct term *t, int c) {
    if (t->n == HD_MAX_RANK)
        return hd_fail(ctx, HD_UNSUPPORTED, "equation '%s': a term has more than %d dimensions",
                       equation, HD_MAX_RANK);
    t->c[t->n++] = c;
    return HD_OK;
}

/* One term, up to ',' or '-' or the end. dots: how many dimensions "..." stands for. */
static hd_status parse_term(hd_ctx *ctx, const char *equation, const char **p, int dots,
                            struct term *t) {
    bool seen = false;
    *t = (struct term){0};
    for (; **p && **p != ',' && **p != '-'; ++*p) {
        if (**p == ' ') continue;
        if (letter(**p)) {
            TRY(push(ctx, equation, t, **p));
        } else if (!strncmp(*p, "...", 3) && !seen) {
            for (int i = dots - 1; i >= 0; i--) TRY(push(ctx, equation, t, ELLIPSIS + i));
            seen = true;
            *p += 2;
        } else {
            return hd_fail(ctx, HD_INVALID,
                           "equation '%s': '%c' at %d; want letters, one '...', ',' and one '->'",
                           equation, **p, (int)(*p - equation));
        }
    }
    return HD_OK;
}

/* Dimensions that "..." stands for in the term at p, for an operand of this rank. */
static int count_dots(const char *p, int rank) {
    int letters = 0;
    bool dots = false;
    for (; *p && *p != ',' && *p != '-'; p++) {
        letters += letter(*p);
        dots = dots || *p == '.';
    }
    return dots && rank > letters ? rank - letters : 0;
}

struct labels {
    int id[CHARS];    /* label of a character, -1 = none yet */
    int count[CHARS]; /* appearances in the operands */
    int64_t size[CHARS];
    int dots; /* the longest ellipsis */
};

static hd_status see_operand(hd_ctx *ctx, const char *equation, const struct hd_tensor *x,
                             const struct term *t, struct labels *l) {
    if (t->n != x->rank)
        return hd_fail(ctx, HD_INVALID, "equation '%s': %d labels for '%s', which has rank %d",
                       equation, t->n, x->name, x->rank);
    for (int d = 0; d < t->n; d++) {
        int c = t->c[d];
        l->count[c]++;
        if (l->size[c] <= 1) l->size[c] = x->dim[d];
        if (x->dim[d] != l->size[c] && x->dim[d] != 1)
            return hd_fail(ctx, HD_INVALID,
                           "equation '%s': dimension %d of '%s' is %lld, elsewhere its label has "
                           "size %lld",
                           equation, d, x->name, (long long)x->dim[d], (long long)l->size[c]);
    }
    return HD_OK;
}

static hd_status result(hd_ctx *ctx, const char *equation, const char *p, struct labels *l,
                        struct term *out) {
    if (*p) {
        if (strncmp(p, "->", 2))
            return hd_fail(ctx, HD_INVALID, "equation '%s': '%c' at %d, want '->'", equation, *p,
                           (int)(p - equation));
        p += 2;
        TRY(parse_term(ctx, equation, &p, l->dots, out));
        if (*p)
            return hd_fail(ctx, HD_INVALID, "equation '%s': '%c' at %d, want the end", equation, *p,
                           (int)(p - equation));
        return HD_OK;
    }
    *out = (struct term){0};
    for (int i = l->dots - 1; i >= 0; i--) TRY(push(ctx, equation, out, ELLIPSIS + i));
    for (int c = 'A'; c <= 'z'; c++)
        if (l->count[c] == 1) TRY(push(ctx, equation, out, c));
    return HD_OK;
}

hd_status hd_einsum_parse(hd_ctx *ctx, const char *equation, int n,
                          const struct hd_tensor *const *x, struct hd_einsum *out) {
    struct term terms[HD_EINSUM_OPERANDS], y;
    struct labels l = {.dots = 0};
    const char *p = equation;
    *out = (struct hd_einsum){0};
    for (int c = 0; c < CHARS; c++) l.id[c] = -1;
    if (n > HD_EINSUM_OPERANDS)
        return hd_fail(ctx, HD_UNSUPPORTED, "%d operands, at most %d", n, HD_EINSUM_OPERANDS);
    for (int i = 0; i < n; i++) {
        int dots = count_dots(p, x[i]->rank);
        if (dots > l.dots) l.dots = dots;
        TRY(parse_term(ctx, equation, &p, dots, &terms[i]));
        TRY(see_operand(ctx, equation, x[i], &terms[i], &l));
        if ((*p == ',') != (i + 1 < n))
            return hd_fail(ctx, HD_INVALID,
                           "equation '%s' does not have one term for each of %d operands", equation,
                           n);
        if (*p == ',') p++;
    }
    TRY(result(ctx, equation, p, &l, &y));
    for (int d = 0; d < y.n; d++) {
        if (!l.count[y.c[d]] || l.id[y.c[d]] >= 0)
            return hd_fail(ctx, HD_INVALID, "equation '%s': label %d of the result appears %s",
                           equation, d, l.count[y.c[d]] ? "twice" : "in no operand");
        out->size[out->n_labels] = l.size[y.c[d]];
        l.id[y.c[d]] = out->n_labels++;
    }
    out->n_out = out->n_labels;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < terms[i].n; d++) {
            int c = terms[i].c[d];
            if (l.id[c] < 0) {
                if (out->n_labels == HD_EINSUM_LABELS)
                    return hd_fail(ctx, HD_UNSUPPORTED, "equation '%s': more than %d labels",
                                   equation, HD_EINSUM_LABELS);
                out->size[out->n_labels] = l.size[c];
                l.id[c] = out->n_labels++;
            }
            out->label[i][d] = l.id[c];
        }
    return HD_OK;
}
