/* Labels of samples: text, arrays, or the outputs that stand beside the inputs. */
#include "compiler/calibrate/labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tensors/tensors.h"
#include "runtime/base/io.h"

/* ---- text ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path) {
    const char *cut = strrchr(path, '/');
    return cut ? cut + 1 : path;
}

static int64_t image_named(const struct hd_calibration *k, const char *name) {
    for (int i = 0; i < k->n_images; i++)
        if (!strcmp(base_name(k->images[i]), base_name(name))) return i;
    return -1;
}

/* "CLASS", or "IMAGE CLASS". */
static hd_status read_line(struct hd_cmd *c, const struct hd_calibration *k, char *line,
                           int64_t number, int64_t *class, int64_t n, int64_t *io_next) {
    char *rest = line, *first = strtok_r(rest, " \t\r,", &rest), *second = NULL, *end;
    if (!first) return HD_OK; /* an empty line */
    second = strtok_r(rest, " \t\r,", &rest);
    int64_t at = second ? image_named(k, first) : (*io_next)++;
    errno = 0;
    long long v = strtoll(second ? second : first, &end, 10);
    if (*end || errno || v < 0)
        return hd_fail(c->ctx, HD_INVALID, "%s, line %lld: got '%s', want a class of 0 or more",
                       c->opt.calibrate.labels, (long long)number, second ? second : first);
    if (second && at < 0) return HD_OK; /* of an image that is not among the data */
    if (at >= n)
        return hd_fail(c->ctx, HD_INVALID, "%s, line %lld: more classes than the %lld samples",
                       c->opt.calibrate.labels, (long long)number, (long long)n);
    class[at] = v;
    return HD_OK;
}

static hd_status read_text(struct hd_cmd *c, hd_arena *a, const struct hd_calibration *k, int64_t n,
                           struct hd_labels *out) {
    void *data;
    size_t bytes;
    int64_t *class = hd_new_array(a, int64_t, (size_t)n + 1), next = 0, number = 0;
    TRY(hd_file_read(c->ctx, c->opt.calibrate.labels, &data, &bytes));
    for (int64_t i = 0; i < n; i++) class[i] = -1;
    hd_status s = HD_OK;
    for (char *line = data, *end; s == HD_OK && line < (char *)data + bytes; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = 0;
        s = read_line(c, k, line, ++number, class, n, &next);
    }
    free(data);
    for (int64_t i = 0; s == HD_OK && i < n; i++)
        if (class[i] < 0)
            s = hd_fail(c->ctx, HD_INVALID, "%s: no class for sample %lld%s%s",
                        c->opt.calibrate.labels, (long long)i, k->images ? ", " : "",
                        k->images ? base_name(k->images[i]) : "");
    *out = (struct hd_labels){.n = n, .class = class};
    return s;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static bool is_integer(int dtype) {
    int t = hd_dtype_from_onnx(dtype);
    return t == HD_U8 || t == HD_I8 || t == HD_U16 || t == HD_I16 || t == HD_I32 || t == HD_I64 ||
           t == HD_U32 || t == HD_U64;
}

static void start_values(hd_arena *a, int64_t n, struct hd_labels *out) {
    *out = (struct hd_labels){.n = n};
    out->values = hd_new_array(a, const void *, (size_t)n + 1);
    out->bytes = hd_new_array(a, size_t, (size_t)n + 1);
}

static hd_status read_arrays(struct hd_cmd *c, hd_arena *a, const struct hd_value_info *v,
                             int64_t n, size_t sample_bytes, struct hd_labels *out) {
    struct hd_file_tensor *t;
    int n_t;
    const char *path = c->opt.calibrate.labels;
    TRY(hd_load_tensors(c->ctx, a, path, &t, &n_t));
    for (int i = 0; i < n_t; i++) {
        if (is_integer(t[i].dtype) && t[i].rank > 0 && t[i].bytes > 0 && t[i].dim[0] >= n &&
            t[i].bytes / hd_dtype_bytes((hd_dtype)hd_dtype_from_onnx(t[i].dtype)) ==
                (size_t)t[i].dim[0]) {
            int64_t *class = hd_new_array(a, int64_t, (size_t)n + 1);
            for (int64_t k = 0; k < n; k++)
                class[k] = (int64_t)hd_element(t[i].data, t[i].dtype, (size_t)k);
            *out = (struct hd_labels){.n = n, .class = class};
            return HD_OK;
        }
        if (t[i].dtype == v->dtype && t[i].bytes >= (size_t)n * sample_bytes) {
            start_values(a, n, out);
            for (int64_t k = 0; k < n; k++)
                out->values[k] = (const char *)t[i].data + (size_t)k * sample_bytes,
                out->bytes[k] = sample_bytes;
            return HD_OK;
        }
    }
    return hd_fail(c->ctx, HD_INVALID,
                   "%s: no array fits the %lld samples; want integers [%lld], a class each, or %s, "
                   "%zu bytes a sample",
                   path, (long long)n, (long long)n, hd_onnx_dtype_name(v->dtype), sample_bytes);
}

/* ---- beside the inputs ---------------------------------------------------------------------- */

/* output_0 of every folder; none when one of them has none. */
static void read_folders(struct hd_cmd *c, hd_arena *a, const struct hd_calibration *k,
                         struct hd_labels *out) {
    struct hd_labels found;
    start_values(a, k->n, &found);
    for (int i = 0; i < k->n; i++) {
        struct hd_file_tensor *t = NULL;
        int n = 0;
        bool there = hd_load_set(c->ctx, a, k->folders[i], "output", &t, &n) == HD_OK;
        hd_clear(c->ctx);
        if (!there || !n) return;
        found.values[i] = t[0].data, found.bytes[i] = t[0].bytes;
    }
    *out = found;
}

hd_status hd_load_labels(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                         const struct hd_calibration *k, struct hd_labels *out) {
    const char *path = c->opt.calibrate.labels;
    const struct hd_value_info *v = &m->values[m->outputs[0]];
    int64_t batch = hd_calibration_batch(m, k), n = k->images ? k->n_images : k->n * batch;
    size_t bytes = hd_value_dense_bytes(v) / (size_t)batch, length = path ? strlen(path) : 0;
    *out = (struct hd_labels){0};
    if (!path && k->folders && k->sets) read_folders(c, a, k, out);
    if (!path) return HD_OK;
    bool arrays =
        length > 4 && (!strcmp(path + length - 4, ".npy") || !strcmp(path + length - 4, ".npz"));
    return arrays ? read_arrays(c, a, v, n, bytes, out) : read_text(c, a, k, n, out);
}
