/* Data for calibration: many sets of inputs from folders or arrays, or made up. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/calibrate/data.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/num.h"

enum { MADE_UP = 4 }; /* random sets when there are no data */

static bool same_shapes(const struct hd_data_set *x, const struct hd_data_set *y) {
    bool same = x->n == y->n;
    for (int i = 0; same && i < x->n; i++)
        same = x->t[i].rank == y->t[i].rank &&
               !memcmp(x->t[i].dim, y->t[i].dim, (size_t)x->t[i].rank * sizeof *x->t[i].dim);
    return same;
}

/* Sets of the same shapes together, else in their order. */
static void sort_forms(hd_arena *a, struct hd_calibration *k) {
    struct hd_data_set *sets = hd_new_array(a, struct hd_data_set, (size_t)k->n + 1);
    char **folders = hd_new_array(a, char *, (size_t)k->n + 1);
    int n = 0, forms = 0;
    int *of = hd_new_array(a, int, (size_t)k->n + 1);
    k->form = hd_new_array(a, int, (size_t)k->n + 1);
    for (int i = 0; i < k->n; i++) {
        int first = 0;
        while (first < i && !same_shapes(&k->sets[first], &k->sets[i])) first++;
        of[i] = first < i ? of[first] : forms++;
    }
    for (int form = 0; form < forms; form++)
        for (int i = 0; i < k->n; i++) {
            if (of[i] != form) continue;
            sets[n] = k->sets[i], folders[n] = k->folders[i], k->form[n++] = form;
        }
    k->sets = sets, k->folders = folders;
}

int hd_calibration_form(const struct hd_calibration *k, int i) {
    return k->form && i >= 0 ? k->form[i] : 0;
}

const struct hd_data_set *hd_calibration_set(const struct hd_calibration *k, int i) {
    return k->sets && !k->arrays && i >= 0 ? &k->sets[i] : NULL;
}

static hd_status load_folders(struct hd_cmd *c, hd_arena *a, char **folders, int n,
                              struct hd_calibration *out) {
    out->sets = hd_new_array(a, struct hd_data_set, (size_t)n + 1);
    out->folders = hd_new_array(a, char *, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        struct hd_data_set *s = &out->sets[out->n];
        TRY(hd_load_set(c->ctx, a, folders[i], "input", &s->t, &s->n));
        out->folders[out->n] = folders[i];
        if (s->n) out->n++;
    }
    sort_forms(a, out);
    if (out->n) return HD_OK;
    out->form = NULL;
    out->n = 1; /* stored with outputs only, as ONNX does for its own networks */
    out->sets = NULL;
    out->ramp = true;
    return HD_OK;
}

/* ---- images --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Images of a folder and of those in it, by name. */
static void find_images(hd_arena *a, const char *folder, int depth, struct hd_calibration *out,
                        size_t *cap) {
    char **list = NULL;
    size_t n = 0, room = 0, found = (size_t)out->n_images;
    struct stat st;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            *hd_push(a, list, n, room) = hd_sprintf(a, "%s/%s", folder, e->d_name);
    if (d) closedir(d);
    if (n) qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n; i++) {
        bool is_folder = !stat(list[i], &st) && S_ISDIR(st.st_mode);
        if (!is_folder && hd_is_image(list[i])) *hd_push(a, out->images, found, *cap) = list[i];
        out->n_images = (int)found;
        if (is_folder && depth) find_images(a, list[i], depth - 1, out, cap);
        found = (size_t)out->n_images;
    }
}

/* "A" or "A,B,C". */
static hd_status three_numbers(struct hd_cmd *c, const char *option, const char *text, float other,
                               float out[3]) {
    const char *p = text;
    int n = 0;
    for (char *end; p && *p && n < 3; p = *end ? end + 1 : end) {
        out[n++] = strtof(p, &end);
        if (end == p || (*end && *end != ',') || (*end && !end[1])) n = 4;
    }
    if (!text) out[0] = other, n = 1;
    if (n == 1) out[1] = out[2] = out[0];
    if ((n == 1 || n == 3) && !(p && *p)) return HD_OK;
    return hd_fail(c->ctx, HD_INVALID, "%s: got '%s', want a number, or three with commas", option,
                   text);
}

static void load_images(hd_arena *a, const char *folder, struct hd_calibration *out) {
    size_t cap = 0;
    find_images(a, folder, 1, out, &cap);
    out->n = out->n_images;
}

static hd_status load_fit(struct hd_cmd *c, struct hd_calibration *out) {
    const struct hd_calibrate_options *o = &c->opt.calibrate;
    out->fit = (struct hd_image_options){.resize = o->resize, .bgr = o->bgr};
    TRY(three_numbers(c, "--mean", o->mean, 0, out->fit.mean));
    return three_numbers(c, "--scale", o->scale, 1, out->fit.scale);
}

static hd_status image_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                              const struct hd_calibration *k, int i, const void ***out) {
    const struct hd_value_info *v = &m->values[m->inputs[0]];
    int64_t batch = hd_calibration_batch(m, k);
    void *data = hd_alloc(a, hd_value_dense_bytes(v) + 1);
    for (int64_t b = 0; b < batch; b++) { /* the last batch is filled up from the beginning */
        const char *path = k->images[(i * batch + b) % k->n_images];
        struct hd_image image;
        hd_arena *pixels = hd_arena_create();
        hd_status s = hd_image_load(c->ctx, pixels, path, &image);
        if (s == HD_OK) s = hd_image_put(c->ctx, &image, &k->fit, v, b, data);
        hd_arena_destroy(pixels);
        TRY(s);
    }
    *out = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    (*out)[0] = data;
    for (int s = 1; s < m->n_inputs; s++) TRY(hd_initial_value(c->ctx, a, m, s, &(*out)[s]));
    return HD_OK;
}

int64_t hd_calibration_batch(const hd_model *m, const struct hd_calibration *k) {
    if ((!k->images && !k->arrays) || !m->n_inputs) return 1;
    const struct hd_value_info *v = &m->values[m->inputs[0]];
    bool batched = k->arrays ? v->rank > 0 : v->rank == 4;
    return batched && v->dim[0] > 1 ? v->dim[0] : 1;
}

/* ---- data sets ------------------------------------------------------------------------------ */

hd_status hd_load_calibration(struct hd_cmd *c, hd_arena *a, const char *model_path,
                              struct hd_calibration *out) {
    struct stat st;
    const char *path = c->opt.calibrate.path;
    int n = 0;
    *out = (struct hd_calibration){.what = path, .seed = c->opt.seed};
    TRY(load_fit(c, out));
    if (!path) {
        char **sets = hd_data_sets(a, model_path, &n);
        out->what = hd_sprintf(a, "%d data sets beside the model", n);
        if (n) return load_folders(c, a, sets, n, out);
        out->n = MADE_UP;
        out->what = hd_sprintf(a, "%d random sets, seed %llu: ranges are guesses", MADE_UP,
                               (unsigned long long)out->seed);
        return HD_OK;
    }
    if (stat(path, &st) != 0)
        return hd_fail(c->ctx, HD_IO, "%s: cannot open: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) {
        char **sets = hd_data_sets(a, hd_sprintf(a, "%s/x", path), &n);
        char *itself = hd_strdup(a, path);
        if (n) return load_folders(c, a, sets, n, out);
        TRY(load_folders(c, a, &itself, 1, out));
        if (!out->ramp) return HD_OK;
        out->ramp = false;
        load_images(a, path, out);
        if (out->n_images) return HD_OK;
        return hd_fail(
            c->ctx, HD_INVALID,
            "%s: holds neither test_data_set_N folders, nor input_0.pb, nor images (.png, .jpg); "
            "data are such a folder, .npz, .npy or .pb",
            path);
    }
    out->sets = hd_new(a, struct hd_data_set);
    out->arrays = true;
    out->n = 1;
    return hd_load_tensors(c->ctx, a, path, &out->sets[0].t, &out->sets[0].n);
}

/* Pixels of a byte, for a float input of as many elements a sample. */
static bool is_pixels(const struct hd_file_tensor *t, const struct hd_value_info *v) {
    return t->dtype == hd_dtype_to_onnx(HD_U8) && v->dtype == hd_dtype_to_onnx(HD_F32) &&
           t->rank > 0 && v->rank > 0 && v->dim[0] > 0 && t->dim[0] > 0 &&
           t->dim[0] % v->dim[0] == 0 &&
           t->bytes / (size_t)t->dim[0] == hd_value_dense_bytes(v) / 4 / (size_t)v->dim[0];
}

static bool is_samples(const struct hd_file_tensor *t, const struct hd_value_info *v) {
    return t->dtype == v->dtype && t->rank == v->rank && v->rank > 0 && v->dim[0] > 0 &&
           t->dim[0] % v->dim[0] == 0 && t->dim[0] > 0 &&
           !memcmp(t->dim + 1, v->dim + 1, (size_t)(v->rank - 1) * sizeof *v->dim);
}

/* The array that holds samples of v: of its name, else the first that has its type and shape, else
 * the first that holds its pixels. */
static const struct hd_file_tensor *array_of(const struct hd_data_set *s,
                                             const struct hd_value_info *v) {
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < s->n; i++) {
            const struct hd_file_tensor *t = &s->t[i];
            bool fits = pass < 2 ? is_samples(t, v) : is_pixels(t, v);
            if (fits && (pass || !strcmp(t->name, v->name))) return t;
        }
    return NULL;
}

/* Set i of v: where the array has it, or made of its pixels as images are. */
static const void *of_array(hd_arena *a, const struct hd_calibration *k,
                            const struct hd_value_info *v, int i) {
    const struct hd_file_tensor *t = array_of(&k->sets[0], v);
    size_t bytes = hd_value_dense_bytes(v);
    if (t->dtype == v->dtype) return (const char *)t->data + (size_t)i * bytes;
    const uint8_t *pixel = (const uint8_t *)t->data + (size_t)i * (bytes / 4);
    float *x = hd_new_array(a, float, bytes / 4 + 1);
    for (size_t p = 0; p < bytes / 4; p++)
        x[p] = ((float)pixel[p] - k->fit.mean[0]) * k->fit.scale[0];
    return x;
}

hd_status hd_count_calibration(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                               struct hd_calibration *k) {
    if (k->images) {
        if (m->n_inputs - m->n_states != 1)
            return hd_fail(c->ctx, HD_INVALID,
                           "%s: images for a network of %d inputs, want 1; give the data as .npz",
                           k->what, m->n_inputs);
        k->n = (int)hd_ceil_div(k->n_images, hd_calibration_batch(m, k));
    }
    if (!k->arrays) return HD_OK;
    int64_t n = INT32_MAX;
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        const struct hd_file_tensor *t = array_of(&k->sets[0], v);
        if (!t && i >= m->n_inputs - m->n_states) continue; /* state, which begins as it does */
        if (!t)
            return hd_fail(c->ctx, HD_INVALID,
                           "%s: no array fits input %s, want %s%s, or more samples along its first "
                           "dimension",
                           k->what, v->name, hd_onnx_dtype_name(v->dtype),
                           hd_dims_text(a, v->dim, v->rank));
        if (t->dim[0] / v->dim[0] < n) n = t->dim[0] / v->dim[0];
    }
    k->n = (int)n;
    return HD_OK;
}

hd_status hd_calibration_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                                const struct hd_calibration *k, int i, const void ***out) {
    if (k->ramp) {
        *out = hd_ramp_inputs(a, m);
        return HD_OK;
    }
    if (k->images)
        return hd_note(c->ctx, image_inputs(c, a, m, k, i, out), "in sample %d of %s", i, k->what);
    if (!k->sets) return hd_random_inputs(c->ctx, a, m, k->seed + (uint64_t)i * 7919, out);
    if (!k->arrays)
        return hd_note(c->ctx, hd_match_inputs(c->ctx, a, m, k->sets[i].t, k->sets[i].n, out),
                       "in calibration set %d of %s", i, k->what);
    const void **in = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int j = 0; j < m->n_inputs; j++) {
        const struct hd_value_info *v = &m->values[m->inputs[j]];
        if (array_of(&k->sets[0], v))
            in[j] = of_array(a, k, v, i);
        else
            TRY(hd_initial_value(c->ctx, a, m, j, &in[j]));
    }
    *out = in;
    return HD_OK;
}
