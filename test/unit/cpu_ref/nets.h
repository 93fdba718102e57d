/* Small networks as text, on a device against golden: integers bit for bit, floats within
 * cpu_bounds.def. For the unit tests of devices. */
#ifndef HD_TEST_UNIT_NETS_H
#define HD_TEST_UNIT_NETS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "cpu_ref/cpu_bounds.h"
#include "runtime/runtime.h"

enum { INPUTS = 4 };

struct net {
    const char *operands, *nodes, *output;
};
static uint32_t nets_state;
static const char *nets_db; /* of run_net: schedules that the device takes; NULL = none */
static inline double uniform(double lo, double hi) {
    nets_state = nets_state * 1664525u + 1013904223u;
    return lo + (hi - lo) * ((double)(nets_state >> 8) / (1 << 24));
}

/* "name type d,d,d lo hi" -> a line of the graph's text form. Names that begin with w are
 * constants, with wp those that ascend. */
static inline void declare(FILE *f, const char *line) {
    char name[16], type[8], shape[64];
    double lo, hi;
    assert_int_equal(sscanf(line, " %15s %7s %63s %lf %lf", name, type, shape, &lo, &hi), 5);
    if (name[0] != 'w') {
        fprintf(f, " input %s %s[%s]\n", name, type, shape);
        return;
    }
    int64_t n = 1;
    for (const char *p = shape; *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : p + strlen(p))
        n *= atoi(p);
    fprintf(f, " const %s %s[%s] = {", name, type, shape);
    for (int64_t i = 0; i < n; i++) {
        double most = type[0] == 'f' ? hi : hi + 0.999;
        double v = name[1] == 'p' ? lo + (most - lo) * (double)i / (double)n : uniform(lo, most);
        if (type[0] == 'f')
            fprintf(f, "%s%a", i ? "," : "", v);
        else
            fprintf(f, "%s%d", i ? "," : "", (int)floor(v));
    }
    fputs("}\n", f);
}

static inline hd_model *build(hd_ctx *ctx, const struct net *n, hd_graph **out_graph) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    fputs("graph net {\n", f);
    for (const char *p = n->operands; p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
        declare(f, p);
    fprintf(f, "%s\n output %s\n}\n", n->nodes, n->output);
    fclose(f);
    struct hd_compile_options o = {.host_only = true};
    hd_model *m = NULL;
    if (hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(ctx, text, "net", out_graph) != HD_OK ||
        hd_graph_infer(ctx, *out_graph) != HD_OK || hd_lower(ctx, *out_graph, &o, &m) != HD_OK)
        fail_msg("%s: %s", n->nodes, hd_message(ctx));
    free(text);
    return m;
}

/* Random operands, in the range that the net's line gives. */
static inline void fill(const hd_model *m, const struct net *n, void **in) {
    int k = 0;
    for (const char *p = n->operands; p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL) {
        char name[16], type[8], shape[64];
        double lo, hi;
        sscanf(p, " %15s %7s %63s %lf %lf", name, type, shape, &lo, &hi);
        if (name[0] == 'w') continue;
        const struct hd_value_info *v = &m->values[m->inputs[k]];
        size_t bytes = hd_value_dense_bytes(v);
        in[k] = malloc(bytes + 1);
        for (size_t i = 0; i < bytes / (size_t)v->elem_bytes; i++)
            if (type[0] == 'f')
                ((float *)in[k])[i] = (float)uniform(lo, hi);
            else
                ((uint8_t *)in[k])[i] = (uint8_t)(int)floor(uniform(lo, hi + 0.999));
        k++;
    }
}

static inline void compare(const struct net *n, const hd_graph *g, const struct hd_value_info *v,
                           const void *got, const void *want, const char *how) {
    size_t bytes = hd_value_dense_bytes(v);
    if (g->tensors[v->tensor].dtype != HD_F32) {
        if (memcmp(got, want, bytes)) fail_msg("%s: %s differs from golden", n->nodes, how);
        return;
    }
    struct hd_cpu_bound b = hd_cpu_bound_to(g, v->tensor);
    const float *x = got, *y = want;
    double largest = 0;
    for (size_t i = 0; i < bytes / 4; i++)
        if (isfinite(y[i]) && fabs((double)y[i]) > largest) largest = fabs((double)y[i]);
    for (size_t i = 0; i < bytes / 4; i++) {
        double d = fabs((double)x[i] - (double)y[i]);
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) continue;
        if (!(d <= b.relative * fabs((double)y[i]) + b.of_largest * largest))
            fail_msg("%s: %s [%zu]: %g, golden %g, apart %g", n->nodes, how, i, (double)x[i],
                     (double)y[i], d);
    }
}

struct told { /* the output as a run told of it, and how often */
    void *data;
    size_t bytes;
    int times;
};

static inline void keep_told(void *user, int output, const void *data) {
    struct told *t = user;
    assert_int_equal(output, 0);
    memcpy(t->data, data, t->bytes);
    t->times++;
}

/* Two runs on `name` and on golden; how: for messages. Device cpu tells of the output when it is
 * complete: once, or not at all where no step writes it. */
static inline void run_net(hd_ctx *ctx, const struct net *n, const char *name, int threads,
                           const char *how) {
    hd_graph *g = NULL;
    hd_model *m = build(ctx, n, &g);
    hd_session *s[2] = {NULL, NULL};
    const char *device[2] = {"golden", name};
    const struct hd_value_info *v = &m->values[m->outputs[0]];
    void *in[INPUTS] = {NULL}, *out[2];
    struct told told = {malloc(hd_value_dense_bytes(v) + 1), hd_value_dense_bytes(v), 0};
    struct hd_made made = {keep_told, &told};
    for (int i = 0; i < 2; i++) {
        struct hd_device_options o = {
            .machine = m->machine, .threads = threads, .name = device[i], .made = &made};
        if (i == 1) o.db = nets_db;
        if (hd_session_open(ctx, m, device[i], &o, &s[i]) != HD_OK)
            fail_msg("%s: %s", n->nodes, hd_message(ctx));
        out[i] = malloc(hd_value_dense_bytes(v) + 1);
    }
    for (int run = 0; run < 2; run++) { /* the second one finds what the first left behind */
        fill(m, n, in);
        for (int i = 0; i < 2; i++)
            if (hd_session_run(ctx, s[i], (const void *const *)in, &out[i]) != HD_OK)
                fail_msg("%s: %s", n->nodes, hd_message(ctx));
        compare(n, g, v, out[1], out[0], how);
        if (strcmp(name, "cpu") == 0) assert_int_equal(told.times, run + 1);
        if (told.times && memcmp(told.data, out[1], told.bytes) != 0)
            fail_msg("%s: %s: the output was told of before it was complete", n->nodes, how);
        for (int i = 0; i < INPUTS; i++) free(in[i]), in[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        hd_session_close(s[i]);
        free(out[i]);
    }
    free(told.data);
    hd_model_destroy(m);
    hd_graph_destroy(g);
}

#endif
