/* Differences of values: statistics, verdicts, text and JSON. */
#include <math.h>
#include <string.h>

#include "compiler/command/table.h"
#include "compiler/compare/compare.h"
#include "compiler/tensors/tensors.h"
#include "cpu_ref/kernels.h"

#define ROUNDING_RELATIVE 1e-3
#define ROUNDING_ABSOLUTE 1e-5

struct row {
    const char *value, *layer, *device, *type;
    struct hd_value_error e;
};

struct hd_value_errors {
    hd_arena *a;
    struct row *rows;
    size_t n, cap;
};

struct hd_value_error hd_value_error_of(const struct hd_value_info *v, const void *ref,
                                        const void *got) {
    size_t size = (size_t)v->elem_bytes;
    struct hd_value_error e = {.n = hd_value_dense_bytes(v) / size};
    double sum = 0, squares = 0, reference = 0, largest = 1;
    for (size_t i = 0; i < e.n; i++) { /* sums that cancel keep the error of their terms */
        double a = fabs(hd_element(ref, v->dtype, i));
        if (a > largest && a < INFINITY) largest = a;
    }
    for (size_t i = 0; i < e.n; i++) {
        double a = hd_element(ref, v->dtype, i), d = 0;
        reference += a * a;
        if (!memcmp((const char *)ref + i * size, (const char *)got + i * size, size)) continue;
        if (e.differ < HD_ERROR_PLACES) e.place[e.differ] = i;
        e.differ++;
        d = fabs(a - hd_element(got, v->dtype, i));
        if (!(d <= ROUNDING_ABSOLUTE * largest + ROUNDING_RELATIVE * fabs(a))) e.beyond++;
        if (d > e.max || d != d) e.max = d;
        sum += d;
        squares += d * d;
    }
    if (!e.n) return e;
    e.mean = sum / (double)e.n;
    e.rms = sqrt(squares / (double)e.n);
    e.reference = sqrt(reference / (double)e.n);
    return e;
}

static bool is_float(const struct hd_value_info *v) {
    int t = hd_dtype_from_onnx(v->dtype);
    return t >= 0 && hd_k_is_float((hd_dtype)t);
}

enum hd_verdict hd_value_error_verdict(const struct hd_value_error *e,
                                       const struct hd_value_info *v, bool may_round) {
    if (!e->differ) return HD_SAME;
    return may_round && is_float(v) && !e->beyond ? HD_NEAR : HD_DIFFERS;
}

double hd_value_error_db(const struct hd_value_error *e) {
    return e->rms > 0 ? 20 * log10(e->reference / e->rms) : INFINITY;
}

static const char *position(hd_arena *a, const struct hd_value_info *v, size_t i) {
    int64_t at[HD_VALUE_RANK] = {0};
    for (int k = v->rank - 1; k >= 0; k--) {
        at[k] = (int64_t)(i % (size_t)v->dim[k]);
        i /= (size_t)v->dim[k];
    }
    return hd_dims_text(a, at, v->rank);
}

void hd_value_error_print(const struct hd_value_error *e, enum hd_verdict verdict,
                          const struct hd_value_info *v, const char *layer, const char *ref_device,
                          const char *device, const void *ref, const void *got, bool places,
                          FILE *out) {
    hd_arena *a = hd_arena_create();
    fprintf(out, "%s %s %s%s, %s%s%s: %zu of %zu differ, max|diff| %.6g, mean %.3g, rms %.3g",
            verdict == HD_NEAR ? "near" : "DIFF", v->name, hd_onnx_dtype_name(v->dtype),
            hd_dims_text(a, v->dim, v->rank), layer ? "layer " : "", layer ? layer : device, "",
            e->differ, e->n, e->max, e->mean, e->rms);
    if (e->rms > 0) fprintf(out, ", %.1f dB", hd_value_error_db(e));
    fputc('\n', out);
    for (size_t i = 0; i < HD_ERROR_PLACES && i < e->differ && places; i++)
        fprintf(out, "       at %s: %s %.9g, %s %.9g\n", position(a, v, e->place[i]), ref_device,
                hd_element(ref, v->dtype, e->place[i]), device,
                hd_element(got, v->dtype, e->place[i]));
    hd_arena_destroy(a);
}

json_object *hd_value_error_json(const struct hd_value_error *e, const struct hd_value_info *v,
                                 const char *layer, const char *device) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "name", v->name);
    hd_json_str(o, "layer", layer);
    hd_json_str(o, "device", device);
    json_object_object_add(o, "same", json_object_new_boolean(e->differ == 0));
    hd_json_int(o, "differ", (int64_t)e->differ);
    hd_json_int(o, "elements", (int64_t)e->n);
    hd_json_num(o, "max_abs_diff", e->max);
    hd_json_num(o, "mean_abs_diff", e->mean);
    hd_json_num(o, "rms_diff", e->rms);
    hd_json_num(o, "rms_reference", e->reference);
    return o;
}

/* ---- all values ----------------------------------------------------------------------------- */

struct hd_value_errors *hd_value_errors_create(hd_arena *a) {
    struct hd_value_errors *t = hd_new(a, struct hd_value_errors);
    t->a = a;
    return t;
}

void hd_value_errors_add(struct hd_value_errors *t, const struct hd_value_info *v,
                         const char *layer, const char *device, const struct hd_value_error *e) {
    *hd_push(t->a, t->rows, t->n, t->cap) = (struct row){
        v->name, layer ? layer : "", device,
        hd_sprintf(t->a, "%s%s", hd_onnx_dtype_name(v->dtype), hd_dims_text(t->a, v->dim, v->rank)),
        *e};
}

/* A row per value and device; growth is the error beside that of the value before. */
void hd_value_errors_print(const struct hd_value_errors *t, FILE *out) {
    struct hd_table x;
    fputs("\nerror of each value, in the order in which they are made\n", out);
    hd_table_init(&x, "llllrrrrr");
    hd_table_cells(&x,
                   (const char *[]){"value", "layer", "type", "device", "differ", "max|diff|",
                                    "mean", "rms / reference", "dB"},
                   9);
    for (size_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];
        const struct hd_value_error *e = &r->e;
        hd_table_cells(&x, (const char *[]){r->value, r->layer, r->type, r->device}, 4);
        hd_table_cell(&x, "%.4g %%", e->n ? 100 * (double)e->differ / (double)e->n : 0);
        hd_table_cell(&x, "%.3g", e->max);
        hd_table_cell(&x, "%.3g", e->mean);
        hd_table_cell(&x, "%.3g", e->reference > 0 ? e->rms / e->reference : e->rms);
        if (e->rms > 0)
            hd_table_cell(&x, "%.1f", hd_value_error_db(e));
        else
            hd_table_cell(&x, "%s", "");
    }
    hd_table_print(&x, out);
}
