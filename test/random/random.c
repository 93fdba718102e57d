/* Runs random networks: see random.h.
 *
 *   NAME [--seed S] [--count N] [--device iss|rtl] [--machine NAME] [--set k=v] [--jitter]
 * [--small]
 *        [--serial] [--print] [--devices A,B,..]
 *
 * --devices: the network is placed on them by cost, and every other time each node at random. */
#include "test/random/random.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/check/check.h"
#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "cpu_ref/golden.h"
#include "runtime/runtime.h"
#include "test/rng.h"
#include "test/stages/round_trip.h"

enum { MAX_IO = 16 };

struct options {
    uint64_t seed;
    int count;
    const char *device;
    struct hd_device_list devices; /* that share a network; n = 0: one device */
    hd_arena *arena;               /* of that list */
    struct hd_device_options dev;
    bool print, small, latency_hiding;
};

static hd_status run_one(hd_ctx *ctx, const hd_model *m, const char *device,
                         const struct hd_device_options *opt, void *const *in, void *const *out,
                         hd_session **s) {
    TRY(hd_session_open(ctx, m, device, opt, s));
    return hd_session_run(ctx, *s, (const void *const *)in, out);
}

/* Compares every value that left the machine; *out_same says whether all agree. */
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

/* The programs are free of races, deadlock and reads of what nobody wrote. */
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

/* Random values of an input: any bytes, or floats about zero. */
static void *random_values(struct rng *r, const struct hd_value_info *v) {
    size_t n = hd_value_dense_bytes(v);
    unsigned char *x = malloc(n + 1);
    float *f = (void *)x;
    for (size_t i = 0; v->elem_bytes == 4 && i < n / 4; i++) f[i] = rng_float(r, -2, 2);
    for (size_t i = 0; v->elem_bytes != 4 && i < n; i++) x[i] = (unsigned char)rng_next(r);
    return x;
}

static hd_status run_model(hd_ctx *ctx, const hd_model *m, const struct options *o, uint64_t seed,
                           bool *out_same) {
    struct rng r = {seed ^ 0x5555};
    void *in[MAX_IO] = {NULL}, *out[MAX_IO] = {NULL};
    if (m->n_inputs > MAX_IO || m->n_outputs > MAX_IO)
        return hd_fail(ctx, HD_INVALID, "%d inputs, %d outputs: at most %d", m->n_inputs,
                       m->n_outputs, MAX_IO);
    TRY(check(ctx, m));
    for (int i = 0; i < m->n_inputs; i++) in[i] = random_values(&r, &m->values[m->inputs[i]]);
    for (int i = 0; i < m->n_outputs; i++)
        out[i] = malloc(hd_value_dense_bytes(&m->values[m->outputs[i]]) + 1);
    hd_session *a = NULL, *b = NULL;
    hd_status s = run_one(ctx, m, "golden", &o->dev, in, out, &a);
    if (s == HD_OK) s = run_one(ctx, m, o->device, &o->dev, in, out, &b);
    if (s == HD_OK) s = compare(ctx, m, a, b, out_same);
    if (a) hd_session_close(a);
    if (b) hd_session_close(b);
    for (int i = 0; i < MAX_IO; i++) free(in[i]), free(out[i]);
    return s;
}

/* The model as it is read back from the file that it is saved to. */
static hd_status by_file(hd_ctx *ctx, hd_model **m) {
    char path[] = "/tmp/heddle_random_XXXXXX";
    int fd = mkstemp(path);
    hd_model *again = NULL;
    if (fd < 0) return hd_fail(ctx, HD_IO, "%s: cannot be made", path);
    close(fd);
    hd_status s = hd_model_save(ctx, *m, path);
    if (s == HD_OK) s = hd_model_load(ctx, path, &again);
    remove(path);
    if (s != HD_OK) return s;
    hd_model_destroy(*m);
    *m = again;
    return HD_OK;
}

/* What golden makes of random bytes and floats: all results, one behind the other. */
static hd_status results(hd_ctx *ctx, const hd_graph *g, hd_arena *a, uint64_t seed,
                         struct hd_tensor **out) {
    struct rng r = {seed ^ 0x7777};
    *out = hd_golden_tensors(g, a);
    for (size_t i = 0; i < g->n_inputs; i++) {
        struct hd_tensor *x = &(*out)[g->inputs[i]];
        size_t n = hd_tensor_bytes(x);
        unsigned char *v = hd_alloc(a, n + 1);
        float *f = (void *)v;
        for (size_t k = 0; x->dtype == HD_F32 && k < n / 4; k++) f[k] = rng_float(&r, -2, 2);
        for (size_t k = 0; x->dtype != HD_F32 && k < n; k++) v[k] = (unsigned char)rng_next(&r);
        x->data = v;
    }
    return hd_golden_eval(ctx, g, NULL, 0, *out, a);
}

/* Passes for the machine keep all values. */
static hd_status prepare(hd_ctx *ctx, hd_graph *g, uint64_t seed) {
    hd_arena *a = hd_arena_create();
    struct hd_tensor *before, *after;
    hd_status s = results(ctx, g, a, seed, &before);
    size_t n = g->n_outputs;
    int *was = hd_dup(a, g->outputs, n * sizeof *was);
    if (s == HD_OK) s = hd_prepare(ctx, g);
    if (s == HD_OK) s = results(ctx, g, a, seed, &after);
    for (size_t i = 0; s == HD_OK && i < n; i++) {
        const struct hd_tensor *x = &before[was[i]], *y = &after[g->outputs[i]];
        if (memcmp(x->data, y->data, hd_tensor_bytes(x)))
            s = hd_fail(ctx, HD_MISMATCH, "pass prepare changes %s", y->name);
    }
    hd_arena_destroy(a);
    return s;
}

static hd_status run_graph(hd_ctx *ctx, hd_graph *g, bool legalize, const struct options *o,
                           uint64_t seed, bool *out_same, int *on_machine) {
    struct hd_compile_options c = {.machine = o->dev.machine,
                                   .latency_hiding = o->latency_hiding && seed % 4 != 3,
                                   .keep_all = seed % 2 == 0,
                                   .place_all = seed % 8 != 5};
    hd_model *m;
    c.devices = o->devices;
    c.host_only = o->devices.n && o->devices.machine < 0;
    TRY(hd_graph_infer(ctx, g));
    TRY(hd_graph_verify(ctx, g));
    if (o->print) TRY(hd_graph_print(ctx, g, false, stdout));
    if (legalize) TRY(hd_legalize(ctx, g));
    if (legalize && o->print) TRY(hd_graph_print(ctx, g, false, stdout));
    if (!c.host_only) TRY(prepare(ctx, g, seed));
    if (seed % 4 == 2 && !o->devices.n) TRY(round_trip(ctx, g, &c));
    int *on = calloc(g->n_nodes + 1, sizeof *on);
    struct rng r = {seed ^ 0x7777};
    for (size_t i = 0; i < g->n_nodes && o->devices.n; i++)
        on[i] = (int)rng_range(&r, 0, o->devices.n - 1);
    if (seed % 2) c.devices.on = on;
    hd_status lowered = hd_lower(ctx, g, &c, &m);
    free(on);
    TRY(lowered);
    *on_machine += m->n_layers;
    for (int i = 0; o->print && i < m->n_host_ops; i++)
        printf("host: %s: %s\n", m->host_ops[i].node, m->host_ops[i].reason);
    hd_status s = by_file(ctx, &m);
    if (s == HD_OK) s = run_model(ctx, m, o, seed, out_same);
    hd_model_destroy(m);
    return s;
}

static bool passes(hd_ctx *ctx, const struct random_kind *kind, const struct options *o,
                   uint64_t seed, int layers, int *on_machine) {
    bool same = false;
    hd_graph *g = kind->generate(seed, layers, o->small);
    hd_clear(ctx);
    hd_status s = run_graph(ctx, g, kind->legalize, o, seed, &same, on_machine);
    hd_graph_destroy(g);
    if (s != HD_OK) printf("  %s\n", hd_message(ctx));
    return s == HD_OK && same;
}

static int usage(const struct random_kind *kind, const char *why) {
    fprintf(stderr,
            "%s: %s\nusage: %s [--seed S] [--count N] [--device iss|rtl] [--machine NAME] "
            "[--set k=v] [--jitter] [--small] [--serial] [--print] [--devices A,B,..]\n",
            kind->name, why, kind->name);
    return 2;
}

static hd_status read_options(hd_ctx *ctx, int argc, char **argv, struct options *o) {
    static const struct option longs[] = {
        {"seed", 1, 0, 's'},    {"count", 1, 0, 'n'}, {"device", 1, 0, 'd'},
        {"machine", 1, 0, 'm'}, {"set", 1, 0, 'e'},   {"jitter", 0, 0, 'j'},
        {"small", 0, 0, 'k'},   {"print", 0, 0, 'p'}, {"serial", 0, 0, 'l'},
        {"devices", 1, 0, 'w'}, {0, 0, 0, 0}};
    TRY(hd_machine_load(ctx, "base", &o->dev.machine));
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 's')
            o->seed = strtoull(optarg, NULL, 0);
        else if (c == 'n')
            o->count = atoi(optarg);
        else if (c == 'd')
            o->device = optarg;
        else if (c == 'w') {
            o->device = optarg;
            TRY(hd_list_devices(ctx, o->arena, optarg, &o->devices));
        } else if (c == 'm')
            TRY(hd_machine_load(ctx, optarg, &o->dev.machine));
        else if (c == 'e')
            TRY(hd_machine_set(ctx, &o->dev.machine, optarg));
        else if (c == 'j')
            o->dev.mem.jitter = true;
        else if (c == 'k')
            o->small = true;
        else if (c == 'p')
            o->print = true;
        else if (c == 'l')
            o->latency_hiding = false;
        else
            return hd_fail(ctx, HD_INVALID, "unknown option");
    }
    return hd_machine_check(ctx, &o->dev.machine);
}

int random_main(int argc, char **argv, const struct random_kind *kind) {
    struct options o = {.seed = 1, .count = 1, .device = "iss", .latency_hiding = true};
    hd_ctx *ctx = hd_ctx_create();
    o.arena = hd_arena_create();
    if (read_options(ctx, argc, argv, &o) != HD_OK) return usage(kind, hd_message(ctx));
    int bad = 0, on_machine = 0;
    for (uint64_t seed = o.seed; seed < o.seed + (uint64_t)o.count; seed++) {
        struct rng r = {seed};
        int layers = (int)rng_range(&r, 1, kind->most_layers), least = 1, unused = 0;
        o.dev.mem.jitter_seed = seed;
        if (passes(ctx, kind, &o, seed, layers, &on_machine)) continue;
        bad++;
        while (least < layers && passes(ctx, kind, &o, seed, least, &unused)) least++;
        printf("FAIL seed %llu: %d layers, fails with %d\n", (unsigned long long)seed, layers,
               least);
    }
    printf("%s %s %s: %d passed, %d failed, %d layers on the machine\n", kind->name, o.device,
           o.dev.machine.name, o.count - bad, bad, on_machine);
    bool machine = !o.devices.n || o.devices.machine >= 0;
    hd_arena_destroy(o.arena);
    hd_ctx_destroy(ctx);
    /* Fewer layers than networks: nearly all of them stayed on the host, which tests nothing. */
    return bad != 0 || (machine && o.count > 20 && on_machine < o.count);
}
