/* Random recurrent networks: one to three layers of qlstm, qgru and qrnn with random sizes, batch,
 * direction, zero points and initial states (inputs, constants or none), compiled and run on a
 * machine device; every value that leaves the machine is compared with golden, bit for bit, and the
 * programs pass the static check.
 *
 *   random_rnn [--seed S] [--count N] [--device iss|rtl] [--machine NAME] [--set k=v] [--small]
 *              [--jitter] [--print]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/compiler.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

enum { INPUTS = 8 };

struct gen {
    uint64_t s;
    hd_graph *g;
    bool small;
    int inputs[INPUTS], n_inputs;
};

static uint32_t next(struct gen *x) { /* splitmix64 */
    uint64_t z = (x->s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}
static int range(struct gen *x, int lo, int hi) {
    return lo + (int)(next(x) % (uint32_t)(hi - lo + 1));
}
static float uniform(struct gen *x, float lo, float hi) {
    return lo + (hi - lo) * ((float)(next(x) & 0xffff) / 65536.0f);
}

static void *bytes(struct gen *x, int64_t n) {
    uint8_t *v = malloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (uint8_t)next(x);
    return v;
}
static float *floats(struct gen *x, int64_t n, float lo, float hi) {
    float *v = malloc(sizeof *v * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) v[i] = uniform(x, lo, hi);
    return v;
}

static int constant(struct gen *x, hd_dtype t, int64_t a, int64_t b, int64_t c, void *data) {
    int64_t dim[3] = {a, b, c};
    int id = hd_graph_const(x->g, "c", t, 3, dim, data);
    free(data);
    return id;
}

/* An initial state: left out, a constant, an input. */
static int initial(struct gen *x, hd_dtype t, int64_t d, int64_t b, int64_t h) {
    int64_t dim[3] = {d, b, h}, n = d * b * h;
    int kind = range(x, 0, 2);
    if (kind == 0) return -1;
    if (kind == 1)
        return constant(x, t, d, b, h, t == HD_F32 ? (void *)floats(x, n, -2, 2) : bytes(x, n));
    int id = hd_graph_tensor(x->g, "s", t, 3, dim);
    hd_graph_input(x->g, id);
    return x->inputs[x->n_inputs++] = id;
}

/* One layer; returns y, [steps, dirs, batch, hidden]. */
static int layer(struct gen *x, int in, int64_t steps, int64_t batch, int64_t depth, int64_t *out_d,
                 int64_t *out_h) {
    static const enum hd_ir_op ops[] = {HD_IR_qlstm, HD_IR_qlstm, HD_IR_qgru, HD_IR_qrnn};
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};
    enum hd_ir_op op = ops[range(x, 0, 3)];
    int gates = op == HD_IR_qlstm ? 4 : op == HD_IR_qgru ? 3 : 1, way = range(x, 0, 2);
    int64_t d = way == 2 ? 2 : 1, h = range(x, 1, x->small ? 40 : range(x, 1, 5) == 1 ? 300 : 90);
    int64_t gh = gates * h;
    hd_dtype type = next(x) % 3 ? HD_I8 : HD_U8, x_type = x->g->tensors[in].dtype;
    float step = uniform(x, 0.004f, 0.012f);
    int32_t *bias = malloc(sizeof *bias * (size_t)(d * 2 * gh));
    float *scale = malloc(sizeof *scale * (size_t)(d * 2 * gh));
    for (int64_t i = 0; i < d * 2 * gh; i++) {
        bool of_h = i / gh % 2;
        bias[i] = range(x, -3000, 3000);
        scale[i] = uniform(x, 0.2f, 3.0f) / (float)(60 * (of_h ? h : depth) + 200);
    }
    int ins[7] = {in,
                  constant(x, HD_I8, d, gh, depth, bytes(x, d * gh * depth)),
                  constant(x, HD_I8, d, gh, h, bytes(x, d * gh * h)),
                  constant(x, HD_I32, d, 2, gh, bias),
                  constant(x, HD_F32, d, 2, gh, scale),
                  initial(x, gates == 3 ? HD_F32 : type, d, batch, h),
                  -1};
    if (gates == 4) ins[6] = initial(x, HD_F32, d, batch, h);
    int64_t y_dim[4] = {steps, d, batch, h}, s_dim[3] = {d, batch, h};
    int out[2] = {hd_graph_tensor(x->g, "y", type, 4, y_dim), -1};
    bool state = gates > 1 && next(x) % 2;
    if (state) out[1] = hd_graph_tensor(x->g, "last", HD_F32, 3, s_dim);
    int id = hd_graph_node(x->g, op, hd_ir_ops[op].name, gates == 4 ? 7 : 6, ins, 1 + state, out);
    int lo = type == HD_U8 ? 0 : -128, x_lo = x_type == HD_U8 ? 0 : -128;
    hd_attr_set_string(x->g, id, "direction", directions[way]);
    hd_attr_set_string(x->g, id, "to", hd_dtype_name(type));
    hd_attr_set_int(x->g, id, "x_zp", range(x, x_lo, x_lo + 255));
    hd_attr_set_int(x->g, id, "y_zp", next(x) % 2 ? lo + 128 : range(x, lo, lo + 255));
    hd_attr_set_float(x->g, id, "scale", 1 / step);
    hd_attr_set_int(x->g, id, "linear_before_reset", next(x) % 2);
    if (next(x) % 4 == 0) hd_attr_set_string(x->g, id, "activation", "none");
    if (state) hd_graph_output(x->g, out[1]);
    *out_d = d, *out_h = h;
    return out[0];
}

static hd_graph *generate(struct gen *x, uint64_t seed, int layers) {
    *x = (struct gen){.s = seed * 7919 + 3, .g = hd_graph_create(), .small = x->small};
    int64_t steps = range(x, 1, x->small ? 6 : 40), batch = next(x) % 2 ? 1 : range(x, 1, 20);
    int64_t depth = range(x, 1, x->small ? 40 : 150), d, h, dim[3] = {steps, batch, depth};
    int t = hd_graph_tensor(x->g, "x", next(x) % 2 ? HD_I8 : HD_U8, 3, dim);
    hd_graph_input(x->g, t);
    x->inputs[x->n_inputs++] = t;
    for (int i = 0; i < layers; i++) {
        t = layer(x, t, steps, batch, depth, &d, &h);
        if (i + 1 == layers) break;
        int64_t perm[4] = {0, 2, 1, 3}, turned[4] = {steps, batch, d, h};
        int64_t flat[3] = {steps, batch, d * h};
        hd_dtype type = x->g->tensors[t].dtype;
        if (d == 2) { /* both directions side by side, as exporters write it */
            int y = hd_graph_tensor(x->g, "t", type, 4, turned);
            int id = hd_graph_node(x->g, HD_IR_transpose, "turn", 1, &t, 1, &y);
            hd_attr_set_ints(x->g, id, "perm", 4, perm);
            t = y;
        }
        int y = hd_graph_tensor(x->g, "t", type, 3, flat);
        int id = hd_graph_node(x->g, HD_IR_reshape, "flat", 1, &t, 1, &y);
        hd_attr_set_ints(x->g, id, "shape", 3, flat);
        t = y, depth = d * h;
    }
    hd_graph_output(x->g, t);
    return x->g;
}

struct options {
    uint64_t seed;
    int count;
    const char *device;
    struct hd_device_options dev;
    bool print, small;
};

static hd_status run_one(hd_ctx *ctx, const hd_model *m, const char *device,
                         const struct hd_device_options *opt, const void *const *in,
                         void *const *out, hd_session **s) {
    TRY(hd_session_open(ctx, m, device, opt, s));
    return hd_session_run(ctx, *s, in, out);
}

static hd_status compare(hd_ctx *ctx, const hd_model *m, hd_session *a, hd_session *b,
                         bool *out_same) {
    *out_same = true;
    for (int v = 0; v < m->n_values && *out_same; v++) {
        size_t n = hd_value_dense_bytes(&m->values[v]), i = 0;
        unsigned char *x = malloc(n + 1), *y = malloc(n + 1);
        hd_status s = hd_session_value(ctx, a, v, x);
        if (s == HD_OK) s = hd_session_value(ctx, b, v, y);
        while (s == HD_OK && i < n && x[i] == y[i]) i++;
        if (s == HD_OK && i < n) {
            *out_same = false;
            printf("  first difference: %s byte %zu of %zu: golden %d, device %d\n",
                   m->values[v].name, i, n, x[i], y[i]);
        }
        free(x);
        free(y);
        TRY(s);
    }
    return HD_OK;
}

/* The program is free of races, deadlock and reads of what nobody wrote. */
static hd_status check(hd_ctx *ctx, const hd_model *m) {
    struct hd_check k;
    struct hd_check_windows w = {{m->image_bytes, m->arena_bytes}};
    hd_status s = HD_OK;
    hd_check_init(&k);
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG)
            hd_check_program(&k, (const void *)((const char *)m->image + m->steps[i].code_offset),
                             m->steps[i].code_bytes / 4, &m->machine, &w);
    if (k.n_findings)
        s = hd_fail(ctx, HD_INVALID, "check: bundle %d: %s: %s", k.findings[0].bundle,
                    k.findings[0].text, k.findings[0].op);
    hd_check_deinit(&k);
    return s;
}

static hd_status run_graph(hd_ctx *ctx, struct gen *x, const struct options *o, uint64_t seed,
                           bool *out_same, int *on_machine) {
    struct hd_compile_options c = {
        .machine = o->dev.machine, .latency_hiding = seed % 4 != 3, .keep_all = seed % 3 == 0};
    hd_model *m;
    TRY(hd_graph_infer(ctx, x->g));
    TRY(hd_graph_verify(ctx, x->g));
    if (o->print) TRY(hd_graph_print(ctx, x->g, false, stdout));
    TRY(hd_lower(ctx, x->g, &c, &m));
    *on_machine += m->n_layers;
    if (o->print)
        for (int i = 0; i < m->n_host_ops; i++)
            printf("host: %s: %s\n", m->host_ops[i].node, m->host_ops[i].reason);
    void *in[INPUTS], *out[INPUTS];
    for (int i = 0; i < m->n_inputs; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        int64_t n = (int64_t)hd_value_dense_bytes(v);
        in[i] = v->elem_bytes == 4 ? (void *)floats(x, n / 4, -2, 2) : bytes(x, n);
    }
    for (int i = 0; i < m->n_outputs; i++)
        out[i] = malloc(hd_value_dense_bytes(&m->values[m->outputs[i]]) + 1);
    hd_session *a = NULL, *b = NULL;
    hd_status s = check(ctx, m);
    if (s == HD_OK) s = run_one(ctx, m, "golden", &o->dev, (const void *const *)in, out, &a);
    if (s == HD_OK) s = run_one(ctx, m, o->device, &o->dev, (const void *const *)in, out, &b);
    if (s == HD_OK) s = compare(ctx, m, a, b, out_same);
    if (a) hd_session_close(a);
    if (b) hd_session_close(b);
    for (int i = 0; i < m->n_inputs; i++) free(in[i]);
    for (int i = 0; i < m->n_outputs; i++) free(out[i]);
    hd_model_destroy(m);
    return s;
}

static bool passes(hd_ctx *ctx, const struct options *o, uint64_t seed, int layers,
                   int *on_machine) {
    bool same = false;
    struct gen x = {.small = o->small};
    generate(&x, seed, layers);
    hd_clear(ctx);
    hd_status s = run_graph(ctx, &x, o, seed, &same, on_machine);
    hd_graph_destroy(x.g);
    if (s != HD_OK) printf("  %s\n", hd_message(ctx));
    return s == HD_OK && same;
}

static int usage(const char *why) {
    fprintf(stderr,
            "random_rnn: %s\nusage: random_rnn [--seed S] [--count N] [--device iss|rtl] "
            "[--machine NAME] [--set k=v] [--small] [--jitter] [--print]\n",
            why);
    return 2;
}

int main(int argc, char **argv) {
    static const struct option longs[] = {
        {"seed", 1, 0, 's'},    {"count", 1, 0, 'n'},  {"device", 1, 0, 'd'},
        {"machine", 1, 0, 'm'}, {"set", 1, 0, 'e'},    {"small", 0, 0, 'k'},
        {"print", 0, 0, 'p'},   {"jitter", 0, 0, 'j'}, {0, 0, 0, 0}};
    struct options o = {.seed = 1, .count = 1, .device = "iss"};
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_machine_load(ctx, "base", &o.dev.machine);
    for (int c; s == HD_OK && (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) switch (c) {
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o.count = atoi(optarg);
            break;
        case 'd':
            o.device = optarg;
            break;
        case 'm':
            s = hd_machine_load(ctx, optarg, &o.dev.machine);
            break;
        case 'e':
            s = hd_machine_set(ctx, &o.dev.machine, optarg);
            break;
        case 'j':
            o.dev.mem.jitter = true;
            break;
        case 'k':
            o.small = true;
            break;
        case 'p':
            o.print = true;
            break;
        default:
            return usage("unknown option");
        }
    if (s == HD_OK) s = hd_machine_check(ctx, &o.dev.machine);
    if (s != HD_OK) return usage(hd_message(ctx));
    int bad = 0, on_machine = 0;
    for (uint64_t seed = o.seed; seed < o.seed + (uint64_t)o.count; seed++) {
        int layers = 1 + (int)(seed % 3), least = 1, unused = 0;
        o.dev.mem.jitter_seed = seed;
        if (passes(ctx, &o, seed, layers, &on_machine)) continue;
        bad++;
        while (least < layers && passes(ctx, &o, seed, least, &unused)) least++;
        printf("FAIL seed %llu: %d layers, fails with %d\n", (unsigned long long)seed, layers,
               least);
    }
    printf("random_rnn %s %s: %d passed, %d failed, %d layers on the machine\n", o.device,
           o.dev.machine.name, o.count - bad, bad, on_machine);
    hd_ctx_destroy(ctx);
    return bad != 0 || (o.count > 20 && on_machine < o.count);
}
