/* Selectors: the items that a query means. Every compound is turned into the set of items that it
 * allows, from left to right, so the time is items times compounds. */
#include <stdlib.h>
#include <string.h>

#include "compiler/query/query.h"

struct match {
    hd_ctx *ctx;
    hd_arena *a;
    const struct hd_items *items;
};

static hd_status match_list(struct match *x, const struct hd_query *q, bool *out);

static const struct hd_item_attr *find_attr(const struct hd_item *it, const char *name) {
    for (int i = 0; i < it->n_attrs; i++)
        if (!strcmp(it->attrs[i].name, name)) return &it->attrs[i];
    return NULL;
}

static bool is_known(const struct match *x, const char *name) {
    if (!strcmp(name, "name")) return true;
    for (int i = 0; i < x->items->n_known; i++)
        if (!strcmp(x->items->known[i], name)) return true;
    for (int i = 0; i < x->items->n; i++)
        if (find_attr(&x->items->item[i], name)) return true;
    return false;
}

static bool compare_numbers(enum hd_query_op op, double a, double b) {
    switch (op) {
    case HD_QUERY_eq:
        return a == b;
    case HD_QUERY_ne:
        return a != b;
    case HD_QUERY_lt:
        return a < b;
    case HD_QUERY_le:
        return a <= b;
    case HD_QUERY_gt:
        return a > b;
    default:
        return a >= b;
    }
}

static bool compare_texts(enum hd_query_op op, const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b);
    switch (op) {
    case HD_QUERY_eq:
        return !strcmp(a, b);
    case HD_QUERY_ne:
        return strcmp(a, b) != 0;
    case HD_QUERY_begins:
        return !strncmp(a, b, nb);
    case HD_QUERY_ends:
        return na >= nb && !strcmp(a + na - nb, b);
    default:
        return strstr(a, b) != NULL;
    }
}

static bool is_order(enum hd_query_op op) {
    return op == HD_QUERY_lt || op == HD_QUERY_le || op == HD_QUERY_gt || op == HD_QUERY_ge;
}

static hd_status test_attr(struct match *x, const struct hd_query_test *t, const struct hd_item *it,
                           bool *out) {
    const struct hd_item_attr named = {"name", it->name, 0};
    const struct hd_item_attr *v = strcmp(t->name, "name") ? find_attr(it, t->name) : &named;
    *out = v != NULL;
    if (!v || t->op == HD_QUERY_has) return HD_OK;
    bool by_text = t->op == HD_QUERY_begins || t->op == HD_QUERY_ends || t->op == HD_QUERY_contains;
    if (!v->text && !by_text) {
        *out = t->is_number ? compare_numbers(t->op, v->number, t->number) : t->op == HD_QUERY_ne;
        return HD_OK;
    }
    if (v->text && is_order(t->op))
        return hd_fail(x->ctx, HD_INVALID,
                       "selector: attribute %s is text ('%s' of %s), so %s cannot compare it; use "
                       "= != ^= $= or *=",
                       t->name, v->text, it->name, hd_query_op_text[t->op]);
    *out = compare_texts(t->op, v->text ? v->text : hd_sprintf(x->a, "%.9g", v->number), t->value);
    return HD_OK;
}

static bool same_name(const char *a, const char *b) { /* a leading '/' does not count */
    return !strcmp(a + (*a == '/'), b + (*b == '/'));
}

/* A scope may be called by the last part of its name. */
static bool has_name(const struct hd_item *it, const char *name) {
    const char *last = strrchr(it->name, '/');
    return same_name(it->name, name) || (it->is_scope && last && !strcmp(last + 1, name));
}

static bool has_label(const struct hd_item *it, const char *label) {
    for (int i = 0; i < it->n_labels; i++)
        if (!strcmp(it->labels[i], label)) return true;
    return false;
}

/* Integer forms count as the operation that they are a form of: conv means conv and qconv. */
static bool has_type(const struct hd_item *it, const char *type) {
    return !strcmp(it->type, type) || (it->type[0] == 'q' && !strcmp(it->type + 1, type));
}

static hd_status apply_test(struct match *x, const struct hd_query_test *t, bool *set) {
    const struct hd_items *s = x->items;
    bool *inner = NULL;
    if (t->kind == HD_TEST_ATTR && !is_known(x, t->name))
        return hd_fail(x->ctx, HD_INVALID,
                       "selector: no operation has an attribute '%s'; docs/query.md lists them",
                       t->name);
    if (t->kind == HD_TEST_NOT) {
        inner = hd_new_array(x->a, bool, (size_t)s->n + 1);
        TRY(match_list(x, t->inner, inner));
    }
    for (int i = 0; i < s->n; i++) {
        const struct hd_item *it = &s->item[i];
        bool ok = true;
        if (!set[i]) continue;
        if (t->kind == HD_TEST_NAME)
            ok = has_name(it, t->name);
        else if (t->kind == HD_TEST_LABEL)
            ok = has_label(it, t->name);
        else if (t->kind == HD_TEST_NOT)
            ok = !inner[i];
        else
            TRY(test_attr(x, t, it, &ok));
        set[i] = ok;
    }
    return HD_OK;
}

/* Items that the compound alone allows. Scopes only where type or name ask for them. */
static hd_status match_compound(struct match *x, const struct hd_query_compound *c, bool *set) {
    bool scopes = c->type && !strcmp(c->type, "scope");
    for (const struct hd_query_test *t = c->tests; t && !c->type; t = t->next)
        scopes = scopes || t->kind == HD_TEST_NAME;
    for (int i = 0; i < x->items->n; i++) {
        const struct hd_item *it = &x->items->item[i];
        set[i] = (scopes || !it->is_scope) && (!c->type || has_type(it, c->type));
    }
    for (const struct hd_query_test *t = c->tests; t; t = t->next) TRY(apply_test(x, t, set));
    return HD_OK;
}

/* Turns a set into its children: readers of its operations, members of its scopes. deep: theirs,
 * too; but what leaves a scope is not in it. */
static void children(const struct match *x, bool deep, const bool *from, bool *out) {
    for (int i = 0; i < x->items->n; i++) {
        const struct hd_item *it = &x->items->item[i];
        bool hit = false;
        for (int k = 0; k < it->n_inputs && !it->is_scope; k++) {
            int in = it->inputs[k];
            hit = hit || (!x->items->item[in].is_scope && (from[in] || (deep && out[in])));
        }
        out[i] = hit;
    }
    for (int i = 0; i < x->items->n; i++) /* scopes after that: they do not go on along the data */
        for (int s = x->items->item[i].scope, first = 1; s >= 0 && (deep || first);
             s = x->items->item[s].scope, first = 0)
            out[i] = out[i] || from[s];
}

static hd_status match_selector(struct match *x, const struct hd_query *q, bool *set) {
    size_t n = (size_t)x->items->n;
    bool *own = hd_new_array(x->a, bool, n + 1), *below = hd_new_array(x->a, bool, n + 1);
    for (const struct hd_query_compound *c = q->first; c; c = c->next) {
        TRY(match_compound(x, c, own));
        if (c->combinator) children(x, c->combinator == ' ', set, below);
        for (size_t i = 0; i < n; i++) set[i] = own[i] && (!c->combinator || below[i]);
    }
    return HD_OK;
}

static hd_status match_list(struct match *x, const struct hd_query *q, bool *out) {
    size_t n = (size_t)x->items->n;
    bool *set = hd_new_array(x->a, bool, n + 1);
    memset(out, 0, n * sizeof *out);
    for (; q; q = q->next) {
        TRY(match_selector(x, q, set));
        for (size_t i = 0; i < n; i++) out[i] = out[i] || set[i];
    }
    return HD_OK;
}

hd_status hd_query_match(hd_ctx *ctx, const struct hd_query *q, const struct hd_items *items,
                         bool *out) {
    struct match x = {ctx, hd_arena_create(), items};
    hd_status s = match_list(&x, q, out);
    for (int i = 0; s == HD_OK && i < items->n; i++)
        for (int k = items->item[i].scope; k >= 0; k = items->item[k].scope)
            out[i] = out[i] || (items->item[k].is_scope && out[k]);
    for (int i = 0; s == HD_OK && i < items->n; i++)
        if (items->item[i].is_scope) out[i] = false;
    hd_arena_destroy(x.a);
    return s;
}
