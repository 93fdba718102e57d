/* Words of meaning.def for resize and einsum. */
#include <math.h>

#include "compiler/ir/einsum.h"
#include "compiler/ir/meaning_int.h"
#include "compiler/ir/resize.h"

/* ---- resize --------------------------------------------------------------------------------- */

static bool says(const struct hd_maker *m, const char *name, const char *def, const char *want) {
    return !strcmp(hd_attr_string(m->n, name, def), want);
}

static bool coordinates(const struct hd_maker *m, const char *want) {
    return says(m, "coordinate_transformation_mode", "half_pixel", want);
}

static bool get_resize(const struct hd_maker *m, struct hd_resize *r) {
    const struct hd_tensor *scales = hd_mean_operand(m, 2), *sizes = hd_mean_operand(m, 3);
    int64_t size[HD_MAX_RANK];
    int64_t n_scales = scales ? hd_tensor_elems(scales) : 0;
    int n_sizes = sizes ? hd_mean_ints(m, 3, size, HD_MAX_RANK) : 0;
    if (n_sizes < 0 || (n_scales && (!scales->data || scales->dtype != HD_F32))) return false;
    hd_status s = hd_resize_get(m->ctx, m->n, m->in[0], n_scales ? scales->data : NULL, n_scales,
                                size, n_sizes, r);
    if (s != HD_OK) hd_clear(m->ctx);
    return s == HD_OK;
}

/* Not a region of interest, and an image that is not empty. */
bool hd_mean_resize_known(const struct hd_maker *m) {
    struct hd_resize r;
    if (!hd_mean_operand(m, 0) || !m->out->known || coordinates(m, "tf_crop_and_resize") ||
        !get_resize(m, &r))
        return false;
    for (int d = 0; d < r.rank; d++)
        if (r.in[d] < 1) return false;
    return r.rank > 0;
}

/* A number of type f32. */
static void number(FILE *f, float v) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", (double)v);
    fprintf(f, "%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}

/* Dimension d stays as it is. */
static bool stays(const struct hd_maker *m, const struct hd_resize *r, int d) {
    return r->in[d] == r->out[d] && r->scale[d] == 1.0f && r->length[d] == (float)r->in[d] &&
           !coordinates(m, "tf_half_pixel_for_nn");
}

/* Where place j of dimension d lies in operand 0, in binary32. */
static void source(FILE *f, const struct hd_maker *m, const struct hd_resize *r, int d) {
    bool half = !coordinates(m, "asymmetric"), corners = coordinates(m, "align_corners"),
         one = r->out[d] <= 1 && (corners || coordinates(m, "pytorch_half_pixel"));
    if (one) {
        fputs("f32(0)", f);
    } else if (corners) {
        fprintf(f, "f32(j%d)*", d);
        number(f, (float)r->in[d] - 1);
        fputc('/', f);
        number(f, r->length[d] - 1);
    } else {
        if (coordinates(m, "half_pixel_symmetric")) {
            float adjustment = (float)r->out[d] / r->length[d];
            number(f, (float)r->in[d] / 2 * (1 - adjustment));
            fputs(" + ", f);
        }
        fprintf(f, half ? "(f32(j%d) + 0.5)/" : "f32(j%d)/", d);
        number(f, r->scale[d]);
        if (half && !coordinates(m, "tf_half_pixel_for_nn")) fputs(" - 0.5", f);
    }
}

static void nearest(FILE *f, const struct hd_maker *m, const struct hd_resize *r, int d) {
    bool ceil = says(m, "nearest_mode", "round_prefer_floor", "ceil"),
         floor = says(m, "nearest_mode", "round_prefer_floor", "floor"),
         up = says(m, "nearest_mode", "round_prefer_floor", "round_prefer_ceil");
    fprintf(f, "clamp(i64.%s(", ceil || (!floor && !up) ? "ceil" : "floor");
    source(f, m, r, d);
    fprintf(f, "%s), 0, %lld)",
            ceil || floor ? ""
            : up          ? " + 0.5"
                          : " - 0.5",
            (long long)r->in[d] - 1);
}

static void nearest_all(FILE *f, const struct hd_maker *m, const struct hd_resize *r) {
    for (int d = 0; d < r->rank; d++) {
        if (d) fputc(',', f);
        if (stays(m, r, d))
            fprintf(f, "j%d", d);
        else
            nearest(f, m, r, d);
    }
}

/* Weight of tap k of place j, at distance |base + k - place| * shrink, as a statement. */
static void weight(FILE *f, const struct hd_maker *m, const struct hd_resize *r, int d,
                   int64_t taps, double shrink) {
    double a = (double)hd_attr_float(m->n, "cubic_coeff_a", -0.75f);
    bool outside = hd_attr_int(m->n, "exclude_outside", 0) != 0;
    fprintf(f, "c%d[j%d] = ", d, d);
    source(f, m, r, d);
    fprintf(f, " where j%d < %lld\n", d, (long long)r->out[d]);
    fprintf(f, "b%d[j%d] = i64.floor(c%d[j%d]) - %lld\n", d, d, d, d, (long long)taps / 2 - 1);
    fprintf(f, "d%d[j%d,k] = abs(f64(b%d[j%d] + k) - f64(c%d[j%d]))*%.17g where k < %lld\n", d, d,
            d, d, d, d, shrink, (long long)taps);
    fprintf(f, "v%d[j%d,k] = ", d, d);
    if (outside)
        fprintf(f, "select(b%d[j%d] + k < 0 | b%d[j%d] + k >= %lld, 0, ", d, d, d, d,
                (long long)r->in[d]);
    if (says(m, "mode", "nearest", "linear"))
        fprintf(f, "max(1 - d%d[j%d,k], 0)", d, d);
    else
        fprintf(f,
                "select(d%d[j%d,k] <= 1, ((%.17g)*d%d[j%d,k] - (%.17g))*d%d[j%d,k]*d%d[j%d,k] + 1, "
                "select(d%d[j%d,k] < 2, (((d%d[j%d,k] - 5)*d%d[j%d,k] + 8)*d%d[j%d,k] - "
                "4)*(%.17g), 0))",
                d, d, a + 2, d, d, a + 3, d, d, d, d, d, d, d, d, d, d, d, d, a);
    fputs(outside ? ")\n" : "\n", f);
    bool sum = outside || shrink < 1;
    if (sum) fprintf(f, "n%d[j%d] += v%d[j%d,k]\n", d, d, d, d);
    fprintf(f, "w%d[j%d,k] = v%d[j%d,k]", d, d, d, d);
    fprintf(f, sum ? "/n%d[j%d]\n" : "\n", d, d);
}

/* Statements that resize one dimension after the other; the last one has {j}. */
static void interpolate(FILE *f, const struct hd_maker *m, const struct hd_resize *r) {
    char name[16] = "x";
    bool linear = says(m, "mode", "nearest", "linear"), any = false;
    for (int d = 0; d < r->rank; d++) {
        if (stays(m, r, d)) continue;
        double shrink =
            hd_attr_int(m->n, "antialias", 0) && r->scale[d] < 1.0f ? (double)r->scale[d] : 1;
        int64_t taps = 2 * (int64_t)ceil((linear ? 1 : 2) / shrink);
        weight(f, m, r, d, taps, shrink);
        fprintf(f, "r%d[", d);
        for (int k = 0; k < r->rank; k++) fprintf(f, "%sj%d", k ? "," : "", k);
        fprintf(f, "] += f64(%s[", name);
        for (int k = 0; k < r->rank; k++) {
            if (k) fputc(',', f);
            if (k == d)
                fprintf(f, "clamp(b%d[j%d] + k, 0, %lld)", d, d, (long long)r->in[d] - 1);
            else
                fprintf(f, "j%d", k);
        }
        fprintf(f, "])*w%d[j%d,k]\n", d, d);
        snprintf(name, sizeof name, "r%d", d);
        any = true;
    }
    fputs("y[", f);
    for (int k = 0; k < r->rank; k++) fprintf(f, "%sj%d", k ? "," : "", k);
    fprintf(f, any ? "] = %s(%s[" : "] = %s(%s[", hd_dtype_name(m->out->dtype), name);
    for (int k = 0; k < r->rank; k++) fprintf(f, "%sj%d", k ? "," : "", k);
    fputs("])", f);
}

/* ---- einsum --------------------------------------------------------------------------------- */

static bool get_einsum(const struct hd_maker *m, struct hd_einsum *e) {
    if (m->n_in < 1 || m->n_in > HD_EINSUM_OPERANDS) return false;
    for (int i = 0; i < m->n_in; i++)
        if (!m->in[i]) return false;
    hd_status s = hd_einsum_parse(m->ctx, hd_attr_string(m->n, "equation", ""), m->n_in, m->in, e);
    if (s != HD_OK) hd_clear(m->ctx);
    return s == HD_OK && e->n_out <= HD_EXPR_RANK;
}

bool hd_mean_einsum_known(const struct hd_maker *m) {
    struct hd_einsum e;
    return get_einsum(m, &e);
}

/* The product of the operands, floats as f64. */
static void factors(FILE *f, const struct hd_maker *m, const struct hd_einsum *e, bool wide) {
    for (int i = 0; i < m->n_in; i++) {
        fprintf(f, "%s%sx%d[", i ? "*" : "", wide ? "f64(" : "", i);
        for (int d = 0; d < m->in[i]->rank; d++)
            if (m->in[i]->dim[d] == 1)
                fprintf(f, "%s0", d ? "," : "");
            else
                fprintf(f, "%sl%d", d ? "," : "", e->label[i][d]);
        fputs(wide ? "])" : "]", f);
    }
}

/* Limits of the labels; all of them must stand in the product. */
static void labels(FILE *f, const struct hd_einsum *e, int n, bool limits) {
    for (int l = 0; l < n; l++)
        if (limits)
            fprintf(f, "%sl%d < %lld", l ? ", " : " where ", l, (long long)e->size[l]);
        else
            fprintf(f, "%sl%d", l ? "," : "", l);
}

bool hd_mean_sample_word(FILE *f, const struct hd_maker *m, const char *word) {
    struct hd_resize r;
    struct hd_einsum e;
    if (m->n->op == HD_IR_resize && get_resize(m, &r)) {
        if (!strcmp(word, "nearest"))
            nearest_all(f, m, &r);
        else if (!strcmp(word, "interpolated"))
            interpolate(f, m, &r);
        else
            return false;
        return true;
    }
    if (m->n->op != HD_IR_einsum || !get_einsum(m, &e)) return false;
    if (!strcmp(word, "factors") || !strcmp(word, "wide"))
        factors(f, m, &e, word[0] == 'w');
    else if (!strcmp(word, "labels"))
        labels(f, &e, e.n_out, false);
    else if (!strcmp(word, "label_limits"))
        labels(f, &e, e.n_out, true);
    else
        return false;
    return true;
}
