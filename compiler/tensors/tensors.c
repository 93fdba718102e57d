/* Inputs and outputs: data sets beside the model, tensor files, random inputs. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/import/tensor_pb.h"
#include "compiler/tensors/tensors.h"
#include "cpu_ref/kernels.h"
#include "runtime/base/half.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

const char *hd_dims_text(hd_arena *a, const int64_t *dim, int rank) {
    const char *text = "[";
    for (int i = 0; i < rank; i++)
        text = hd_sprintf(a, "%s%s%lld", text, i ? "," : "", (long long)dim[i]);
    return hd_sprintf(a, "%s]", text);
}

const char *hd_onnx_dtype_name(int onnx_dtype) {
    int t = hd_dtype_from_onnx(onnx_dtype);
    return t < 0 ? "unknown type" : hd_dtype_name((hd_dtype)t);
}

bool hd_dtypes_agree(int file, int value) {
    return file == value || (hd_dtype_from_onnx(file) == HD_U16 && /* bits, as in ONNX's tests */
                             hd_dtype_from_onnx(value) == HD_BF16);
}

double hd_element(const void *data, int onnx_dtype, size_t i) {
    int t = hd_dtype_from_onnx(onnx_dtype);
    return t < 0 ? 0 : hd_k_f64(data, (hd_dtype)t, (int64_t)i);
}

const char *hd_folder_of(hd_arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? hd_strndup(a, path, slash == path ? 1 : (size_t)(slash - path)) : ".";
}

static int set_number(const char *name) {
    char *end;
    if (strncmp(name, "test_data_set_", 14)) return -1;
    long v = strtol(name + 14, &end, 10);
    return end == name + 14 || *end || v < 0 || v > 1000000 ? -1 : (int)v;
}

static int by_number(const void *a, const void *b) {
    const char *x = strrchr(*(char *const *)a, '/') + 1, *y = strrchr(*(char *const *)b, '/') + 1;
    return set_number(x) - set_number(y);
}

char **hd_data_sets(hd_arena *a, const char *model_path, int *out_n) {
    const char *folder = hd_folder_of(a, model_path);
    char **list = NULL;
    size_t n = 0, cap = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (set_number(e->d_name) >= 0)
            *hd_push(a, list, n, cap) = hd_sprintf(a, "%s/%s", folder, e->d_name);
    if (d) closedir(d);
    if (n) qsort(list, n, sizeof *list, by_number);
    *out_n = (int)n;
    return list;
}

hd_status hd_load_pb(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor *out) {
    struct hd_tensor_pb t;
    TRY(hd_tensor_pb_read(ctx, path, a, &t));
    *out = (struct hd_file_tensor){.name = t.name ? t.name : "",
                                   .dtype = hd_dtype_to_onnx(t.dtype),
                                   .rank = t.rank,
                                   .data = t.data,
                                   .bytes = t.bytes};
    for (int i = 0; i < t.rank; i++) out->dim[i] = t.dim[i];
    return HD_OK;
}

static hd_status load_npy_file(hd_ctx *ctx, hd_arena *a, const char *path,
                               struct hd_file_tensor *out) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(ctx, path, &data, &bytes));
    hd_status s = hd_load_npy(ctx, a, data, bytes, path, out);
    free(data);
    return s;
}

hd_status hd_load_set(hd_ctx *ctx, hd_arena *a, const char *folder, const char *kind,
                      struct hd_file_tensor **out, int *out_n) {
    struct hd_file_tensor *list = NULL;
    size_t n = 0, cap = 0;
    for (;;) {
        struct stat st;
        const char *path = hd_sprintf(a, "%s/%s_%zu.pb", folder, kind, n),
                   *npy = hd_sprintf(a, "%s/%s_%zu.npy", folder, kind, n);
        struct hd_file_tensor t = {.name = ""};
        if (stat(path, &st) == 0)
            TRY(hd_load_pb(ctx, a, path, &t));
        else if (stat(npy, &st) == 0)
            TRY(load_npy_file(ctx, a, npy, &t));
        else
            break;
        *hd_push(a, list, n, cap) = t;
    }
    *out = list;
    *out_n = (int)n;
    return HD_OK;
}

/* Equal dimensions, apart from leading ones. */
static bool shapes_agree(const struct hd_file_tensor *t, const int64_t *dim, int rank) {
    int i = 0, k = 0;
    while (i < t->rank && t->rank - i > rank && t->dim[i] == 1) i++;
    while (k < rank && rank - k > t->rank && dim[k] == 1) k++;
    if (t->rank - i != rank - k) return false;
    for (; i < t->rank; i++, k++)
        if (t->dim[i] != dim[k]) return false;
    return true;
}

/* The tensor for input i, by its name or else by its place. */
static const struct hd_file_tensor *tensor_for(const struct hd_file_tensor *t, int n, int i,
                                               const char *name) {
    const struct hd_file_tensor *from = i < n ? &t[i] : NULL;
    for (int k = 0; k < n; k++)
        if (!strcmp(t[k].name, name)) from = &t[k];
    return from;
}

static hd_status check_input(hd_ctx *ctx, hd_arena *a, const struct hd_file_tensor *from,
                             const char *name, int dtype, const int64_t *dim, int rank) {
    if (hd_dtypes_agree(from->dtype, dtype) && shapes_agree(from, dim, rank)) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "input %s: got %s%s, want %s%s", name,
                   hd_onnx_dtype_name(from->dtype), hd_dims_text(a, from->dim, from->rank),
                   hd_onnx_dtype_name(dtype), hd_dims_text(a, dim, rank));
}

static hd_status too_few(hd_ctx *ctx, const char *name, int given, int wanted) {
    return hd_fail(ctx, HD_INVALID, "input %s: %d tensors given, the network takes %d", name, given,
                   wanted);
}

hd_status hd_check_inputs(hd_ctx *ctx, hd_arena *a, const hd_graph *g,
                          const struct hd_file_tensor *t, int n) {
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct hd_tensor *x = &g->tensors[g->inputs[i]];
        const struct hd_file_tensor *from = tensor_for(t, n, (int)i, x->name);
        if (!from && x->initial) continue; /* state, which begins with that */
        if (!from) return too_few(ctx, x->name, n, (int)g->n_inputs);
        if (x->known)
            TRY(check_input(ctx, a, from, x->name, hd_dtype_to_onnx(x->dtype), x->dim, x->rank));
    }
    return HD_OK;
}

hd_status hd_initial_value(hd_ctx *ctx, hd_arena *a, const hd_model *m, int i, const void **out) {
    hd_graph *g = NULL;
    *out = NULL;
    if (i >= m->n_inputs - m->n_states) *out = m->initial[i - (m->n_inputs - m->n_states)];
    if (*out) return HD_OK;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    const struct hd_value_info *v = &m->values[m->inputs[i]];
    int t = hd_tensor_by_name(g, v->name);
    if (t >= 0 && g->tensors[t].initial &&
        hd_tensor_bytes(&g->tensors[t]) == hd_value_dense_bytes(v))
        *out = hd_dup(a, g->tensors[t].initial, hd_value_dense_bytes(v));
    hd_graph_destroy(g);
    return HD_OK;
}

hd_status hd_match_inputs(hd_ctx *ctx, hd_arena *a, const hd_model *m,
                          const struct hd_file_tensor *t, int n, const void ***out) {
    const void **in = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        const struct hd_file_tensor *from = tensor_for(t, n, i, v->name);
        if (!from) TRY(hd_initial_value(ctx, a, m, i, &in[i]));
        if (in[i]) continue;
        if (!from) return too_few(ctx, v->name, n, m->n_inputs);
        TRY(check_input(ctx, a, from, v->name, v->dtype, v->dim, v->rank));
        in[i] = from->data;
    }
    *out = in;
    return HD_OK;
}

struct hd_file_tensor *hd_step_tensors(hd_arena *a, const struct hd_file_tensor *t, int n,
                                       int64_t step, int64_t steps) {
    struct hd_file_tensor *v = hd_new_array(a, struct hd_file_tensor, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        v[i] = t[i];
        if (steps == 1 || !t[i].rank || t[i].dim[0] != steps) continue;
        v[i].rank--;
        memmove(v[i].dim, t[i].dim + 1, sizeof t[i].dim - sizeof t[i].dim[0]);
        v[i].bytes = t[i].bytes / (size_t)steps;
        v[i].data = (const char *)t[i].data + (size_t)step * v[i].bytes;
    }
    return v;
}

/* ---- random ------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *s) { /* splitmix64 */
    uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The range that a quantize node behind a float input represents; -1..1 when there is none. */
static void float_range(const hd_graph *g, int tensor, float *lo, float *hi) {
    *lo = -1, *hi = 1;
    for (size_t i = 0; g && i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || n->op != HD_IR_quantize || n->in[0] != tensor || n->in[1] < 0) continue;
        const struct hd_tensor *s = &g->tensors[n->in[1]],
                               *z = n->in[2] < 0 ? NULL : &g->tensors[n->in[2]];
        if (!s->data || hd_tensor_elems(s) != 1) continue;
        float scale = (float)hd_element(s->data, hd_dtype_to_onnx(s->dtype), 0);
        float zp = z && z->data ? (float)hd_element(z->data, hd_dtype_to_onnx(z->dtype), 0) : 0;
        hd_dtype type = g->tensors[n->out[0]].dtype;
        *lo = ((float)hd_dtype_least(type) - zp) * scale;
        *hi = ((float)hd_dtype_most(type) - zp) * scale;
    }
}

static void fill_random(const struct hd_value_info *v, const hd_graph *g, uint64_t seed,
                        void *out) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    float lo, hi;
    float_range(g, v->tensor, &lo, &hi);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = next_random(&seed);
        float f = lo + (hi - lo) * ((float)(r >> 40) / 16777216.0f);
        switch (hd_dtype_from_onnx(v->dtype)) {
        case HD_F32:
            ((float *)out)[i] = f;
            break;
        case HD_F64:
            ((double *)out)[i] = f;
            break;
        case HD_F16:
            ((uint16_t *)out)[i] = (uint16_t)(0x3800 | (r & 0x83ff));
            break; /* +-0.5 .. +-1 */
        case HD_BF16:
            ((uint16_t *)out)[i] = hd_f32_to_bf16(f);
            break;
        case HD_U8:
        case HD_I8:
            ((uint8_t *)out)[i] = (uint8_t)(r >> 32);
            break;
        case HD_BOOL:
            ((uint8_t *)out)[i] = (uint8_t)(r >> 63);
            break;
        default:
            memset((char *)out + i * (size_t)v->elem_bytes, 0, (size_t)v->elem_bytes);
            break;
        }
    }
}

hd_status hd_random_inputs(hd_ctx *ctx, hd_arena *a, const hd_model *m, uint64_t seed,
                           const void ***out) {
    hd_graph *g = NULL;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    const void **in = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        if (i >= m->n_inputs - m->n_states) {
            in[i] = m->initial[i - (m->n_inputs - m->n_states)];
            continue;
        }
        void *data = hd_alloc(a, hd_value_dense_bytes(v) + 1);
        const struct hd_tensor *t = v->tensor < 0 ? NULL : &g->tensors[v->tensor];
        if (t && t->initial)
            memcpy(data, t->initial, hd_value_dense_bytes(v));
        else
            fill_random(v, g, seed + (uint64_t)i * 1000003, data);
        in[i] = data;
    }
    hd_graph_destroy(g);
    *out = in;
    return HD_OK;
}

const void **hd_ramp_inputs(hd_arena *a, const hd_model *m) {
    const void **in = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
        void *data = hd_alloc(a, hd_value_dense_bytes(v) + 1);
        int t = hd_dtype_from_onnx(v->dtype);
        for (size_t k = 0; k < n && t >= 0; k++)
            hd_k_put_f64(data, (hd_dtype)t, (int64_t)k, (double)k / (double)n);
        in[i] = data;
    }
    return in;
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcmp(s + n - k, end);
}

hd_status hd_load_tensors(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor **out,
                          int *out_n) {
    struct stat st;
    if (stat(path, &st) != 0)
        return hd_fail(ctx, HD_IO, "%s: cannot open: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) {
        TRY(hd_load_set(ctx, a, path, "input", out, out_n));
        return *out_n ? HD_OK : hd_fail(ctx, HD_INVALID, "%s: a folder without input_0.pb", path);
    }
    if (ends_with(path, ".npz")) return hd_load_npz(ctx, a, path, out, out_n);
    *out = hd_new(a, struct hd_file_tensor);
    *out_n = 1;
    if (ends_with(path, ".pb")) return hd_load_pb(ctx, a, path, *out);
    if (!ends_with(path, ".npy"))
        return hd_fail(ctx, HD_INVALID,
                       "%s: unknown kind of file; --inputs takes a test_data_set folder, .pb, .npy "
                       "or .npz",
                       path);
    return load_npy_file(ctx, a, path, *out);
}

void **hd_output_buffers(hd_arena *a, const hd_model *m) {
    void **out = hd_new_array(a, void *, (size_t)m->n_outputs + 1);
    for (int i = 0; i < m->n_outputs; i++)
        out[i] = hd_alloc(a, hd_value_dense_bytes(&m->values[m->outputs[i]]) + 1);
    return out;
}
