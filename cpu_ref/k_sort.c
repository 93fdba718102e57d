/* Operations that sort: the k largest, the distinct elements. */
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

struct item {
    int64_t key, at; /* position in the operand decides between equal keys */
};

static int by_key(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* items[0..most-1] are a heap with the last of them on top: puts item x in its place. */
static void sift(struct item *items, int64_t most, int64_t at, struct item x) {
    for (int64_t child; (child = 2 * at + 1) < most; at = child) {
        if (child + 1 < most && by_key(&items[child], &items[child + 1]) < 0) child++;
        if (by_key(&x, &items[child]) >= 0) break;
        items[at] = items[child];
    }
    items[at] = x;
}

/* The first `most` of all items by their order, in front and sorted. */
static void take_first(struct item *items, int64_t n, int64_t most) {
    if (most > 0 && 4 * most < n) { /* else sorting all of them costs no more */
        for (int64_t i = most / 2; i-- > 0;) sift(items, most, i, items[i]);
        for (int64_t i = most; i < n; i++)
            if (by_key(&items[i], &items[0]) < 0) sift(items, most, 0, items[i]);
        n = most;
    }
    qsort(items, (size_t)n, sizeof *items, by_key);
}

/* x, k -> values, indexes of the k largest (or smallest) along `axis`, in order; of equal ones the
 * first come first, whether or not they are to be sorted. NaN is larger than any number.
 * Source: ONNX TopK-11. */
hd_status k_topk(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t axis = hd_k_axis(k, "axis", -1, x->rank), size = x->dim[axis], inner = 1, count = 0;
    bool largest = hd_attr_int(k->n, "largest", 1) != 0;
    hd_k_ints(k, 1, &count, 1);
    for (int64_t d = axis + 1; d < x->rank; d++) inner *= x->dim[d];
    int64_t lanes = size ? hd_tensor_elems(x) / size : 0;
    struct item *items = hd_new_array(k->arena, struct item, (size_t)size + 1);
    for (int64_t l = 0; l < lanes; l++) {
        int64_t from = l / inner * size * inner + l % inner,
                to = l / inner * count * inner + l % inner;
        for (int64_t i = 0; i < size; i++) {
            int64_t key = hd_k_key(k->in[0], x->dtype, from + i * inner);
            items[i] = (struct item){largest ? ~key : key, i};
        }
        take_first(items, size, count);
        for (int64_t i = 0; i < count; i++) {
            if (k->outs[0])
                hd_copy_element(k->outs[0], to + i * inner, k->in[0], from + items[i].at * inner,
                                hd_dtype_bytes(x->dtype));
            if (hd_k_out_data(k, 1)) ((int64_t *)k->outs[1])[to + i * inner] = items[i].at;
        }
    }
    return HD_OK;
}

/* A slice of the operand of unique, as its sort keys. */
struct row {
    const int64_t *key;
    int64_t n, at;
};

static int compare_rows(const struct row *x, const struct row *y) {
    for (int64_t i = 0; i < x->n; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static int by_row(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int order = compare_rows(x, y);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_position(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The distinct slices along `axis` (without it: elements), sorted or in order of appearance; where
 * each appears first, which one each slice of x is, how often each appears.
 * Source: ONNX Unique-11. */
hd_status k_unique(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    bool flat = !hd_attr_get(k->n, "axis");
    int64_t axis = flat ? 0 : hd_k_axis(k, "axis", 0, x->rank), dim[HD_MAX_RANK], inner = 1;
    int64_t total = hd_tensor_elems(x), n = flat ? total : x->dim[axis], len = n ? total / n : 0;
    for (int64_t d = axis + 1; !flat && d < x->rank; d++) inner *= x->dim[d];
    struct row *rows = hd_new_array(k->arena, struct row, (size_t)n + 1);
    int64_t *keys = hd_new_array(k->arena, int64_t, (size_t)total + 1);
    for (int64_t r = 0; r < n; r++) {
        for (int64_t j = 0; j < len; j++)
            keys[r * len + j] =
                hd_k_key(k->in[0], x->dtype, j / inner * n * inner + r * inner + j % inner);
        rows[r] = (struct row){keys + r * len, len, r};
    }
    qsort(rows, (size_t)n, sizeof *rows, by_row);
    struct row *distinct = hd_new_array(k->arena, struct row, (size_t)n + 1);
    int64_t found = 0;
    for (int64_t r = 0; r < n; r++)
        if (r == 0 || compare_rows(&rows[r - 1], &rows[r])) distinct[found++] = rows[r];
    if (!hd_attr_int(k->n, "sorted", 1))
        qsort(distinct, (size_t)found, sizeof *distinct, by_position);

    void *out[4] = {NULL};
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = found;
    TRY(hd_k_result(k, 0, x->dtype, flat ? 1 : x->rank, dim, &out[0]));
    for (int i = 1; i < k->n->n_out; i++)
        TRY(hd_k_result(k, i, HD_I64, 1, i == 2 ? &n : &found, &out[i]));
    int64_t *place = hd_new_array(k->arena, int64_t, (size_t)n + 1); /* by position of the first */
    for (int64_t u = 0; u < found; u++) {
        place[distinct[u].at] = u;
        if (out[1]) ((int64_t *)out[1])[u] = distinct[u].at;
        for (int64_t j = 0; out[0] && j < len; j++)
            hd_copy_element(out[0], j / inner * found * inner + u * inner + j % inner, k->in[0],
                            j / inner * n * inner + distinct[u].at * inner + j % inner,
                            hd_dtype_bytes(x->dtype));
    }
    int64_t first =
        0; /* rows are still sorted: equal ones follow each other, the first one first */
    for (int64_t r = 0; r < n; r++) {
        if (r && compare_rows(&rows[r - 1], &rows[r])) first = r;
        int64_t u = place[rows[first].at];
        if (out[2]) ((int64_t *)out[2])[rows[r].at] = u;
        if (out[3]) ((int64_t *)out[3])[u]++;
    }
    return HD_OK;
}
