/* Open dimensions of the network's inputs get their sizes: from --shape, from tensors that are
 * given, or 1 for a batch in front. Dimensions of one name have one size. */
#include "compiler/import/onnx/bind.h"

#include <string.h>

struct param {
    const char *name;
    int64_t size;
};

struct binder {
    struct hd_importer *m;
    const struct hd_bind *bind;
    struct param *params;
    size_t n_params, cap_params;
};

static int64_t *param_of(struct binder *b, const char *name) {
    for (size_t i = 0; i < b->n_params; i++)
        if (!strcmp(b->params[i].name, name)) return &b->params[i].size;
    return NULL;
}

static void set_param(struct binder *b, const char *name, int64_t size) {
    if (!name || !name[0] || param_of(b, name)) return;
    *hd_push(b->m->arena, b->params, b->n_params, b->cap_params) = (struct param){name, size};
}

/* --shape input=..: all dimensions, which may not contradict the file. */
static hd_status apply_shape(struct binder *b, const struct hd_shape_bind *s,
                             struct hd_onnx_value *v) {
    if (!v->has_shape) v->rank = s->rank;
    if (v->rank != s->rank)
        return hd_fail(b->m->ctx, HD_INVALID, "--shape %s has %d dimensions, the input has %d",
                       s->name, s->rank, v->rank);
    for (int i = 0; i < s->rank; i++) {
        if (v->has_shape && v->dim[i] != -1 && v->dim[i] != s->dim[i])
            return hd_fail(b->m->ctx, HD_INVALID,
                           "--shape %s: dimension %d is %lld, in the file it is fixed to %lld",
                           s->name, i, (long long)s->dim[i], (long long)v->dim[i]);
        v->dim[i] = s->dim[i];
        set_param(b, v->param[i], s->dim[i]);
    }
    v->has_shape = true;
    return HD_OK;
}

/* Sizes of a given tensor, aligned at the end when either has dimensions of 1 in front. */
static void apply_tensor(struct binder *b, const struct hd_tensor *t, struct hd_onnx_value *v) {
    if (!v->has_shape) {
        v->has_shape = true;
        v->rank = t->rank;
        for (int i = 0; i < v->rank; i++) v->dim[i] = t->dim[i];
        return;
    }
    int skip = t->rank - v->rank;
    for (int i = 0; i < skip; i++)
        if (t->dim[i] != 1) return;
    for (int i = 0; i < v->rank; i++) {
        if (v->dim[i] != -1 || i + skip < 0) continue;
        v->dim[i] = t->dim[i + skip];
        set_param(b, v->param[i], v->dim[i]);
    }
}

static const struct hd_tensor *given(const struct hd_bind *b, const char *name, size_t position) {
    for (size_t i = 0; i < b->n_inputs; i++)
        if (b->inputs[i].name && !strcmp(b->inputs[i].name, name)) return &b->inputs[i];
    return position < b->n_inputs ? &b->inputs[position] : NULL;
}

const struct hd_tensor *hd_bind_given(const struct hd_bind *b, const char *name, size_t position) {
    return b ? given(b, name, position) : NULL;
}

/* What is still open takes the size of its name, or is a batch of 1. */
static hd_status close_dims(struct binder *b, struct hd_onnx_value *v) {
    if (!v->has_shape)
        return hd_fail(b->m->ctx, HD_UNSUPPORTED,
                       "graph input '%s' has no shape; give one: --shape %s=..", v->name, v->name);
    for (int i = 0; i < v->rank; i++) {
        if (v->dim[i] != -1) continue;
        const int64_t *size = v->param[i] ? param_of(b, v->param[i]) : NULL;
        if (!size && i > 0)
            return hd_fail(b->m->ctx, HD_UNSUPPORTED,
                           "graph input '%s': dimension %d (%s) has no number; give one: --shape "
                           "%s=.. or --inputs",
                           v->name, i, v->param[i] && v->param[i][0] ? v->param[i] : "unnamed",
                           v->param[i] && v->param[i][0] ? v->param[i] : v->name);
        v->dim[i] = size ? *size : 1;
        set_param(b, v->param[i], v->dim[i]);
    }
    return HD_OK;
}

static hd_status check_names(struct binder *b, const struct hd_onnx_value *v, size_t n) {
    for (size_t k = 0; k < b->bind->n_shapes; k++) {
        const struct hd_shape_bind *s = &b->bind->shapes[k];
        bool found = false;
        for (size_t i = 0; i < n && !found; i++) {
            found = !strcmp(v[i].name, s->name);
            for (int d = 0; d < v[i].rank && s->rank == 1; d++)
                found = found || (v[i].param[d] && !strcmp(v[i].param[d], s->name));
        }
        if (!found)
            return hd_fail(b->m->ctx, HD_INVALID,
                           "--shape %s: the network has no input and no open dimension of that "
                           "name%s%s",
                           s->name, n ? "; its first input is " : "", n ? v[0].name : "");
    }
    return HD_OK;
}

/* Dimensions that had no size, for people: "x[0] = 1, x[2] = 7". */
static const char *closed_text(struct hd_importer *m, const struct hd_onnx_value *v, size_t n,
                               const bool *open) {
    const char *text = NULL;
    int *list = hd_new_array(m->g->arena, int, n *HD_MAX_RANK + 1);
    const char **name = hd_new_array(m->g->arena, const char *, n *HD_MAX_RANK + 1);
    m->g->open = list, m->g->open_name = name;
    for (int k = 0; k < (int)n * HD_MAX_RANK; k++) {
        const char *param = v[k / HD_MAX_RANK].param[k % HD_MAX_RANK];
        if (!open[k]) continue;
        if (param && param[0]) name[m->g->n_open] = hd_strdup(m->g->arena, param);
        list[m->g->n_open++] = k;
    }
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < v[i].rank; d++)
            if (open[i * HD_MAX_RANK + (size_t)d])
                text = hd_sprintf(m->g->arena, "%s%s%s[%d] = %lld", text ? text : "",
                                  text ? ", " : "", v[i].name, d, (long long)v[i].dim[d]);
    return text;
}

hd_status hd_bind_inputs(struct hd_importer *m, const struct hd_bind *bind, struct hd_onnx_value *v,
                         size_t n) {
    static const struct hd_bind none;
    struct binder b = {.m = m, .bind = bind ? bind : &none};
    for (size_t i = 0; i < n; i++)
        if (v[i].rank > HD_MAX_RANK)
            return hd_fail(m->ctx, HD_UNSUPPORTED, "graph input '%s': rank %d, at most %d",
                           v[i].name, v[i].rank, HD_MAX_RANK);
    bool *open = hd_new_array(m->arena, bool, n *HD_MAX_RANK + 1);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < v[i].rank; d++) open[i * HD_MAX_RANK + (size_t)d] = v[i].dim[d] == -1;
    TRY(check_names(&b, v, n));
    for (size_t k = 0; k < b.bind->n_shapes; k++) {
        const struct hd_shape_bind *s = &b.bind->shapes[k];
        bool input = false;
        for (size_t i = 0; i < n; i++) {
            if (strcmp(v[i].name, s->name)) continue;
            input = true;
            TRY(apply_shape(&b, s, &v[i]));
        }
        if (!input) set_param(&b, s->name, s->dim[0]);
    }
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; v[i].has_shape && d < v[i].rank; d++) { /* --shape goes before tensors */
            const int64_t *size = v[i].dim[d] == -1 ? param_of(&b, v[i].param[d]) : NULL;
            if (size) v[i].dim[d] = *size;
        }
        const struct hd_tensor *t = given(b.bind, v[i].name, i);
        if (t) apply_tensor(&b, t, &v[i]);
    }
    for (size_t i = 0; i < n; i++) TRY(close_dims(&b, &v[i]));
    m->g->closed = closed_text(m, v, n, open);
    return HD_OK;
}
