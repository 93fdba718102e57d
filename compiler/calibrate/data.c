/* Data for calibration: many sets of inputs from folders or arrays, or made up. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/calibrate/data.h"
#include "compiler/tensors/tensors.h"

enum { MADE_UP = 4 }; /* random sets when there are no data */

static hd_status load_folders(struct hd_cmd *c, hd_arena *a, char **folders, int n,
                              struct hd_calibration *out) {
    out->sets = hd_new_array(a, struct hd_data_set, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        struct hd_data_set *s = &out->sets[out->n];
        TRY(hd_load_set(c->ctx, a, folders[i], "input", &s->t, &s->n));
        if (s->n) out->n++;
    }
    if (out->n) return HD_OK;
    out->n = 1; /* stored with outputs only, as ONNX does for its own networks */
    out->sets = NULL;
    out->ramp = true;
    return HD_OK;
}

hd_status hd_load_calibration(struct hd_cmd *c, hd_arena *a, const char *model_path,
                              struct hd_calibration *out) {
    struct stat st;
    const char *path = c->opt.calibrate.path;
    int n = 0;
    *out = (struct hd_calibration){.what = path, .seed = c->opt.seed};
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
        return hd_fail(
            c->ctx, HD_INVALID,
            "%s: holds neither test_data_set_N folders nor input_0.pb; --calibrate takes "
            "such a folder, .npz, .npy or .pb",
            path);
    }
    out->sets = hd_new(a, struct hd_data_set);
    out->arrays = true;
    out->n = 1;
    return hd_load_tensors(c->ctx, a, path, &out->sets[0].t, &out->sets[0].n);
}

/* The array that holds samples of v: of its name, else the first that has its type and shape. */
static const struct hd_file_tensor *array_of(const struct hd_data_set *s,
                                             const struct hd_value_info *v) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->n; i++) {
            const struct hd_file_tensor *t = &s->t[i];
            bool fits = t->dtype == v->dtype && t->rank == v->rank && v->rank > 0 &&
                        v->dim[0] > 0 && t->dim[0] % v->dim[0] == 0 && t->dim[0] > 0 &&
                        !memcmp(t->dim + 1, v->dim + 1, (size_t)(v->rank - 1) * sizeof *v->dim);
            if (fits && (pass || !strcmp(t->name, v->name))) return t;
        }
    return NULL;
}

hd_status hd_count_calibration(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                               struct hd_calibration *k) {
    if (!k->arrays) return HD_OK;
    int64_t n = INT32_MAX;
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        const struct hd_file_tensor *t = array_of(&k->sets[0], v);
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
    if (!k->sets) return hd_random_inputs(c->ctx, a, m, k->seed + (uint64_t)i * 7919, out);
    if (!k->arrays)
        return hd_note(c->ctx, hd_match_inputs(c->ctx, a, m, k->sets[i].t, k->sets[i].n, out),
                       "in calibration set %d of %s", i, k->what);
    const void **in = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int j = 0; j < m->n_inputs; j++) {
        const struct hd_value_info *v = &m->values[m->inputs[j]];
        in[j] = (const char *)array_of(&k->sets[0], v)->data + (size_t)i * hd_value_dense_bytes(v);
    }
    *out = in;
    return HD_OK;
}
