/* Networks of explore: read, quantised and legalised once; the price of one on a machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "compiler/cost/memo.h"
#include "compiler/explore/explore.h"
#include "compiler/report/items.h"
#include "compiler/report/report.h"
#include "compiler/roofline/roofline.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

enum { SEEN = 64 };
struct hd_least_seen {
    int n;
    struct {
        uint32_t k, n;
        struct hd_least least;
    } of[SEEN];
};

static hd_status read_legal(struct hd_cmd *c, const char *path, hd_graph **out) {
    TRY(hd_cmd_import(c, path, out));
    hd_status s = hd_legalize(c->ctx, *out);
    if (s != HD_OK) hd_graph_destroy(*out);
    return hd_note(c->ctx, s, "while compiling %s", path);
}

static hd_status open_net(struct hd_cmd *c, hd_arena *a, const char *folder, struct hd_net *net) {
    hd_graph *copy;
    TRY(read_legal(c, net->path, &net->legal));
    net->macs = hd_integer_macs(net->legal);
    if (net->macs <= 0) {
        const char *out = hd_sprintf(a, "%s/%s.int8.onnx", folder, net->name);
        hd_graph_destroy(net->legal);
        net->legal = NULL;
        if (access(out, R_OK)) TRY(hd_quantise(c, net->path, out));
        net->path = out;
        TRY(read_legal(c, out, &net->legal));
        net->macs = hd_integer_macs(net->legal);
    }
    TRY(hd_graph_copy(c->ctx, net->legal, &copy));
    hd_status s = hd_prepare(c->ctx, copy);
    if (s == HD_OK) s = hd_graph_save(c->ctx, copy, &net->prepared, &net->prepared_bytes);
    hd_graph_destroy(copy);
    return s;
}

hd_status hd_nets_open(struct hd_cmd *c, hd_arena *a, const char *folder, struct hd_nets *out) {
    *out = (struct hd_nets){.n = 0};
    for (int i = 0; i < c->n_args; i++) {
        struct hd_net *net = &out->of[i];
        char *end;
        double weight = strtod(c->args[i], &end);
        bool weighed = end != c->args[i] && *end == '*';
        if (weighed && !(isfinite(weight) && weight > 0))
            return hd_fail(c->ctx, HD_INVALID, "%s: the weight is '%.*s', want a number above 0",
                           c->args[i], (int)(end - c->args[i]), c->args[i]);
        net->weight = weighed ? weight : 1;
        net->seen = hd_new(a, struct hd_least_seen);
        TRY(hd_model_path(c, a, weighed ? end + 1 : c->args[i], &net->path));
        net->name = hd_short_name(a, net->path);
        if (hd_is_hdl(net->path))
            return hd_fail(c->ctx, HD_INVALID, "%s: is compiled for one machine; name the network",
                           net->path);
        net->prices = hd_prices_make(&net->prices_file);
        out->n = i + 1;
        TRY(open_net(c, a, folder, net));
    }
    return HD_OK;
}

void hd_nets_close(struct hd_nets *nets) {
    for (int i = 0; i < nets->n; i++) {
        if (nets->of[i].legal) hd_graph_destroy(nets->of[i].legal);
        free(nets->of[i].prepared);
        hd_price_memo_destroy(nets->of[i].prices);
        if (nets->of[i].prices_file.fd >= 0) close((int)nets->of[i].prices_file.fd);
    }
}

/* With memories as large as any, so that they are bounds for every machine of this array. */
struct hd_least hd_net_least(const struct hd_net *net, const struct hd_machine *m) {
    struct hd_least_seen *seen = net->seen;
    for (int i = 0; i < seen->n; i++)
        if (seen->of[i].k == m->k && seen->of[i].n == m->n) return seen->of[i].least;
    struct hd_machine large = *m;
    large.xm_bytes = 4u << 20, large.wm_bytes = 16u << 20;
    large.am_bytes = 2u << 20, large.pm_bytes = 1u << 20;
    hd_arena *a = hd_arena_create();
    const struct hd_bounds *b = hd_roofline(a, net->legal, &large);
    struct hd_least least = {0};
    double read = 0, write = 0;
    for (size_t i = 0; i < net->legal->n_nodes; i++) {
        least.mx += (double)b[i].mx_cycles;
        least.vx += (double)b[i].vx_cycles;
        least.chain = b[i].chain_cycles > least.chain ? (double)b[i].chain_cycles : least.chain;
        read += (double)b[i].read_bytes, write += (double)b[i].write_bytes;
    }
    least.bytes = read > write ? read : write;
    hd_arena_destroy(a);
    if (seen->n < SEEN) {
        seen->of[seen->n].k = m->k, seen->of[seen->n].n = m->n;
        seen->of[seen->n++].least = least;
    }
    return least;
}

static hd_status lower(hd_ctx *ctx, const struct hd_net *net, const struct hd_machine *m,
                       uint32_t latency, hd_model **out) {
    const struct hd_compile_options opt = {.machine = *m,
                                           .mem_latency = latency,
                                           .latency_hiding = true,
                                           .threads = 1,
                                           .prices = net->prices};
    hd_graph *g;
    TRY(hd_graph_load(ctx, net->prepared, net->prepared_bytes, &g));
    hd_status s = hd_lower(ctx, g, &opt, out);
    hd_graph_destroy(g);
    return s;
}

void hd_price(const struct hd_net *net, const struct hd_machine *m, uint32_t latency,
              struct hd_priced *out) {
    hd_ctx *ctx = hd_ctx_create();
    hd_model *model = NULL;
    clock_t start = clock();
    *out = (struct hd_priced){.cycles = 0};
    if (lower(ctx, net, m, latency, &model) == HD_OK) {
        for (int i = 0; i < model->n_steps; i++) out->cycles += model->steps[i].estimate;
        for (int i = 0; i < model->n_host_ops; i++) out->host_ns += model->host_ops[i].ns;
        out->work = hd_work_of(model);
        hd_model_destroy(model);
    } else {
        snprintf(out->why, sizeof out->why, "%.*s", (int)strcspn(hd_message(ctx), "\n"),
                 hd_message(ctx));
    }
    hd_ctx_destroy(ctx);
    out->price_us = (int64_t)((double)(clock() - start) * 1e6 / CLOCKS_PER_SEC);
}

static hd_status run(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *device,
                     struct hd_counters *out, hd_session **s) {
    struct hd_device_options o;
    const void **in;
    hd_cmd_device_options(c, &m->machine, &o);
    TRY(hd_random_inputs(c->ctx, a, m, 1, &in));
    TRY(hd_session_open(c->ctx, m, device, &o, s));
    TRY(hd_session_run(c->ctx, *s, in, hd_output_buffers(a, m)));
    return hd_session_counters(c->ctx, *s, out);
}

hd_status hd_confirm(struct hd_cmd *c, const struct hd_net *net, const struct hd_machine *m,
                     const char *device, const char *json) {
    struct hd_run_facts r = {
        .path = net->path, .device = device, .inputs = "random, seed 1", .has_cycles = true};
    hd_model *model = NULL;
    hd_session *s = NULL;
    TRY(lower(c->ctx, net, m, c->opt.mem.latency, &model));
    hd_arena *a = hd_arena_create();
    hd_status ok = run(c, a, model, device, &r.counters, &s);
    if (ok == HD_OK) {
        r.model = model;
        json_object *o = hd_run_json(c, &r);
        const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
        ok = hd_file_write(c->ctx, json, text, strlen(text));
        json_object_put(o);
    }
    hd_session_close(s);
    hd_model_destroy(model);
    hd_arena_destroy(a);
    return ok;
}
