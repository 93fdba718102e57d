/* Tandem repeats: for each distance p, how long the sequence goes on like itself p before. */
#include "compiler/report/fold.h"

#include <string.h>

enum { PERIOD_MAX = 256, FAR = 300 };

static const struct hd_item_attr *attr(const struct hd_item *it, const char *name) {
    for (int i = 0; i < it->n_attrs; i++)
        if (!strcmp(it->attrs[i].name, name)) return &it->attrs[i];
    return NULL;
}

/* Windows of one size, and grouped or not. */
static bool same_window(const struct hd_item *a, const struct hd_item *b) {
    const struct hd_item_attr *ka = attr(a, "kernel_shape"), *kb = attr(b, "kernel_shape");
    const struct hd_item_attr *ga = attr(a, "group"), *gb = attr(b, "group");
    if (ka && kb && ka->text && kb->text && strcmp(ka->text, kb->text)) return false;
    return (ga && ga->number > 1) == (gb && gb->number > 1);
}

/* The same for two operations that a folded picture may show as one. */
static bool alike(const struct hd_items *s, const int *ids, const int *at, int i, int j) {
    const struct hd_item *a = &s->item[ids[i]], *b = &s->item[ids[j]];
    if (strcmp(a->type, b->type) || a->n_inputs != b->n_inputs || !same_window(a, b)) return false;
    for (int k = 0; k < a->n_inputs; k++) {
        int back_a = i - at[a->inputs[k]], back_b = j - at[b->inputs[k]];
        if (back_a != back_b && (back_a < FAR || back_b < FAR)) return false;
    }
    return true;
}

int hd_find_blocks(hd_arena *a, const struct hd_items *items, const int *ids, int n,
                   struct hd_block **out) {
    struct hd_block *blocks = NULL;
    size_t n_blocks = 0, cap = 0;
    int *at = hd_new_array(a, int, (size_t)items->n + 1);
    int *period = hd_new_array(a, int, (size_t)n + 1), *best = hd_new_array(a, int, (size_t)n + 1);
    int *run = hd_new_array(a, int, (size_t)n + 2);
    for (int i = 0; i < n; i++) at[ids[i]] = i;
    for (int p = 1; p <= PERIOD_MAX && 2 * p <= n; p++) {
        run[n - p] = 0;
        for (int i = n - p - 1; i >= 0; i--) {
            run[i] = alike(items, ids, at, i, i + p) ? run[i + 1] + 1 : 0;
            int saved = run[i] / p * p;
            if (saved > best[i]) best[i] = saved, period[i] = p;
        }
    }
    for (int i = 0; i < n;) {
        if (best[i] < 2) { /* not worth a box */
            i++;
            continue;
        }
        *hd_push(a, blocks, n_blocks, cap) =
            (struct hd_block){i, period[i], best[i] / period[i] + 1};
        i += best[i] + period[i];
    }
    *out = blocks;
    return (int)n_blocks;
}
