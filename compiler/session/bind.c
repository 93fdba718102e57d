/* Open dimensions of a network: --shape, and the tensors that are given for its inputs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"

/* "x=1,3,224,224" or "batch=4". */
static hd_status parse_shape(struct hd_cmd *c, hd_arena *a, const char *text,
                             struct hd_shape_bind *out) {
    const char *equals = strrchr(text, '='), *p = equals ? equals + 1 : "";
    bool ok = equals && equals != text;
    *out = (struct hd_shape_bind){.rank = 0};
    while (ok && *p && out->rank < HD_MAX_RANK) {
        char *end;
        errno = 0;
        long long v = strtoll(p, &end, 10);
        ok = end != p && !errno && v >= 0 && (!*end || (*end == ',' && end[1]));
        out->dim[out->rank++] = v;
        p = *end ? end + 1 : end;
    }
    if (!ok || *p)
        return hd_fail(c->ctx, HD_INVALID,
                       "--shape: got '%s', want NAME=N,N,.. with at most %d sizes of 0 or more",
                       text, HD_MAX_RANK);
    out->name = hd_strndup(a, text, (size_t)(equals - text));
    return HD_OK;
}

/* "sr=16000". */
static hd_status parse_value(struct hd_cmd *c, hd_arena *a, const char *text,
                             struct hd_value_bind *out) {
    const char *equals = strrchr(text, '=');
    char *end = NULL;
    double v = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || equals == text || end == equals + 1 || *end)
        return hd_fail(c->ctx, HD_INVALID, "--value: got '%s', want NAME=NUMBER", text);
    *out = (struct hd_value_bind){hd_strndup(a, text, (size_t)(equals - text)), v};
    return HD_OK;
}

hd_status hd_cmd_bind(struct hd_cmd *c, hd_arena *a, const struct hd_file_tensor *t, int n,
                      struct hd_bind *out) {
    struct hd_shape_bind *s =
        hd_new_array(a, struct hd_shape_bind, (size_t)c->opt.import.shapes.n + 1);
    struct hd_tensor *in = hd_new_array(a, struct hd_tensor, (size_t)n + 1);
    for (int i = 0; i < c->opt.import.shapes.n; i++)
        TRY(parse_shape(c, a, c->opt.import.shapes.text[i], &s[i]));
    struct hd_value_bind *values =
        hd_new_array(a, struct hd_value_bind, (size_t)c->opt.import.values.n + 1);
    for (int i = 0; i < c->opt.import.values.n; i++)
        TRY(parse_value(c, a, c->opt.import.values.text[i], &values[i]));
    for (int i = 0; i < n; i++) {
        int dtype = hd_dtype_from_onnx(t[i].dtype);
        in[i] = (struct hd_tensor){.name = t[i].name,
                                   .dtype = (hd_dtype)(dtype < 0 ? 0 : dtype),
                                   .rank = t[i].rank,
                                   .known = true,
                                   .data = t[i].data};
        memcpy(in[i].dim, t[i].dim, sizeof in[i].dim);
    }
    *out = (struct hd_bind){.shapes = s,
                            .n_shapes = (size_t)c->opt.import.shapes.n,
                            .values = values,
                            .n_values = (size_t)c->opt.import.values.n,
                            .states = c->opt.import.states.text,
                            .n_states = (size_t)c->opt.import.states.n,
                            .inputs = in,
                            .n_inputs = (size_t)n};
    out->tflite_rounding = c->opt.import.rounding && !strcmp(c->opt.import.rounding, "tflite");
    return HD_OK;
}

/* Before seconds of compiling: do the files of --inputs fit? */
static hd_status check_inputs(struct hd_cmd *c, hd_arena *a, const char *path,
                              const struct hd_bind *bind, const struct hd_file_tensor *t, int n) {
    hd_graph *g;
    TRY(hd_import(c->ctx, path, bind, &g));
    hd_status s = hd_note(c->ctx, hd_check_inputs(c->ctx, a, g, t, n), "in %s", c->opt.inputs);
    hd_graph_destroy(g);
    return s;
}

/* A data set beside the model need not be of use here. */
hd_status hd_cmd_bind_inputs(struct hd_cmd *c, hd_arena *a, const char *path, struct hd_bind *out) {
    struct hd_file_tensor *t = NULL;
    const char *what;
    int n = 0;
    hd_status s = hd_cmd_load_inputs(c, a, path, &t, &n, &what);
    if (s != HD_OK && c->opt.inputs) return s;
    if (s != HD_OK) {
        hd_clear(c->ctx);
        n = 0;
    }
    if (c->opt.run.steps > 1) t = hd_step_tensors(a, t, n, 0, c->opt.run.steps);
    TRY(hd_cmd_bind(c, a, t, n, out));
    return c->opt.inputs ? check_inputs(c, a, path, out, t, n) : HD_OK;
}

hd_status hd_cmd_import(struct hd_cmd *c, const char *path, hd_graph **out) {
    hd_arena *a = hd_arena_create();
    struct hd_bind bind = {0};
    hd_status s = hd_cmd_bind_inputs(c, a, path, &bind);
    if (s == HD_OK) s = hd_import(c->ctx, path, &bind, out);
    hd_arena_destroy(a);
    return s;
}
