/* Linear resize: what tiles of the result read. */
#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

int hd_resize_reads(const struct hd_layer *l, int way, int size, int o, int n, int *first) {
    *first = l->at[way][o];
    return (int)hd_min(l->at[way][o + n - 1] + 2, size) - *first;
}

int hd_resize_span(const struct hd_layer *l, int way, int size, int n) {
    int most = 1, first, all = way ? l->ow : l->oh;
    for (int o = 0; o + n <= all; o++)
        most = (int)hd_max(most, hd_resize_reads(l, way, size, o, n, &first));
    return most;
}

int64_t hd_resize_words(const struct hd_lowering *lo, const struct hd_layer *l, int th, int tw) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int vectors = lo->tensors[l->out].bytes / (int)lo->m->n;
    return (int64_t)th * hd_resize_span(l, 1, x->w, tw) * vectors;
}
