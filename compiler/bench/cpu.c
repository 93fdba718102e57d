/* heddle bench cpu: networks on device cpu, and on ONNX Runtime beside it when HEDDLE_ORT names its
 * library (scripts/get_ort.sh).
 *
 * Samples are taken in turn, ours and the peer's, so that a machine whose speed drifts is fair to
 * both. With one thread the time that counts is the CPU time of the calling thread, which other
 * programs on the machine do not inflate; with more it is the wall clock. Medians.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/bench/bench.h"
#include "compiler/bench/ort.h"
#include "compiler/command/table.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

/* What runs without arguments, where it is there (hd_stored_model). */
static const char *const networks[] = {
    "squeezenet10_fp32",
    "resnet20_cifar10_bn",
    "ultraface_rfb320",
    "super_resolution",
    "light/resnet50",
    "kwt1_transformer_fp32",
    "dtln_1_lstm",
    "mobilenet_v2_qdq_int8",
    "resnet50_int8", /* heddle quantize ../shared/models/light/resnet50 -o build/models/.. */
    "mlperf_ad_autoencoder_int8_qdq",
    "mlperf_ic_resnet8_int8_qdq",
    "mlperf_kws_dscnn_int8_qdq",
};

enum { FLOAT, INT8, GROUPS };
static const char *const group_names[GROUPS] = {"float", "int8"};

enum { ROUNDS = 9, ROUND_NS = 60000000, SAMPLES_MAX = 4000 };

struct samples {
    double wall[SAMPLES_MAX], cpu[SAMPLES_MAX];
    int n;
};

static double clock_seconds(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n ? v[n / 2] : 0;
}

struct bench {
    struct hd_cmd *c;
    const char *library;
    struct hd_table table;
    json_object *rows;
    double log_sum[2][2]; /* [float, int8][threads - 1] of the speed ratio */
    int n_ratio[2][2];
    double worst[2][2];
};

struct contest {
    hd_session *s;
    hd_ort *ort;
    const void **in;
    void **out;
};

static hd_status once(struct bench *b, struct contest *k, bool peer) {
    return peer ? hd_ort_run(b->c->ctx, k->ort, k->in)
                : hd_session_run(b->c->ctx, k->s, k->in, k->out);
}

/* Runs one side for about ROUND_NS, at least once. */
static hd_status one_round(struct bench *b, struct contest *k, bool peer, struct samples *s) {
    double end = clock_seconds(CLOCK_MONOTONIC) + ROUND_NS * 1e-9;
    int most = s->n + SAMPLES_MAX / ROUNDS;
    TRY(once(b, k, peer)); /* caches are ours again */
    do {
        double wall = clock_seconds(CLOCK_MONOTONIC), cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        TRY(once(b, k, peer));
        s->cpu[s->n] = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        s->wall[s->n++] = clock_seconds(CLOCK_MONOTONIC) - wall;
    } while (s->n < most && s->n < SAMPLES_MAX && clock_seconds(CLOCK_MONOTONIC) < end);
    return HD_OK;
}

static hd_status contest(struct bench *b, struct contest *k, struct samples side[2]) {
    for (int r = 0; r < ROUNDS; r++)
        for (int peer = 0; peer < (k->ort ? 2 : 1); peer++) {
            nanosleep(&(struct timespec){0, 100000000}, NULL); /* the other's threads go to sleep */
            TRY(one_round(b, k, peer == 1, &side[peer]));
        }
    return HD_OK;
}

static void add_row(struct bench *b, const char *name, int group, int threads,
                    struct samples side[2], double load) {
    double wall[2], cpu[2], ratio = 0;
    for (int i = 0; i < 2; i++) {
        wall[i] = median(side[i].wall, side[i].n);
        cpu[i] = median(side[i].cpu, side[i].n);
    }
    const double *t = threads == 1 ? cpu : wall;
    if (side[1].n) ratio = t[1] / t[0];
    if (side[1].n && threads <= 2) {
        double *worst = &b->worst[group][threads - 1];
        b->log_sum[group][threads - 1] += log(ratio);
        if (!b->n_ratio[group][threads - 1]++ || ratio < *worst) *worst = ratio;
    }
    hd_table_cell(&b->table, "%s", name);
    hd_table_cell(&b->table, "%d", threads);
    hd_table_cell(&b->table, "%.3f", 1e3 * t[0]);
    hd_table_cell(&b->table, side[1].n ? "%.3f" : "-", 1e3 * t[1]);
    hd_table_cell(&b->table, side[1].n ? "%.2f" : "-", ratio);
    hd_table_cell(&b->table, "%.0f", 1e3 * load);
    hd_table_cell(&b->table, "%d", side[0].n);
    json_object *o = json_object_new_object();
    hd_json_str(o, "network", name);
    hd_json_str(o, "group", group_names[group]);
    hd_json_int(o, "threads", threads);
    hd_json_num(o, "wall_seconds", wall[0]);
    if (threads == 1) hd_json_num(o, "cpu_seconds", cpu[0]);
    hd_json_num(o, "load_seconds", load);
    if (side[1].n) {
        hd_json_num(o, "ort_wall_seconds", wall[1]);
        if (threads == 1) hd_json_num(o, "ort_cpu_seconds", cpu[1]);
        hd_json_num(o, "speed_over_ort", ratio);
    }
    json_object_array_add(b->rows, o);
}

/* INT8: it has products of integers. */
static hd_status group_of(hd_ctx *ctx, const hd_model *m, int *out) {
    hd_graph *g = NULL;
    *out = FLOAT;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    for (size_t i = 0; i < g->n_nodes; i++) {
        enum hd_ir_op op = g->nodes[i].op;
        bool product = op == HD_IR_qconv || op == HD_IR_qgemm || op == HD_IR_qmatmul ||
                       op == HD_IR_convinteger || op == HD_IR_matmulinteger;
        if (product && !g->nodes[i].dead) *out = INT8;
    }
    hd_graph_destroy(g);
    return HD_OK;
}

static hd_status bench_one(struct bench *b, hd_arena *a, const char *name, const char *arg,
                           int threads) {
    struct hd_cmd *c = b->c;
    const char *path = NULL, *what;
    hd_model *m = NULL;
    struct contest k = {0};
    struct samples *side = hd_new_array(a, struct samples, 2);
    c->opt.threads = threads;
    double start = clock_seconds(CLOCK_MONOTONIC);
    hd_status s = hd_model_path(c, a, arg, &path);
    if (s == HD_OK) s = hd_open_model(c, path, true, &m);
    if (s == HD_OK) s = hd_open_session(c, m, "cpu", &k.s);
    double load = clock_seconds(CLOCK_MONOTONIC) - start;
    int group = FLOAT;
    if (s == HD_OK) s = group_of(c->ctx, m, &group);
    if (s == HD_OK) s = hd_cmd_inputs(c, a, m, path, &k.in, &what);
    if (s == HD_OK && b->library) s = hd_ort_open(c->ctx, b->library, path, threads, m, &k.ort);
    if (s == HD_OK) {
        k.out = hd_output_buffers(a, m);
        s = contest(b, &k, side);
    }
    if (s == HD_OK) add_row(b, name, group, threads, side, load);
    hd_ort_close(k.ort);
    hd_session_close(k.s);
    hd_model_destroy(m);
    return hd_note(c->ctx, s, "in benchmark %s", name);
}

static json_object *summary(struct bench *b, FILE *text) {
    json_object *list = json_object_new_array();
    for (int g = 0; g < GROUPS; g++)
        for (int t = 0; t < 2; t++) {
            if (!b->n_ratio[g][t]) continue;
            double mean = exp(b->log_sum[g][t] / b->n_ratio[g][t]);
            fprintf(text, "%s, %d thread%s: speed over ONNX Runtime %.2f (geometric), worst %.2f\n",
                    group_names[g], t + 1, t ? "s" : "", mean, b->worst[g][t]);
            json_object *o = json_object_new_object();
            hd_json_str(o, "group", group_names[g]);
            hd_json_int(o, "threads", t + 1);
            hd_json_num(o, "speed_over_ort", mean);
            hd_json_num(o, "worst", b->worst[g][t]);
            json_object_array_add(list, o);
        }
    return list;
}

int hd_bench_cpu(struct hd_cmd *c, char **models, int n) {
    struct bench b = {.c = c, .library = getenv("HEDDLE_ORT"), .rows = json_object_new_array()};
    int n_own = (int)(sizeof networks / sizeof *networks), failed = 0;
    int first = c->opt.threads ? c->opt.threads : 1, last = c->opt.threads ? first : 2;
    hd_table_init(&b.table, "lrrrrrr");
    hd_table_cells(
        &b.table,
        (const char *[]){"network", "threads", "ms", "ORT ms", "speed/ORT", "load ms", "samples"},
        7);
    for (int threads = first; threads <= last; threads++)
        for (int i = 0; i < (n ? n : n_own); i++) {
            hd_arena *a = hd_arena_create();
            const char *name = n ? models[i] : networks[i];
            const char *path = n ? name : hd_stored_model(a, name);
            if (!n && access(path, R_OK)) {
                hd_cmd_progress_end(c);
                fprintf(stderr, "heddle bench cpu: no %s: left out\n", path);
                hd_arena_destroy(a);
                continue;
            }
            hd_cmd_progress(c, "%s, %d threads", name, threads);
            if (bench_one(&b, a, name, path, threads) != HD_OK) {
                hd_cmd_progress_end(c);
                hd_cmd_fail(c);
                hd_clear(c->ctx);
                failed++;
            }
            hd_arena_destroy(a);
        }
    hd_cmd_progress_end(c);
    FILE *text = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    hd_table_print(&b.table, text);
    json_object *means = summary(&b, text);
    if (!b.library)
        fprintf(text, "no peer: scripts/get_ort.sh fetches ONNX Runtime and says what to set\n");
    int status = HD_EXIT_DONE;
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.bench.cpu/1");
    json_object_object_add(o, "runs", b.rows);
    json_object_object_add(o, "summary", means);
    if (c->opt.json)
        status = hd_cmd_write_json(c, o);
    else
        json_object_put(o);
    return failed ? HD_EXIT_FAILED : status;
}
