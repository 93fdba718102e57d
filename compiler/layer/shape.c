/* Tensors in machine layout: their shape, the whole that they are part of, room in the image. */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

size_t hd_image_reserve(struct hd_lowering *lo, size_t bytes) {
    size_t at = (size_t)hd_round_up((int64_t)lo->image_bytes, HD_CODE_ALIGN);
    lo->image = hd_grow(lo->arena, lo->image, &lo->cap_image, at + bytes, 1);
    if (lo->image) memset(lo->image + lo->image_bytes, 0, at + bytes - lo->image_bytes);
    lo->image_bytes = at + bytes;
    return at;
}

bool hd_stored_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out) {
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    bool rows = lo->rows[tensor];
    int channel = rows ? t->rank - 1 : 1;
    int64_t n = 1, h = 1, w = 1, c = 1;
    bool wide = t->dtype == HD_I16;
    if ((t->dtype != HD_I8 && t->dtype != HD_U8 && !wide) || !t->known || t->rank < 1) return false;
    for (int i = 0; i < t->rank; i++) {
        bool last = i == t->rank - 1 && i > 1;
        int64_t *to = i == channel ? &c : rows ? &h : i == 0 ? &n : last ? &w : &h;
        if (t->dim[i] < 1 || (*to *= t->dim[i]) > (rows && to == &h ? INT32_MAX : 65535))
            return false;
    }
    if (!rows && hd_max(h, w) > 32767) return false; /* lx.y0, for rows of padding */
    if (n * h * w * hd_round_up(c << wide, hd_max(lo->m->k, lo->m->n)) > INT32_MAX) return false;
    *out = (struct hd_mtensor){.n = (int)n,
                               .h = (int)h,
                               .w = (int)w,
                               .c = (int)c,
                               .rows = rows,
                               .wide = wide,
                               .is_unsigned = t->dtype == HD_U8};
    return true;
}

bool hd_machine_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out) {
    return !lo->g->tensors[tensor].data && hd_stored_shape(lo, tensor, out);
}

int hd_channels_in(const struct hd_mtensor *t, int lanes) {
    int c = t->lane ? 0 : lanes;
    while (t->lane && c < t->c && t->lane[c] < lanes) c++;
    return c;
}

struct hd_mtensor *hd_mtensor_root(struct hd_lowering *lo, struct hd_mtensor *t) {
    return t->base < 0 ? t : &lo->tensors[t->base];
}

const char **hd_layer_names(const struct hd_lowering *lo, hd_arena *a) {
    const char **name = hd_new_array(a, const char *, lo->n_layers + 1);
    for (size_t i = 0; i < lo->n_layers; i++) name[i] = lo->g->nodes[lo->layers[i].node].name;
    return name;
}

const char **hd_mtensor_names(const struct hd_lowering *lo, hd_arena *a) {
    const char **name = hd_new_array(a, const char *, lo->n_tensors + 1);
    for (size_t i = 0; i < lo->n_tensors; i++) name[i] = lo->g->tensors[lo->tensors[i].tensor].name;
    return name;
}
