/* Layers by name: see by_name.h. */
#include "runtime/train/by_name.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4 };
#define I(k) ((int64_t)v[k])

#define LAYER(name, operands, numbers, call)                                                       \
    static int add_##name(struct hd_layers *l, const int *x, const double *v) {                    \
        (void)v;                                                                                   \
        return call;                                                                               \
    }
#include "runtime/train/layer.def"

static const struct row {
    const char *name, *numbers;
    int operands;
    int (*add)(struct hd_layers *, const int *, const double *);
} rows[] = {
#define LAYER(name, operands, numbers, call) {#name, numbers, operands, add_##name},
#include "runtime/train/layer.def"
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const char *hd_layer_kind(int i, int *out_operands, const char **out_numbers) {
    if (i < 0 || i >= N_ROWS) return NULL;
    *out_operands = rows[i].operands, *out_numbers = rows[i].numbers;
    return rows[i].name;
}

/* The number of this name, which has n characters; *used: one more was found. */
static const struct hd_layer_number *find(const struct hd_layer_number *all, int n_all,
                                          const char *name, size_t n, int *used) {
    for (int i = 0; i < n_all; i++)
        if (strlen(all[i].name) == n && !strncmp(all[i].name, name, n)) {
            ++*used;
            return &all[i];
        }
    return NULL;
}

static hd_status read_numbers(hd_ctx *ctx, const struct row *r, const struct hd_layer_number *all,
                              int n, double *v) {
    int used = 0, k = 0;
    for (const char *s = r->numbers; *s; k++) {
        size_t length = strcspn(s, " ="), item = strcspn(s, " ");
        const struct hd_layer_number *given = find(all, n, s, length, &used);
        if (!given && s[length] != '=')
            return hd_fail(ctx, HD_INVALID, "layer %s: number '%.*s' is missing; it has: %s",
                           r->name, (int)length, s, r->numbers);
        v[k] = given ? given->value : strtod(s + length + 1, NULL);
        s += item + (s[item] == ' ');
    }
    if (used == n) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "layer %s: %d numbers that it does not have; it has: %s",
                   r->name, n - used, *r->numbers ? r->numbers : "none");
}

hd_status hd_layer_add_by_name(struct hd_layers *l, const char *kind, const int *x, int n_x,
                               const struct hd_layer_number *numbers, int n, int *out) {
    double v[NUMBERS] = {0};
    int i = 0;
    while (i < N_ROWS && strcmp(rows[i].name, kind) != 0) i++;
    if (i == N_ROWS)
        return hd_fail(l->b.ctx, HD_INVALID, "no layer '%s'; hd_layer lists them", kind);
    if (n_x != rows[i].operands)
        return hd_fail(l->b.ctx, HD_INVALID, "layer %s: %d operands, want %d", kind, n_x,
                       rows[i].operands);
    for (int k = 0; k < n_x; k++)
        if (x[k] < 0 || (size_t)x[k] >= l->b.g->n_tensors || !l->b.g->tensors[x[k]].known)
            return hd_fail(l->b.ctx, HD_INVALID,
                           "layer %s: operand %d is tensor %d, which is not there or has no shape",
                           kind, k, x[k]);
    TRY(read_numbers(l->b.ctx, &rows[i], numbers, n, v));
    int y = rows[i].add(l, x, v);
    if (l->b.status == HD_OK) *out = y;
    return l->b.status;
}
