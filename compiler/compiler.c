/* The pipeline, on one screen.
 *
 *   import      compiler/import   network file -> graph as written
 *   legalize    compiler/pass     constants folded, QDQ and QLinear forms -> q* operations
 *   prepare     compiler/pass     what the machine takes better: shrink, shuffle, ..
 *   partition   compiler/partition    nodes -> layers of the machine and host nodes, in steps
 *   search      compiler/search       layers -> the plan of least cost: what stays on chip, tiles
 *   lower       compiler/machine_ops  layers and plan -> machine operations and what they wait for
 *   emit        compiler/emit     tables of the model
 *
 * --dump STAGE prints the graph after import, legalize or prepare, the layers, the plan, the
 * machine operations (`ops`), the program after emit. All are read back.
 */
#include "compiler/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "compiler/emit/emit.h"
#include "compiler/import/network.h"
#include "compiler/ir/memory.h"
#include "compiler/layer/kind.h"
#include "compiler/partition/layers_text.h"
#include "compiler/partition/partition.h"
#include "compiler/pass/pass.h"
#include "compiler/plan/plan_text.h"
#include "compiler/roofline/roofline.h"
#include "compiler/search/search.h"
#include "isa/isa.h"
#include "runtime/base/memory.h"

/* --dump shows this node. */
static bool shows(const struct hd_compile_options *opt, const char *name) {
    return !opt->dump_only.n || hd_name_listed(&opt->dump_only, name);
}

/* Only the operations of the layers that are meant; those of a bundle stand on lines of their own,
 * and each names its layer where that changes. */
static void put_program(const struct hd_lowering *lo, char *text) {
    size_t layer[HD_UNITS] = {0};
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n'), *op = line + strspn(line, "{ "), *tag = strstr(op, "tag=");
        next = end ? end + 1 : line + strlen(line);
        int unit = hd_unit_by_name(op, strcspn(op, "."));
        if (unit >= 0 && tag && tag < next) layer[unit] = strtoul(tag + strlen("tag="), NULL, 10);
        if (unit < 0 || (layer[unit] < lo->n_layers &&
                         shows(lo->opt, lo->g->nodes[lo->layers[layer[unit]].node].name)))
            fwrite(line, 1, (size_t)(next - line), lo->opt->dump_to);
    }
}

static hd_status dump_program(struct hd_lowering *lo) {
    for (int i = 0; i < lo->model->n_steps; i++) {
        const struct hd_step *s = &lo->model->steps[i];
        char *text = NULL;
        if (s->kind != HD_STEP_PROG) continue;
        const void *code = lo->image + s->code_offset; /* HD_CODE_ALIGN keeps words aligned */
        TRY(hd_disasm(lo->ctx, code, s->code_bytes / 4, &text));
        put_program(lo, text);
        free(text);
    }
    return HD_OK;
}

/* Prices of other machines hold where the layers are the same. */
static void say_layers(struct hd_lowering *lo) {
    char *text = NULL;
    size_t bytes = 0;
    if (!lo->opt->prices) return;
    FILE *f = open_memstream(&text, &bytes);
    HD_MEMORY(f);
    hd_layers_print(lo, f);
    fclose(f);
    lo->layers_text = hd_strdup(lo->arena, text);
    free(text);
}

static hd_status run_stages(struct hd_lowering *lo) {
    const struct hd_stage_text *plan = &lo->opt->plan;
    if (plan->text) TRY(hd_plan_parse_host(lo, plan->text, plan->file));
    TRY(hd_partition(lo)); /* tensorizes each layer it finds */
    lo->plan = hd_new(lo->arena, struct hd_plan);
    *lo->plan = hd_plan_create(lo, lo->arena);
    say_layers(lo);
    if (plan->text)
        TRY(hd_plan_parse(lo, plan->text, plan->file));
    else if (lo->n_layers)
        TRY(hd_plan_memory(lo));
    if (lo->n_layers) hd_plan_report(lo);
    lo->layer_cycles = hd_new_array(lo->arena, int64_t, lo->n_layers + 1);
    for (int i = 0; i < lo->model->n_steps; i++)
        if (lo->model->steps[i].kind == HD_STEP_PROG) TRY(hd_schedule_step(lo, i));
    hd_emit_model(lo);
    if (hd_dumps(lo->opt, "layers")) hd_layers_print(lo, lo->opt->dump_to);
    if (hd_dumps(lo->opt, "plan")) hd_plan_print(lo, lo->opt->dump_to);
    if (hd_dumps(lo->opt, "program")) TRY(dump_program(lo));
    return HD_OK;
}

static size_t constant_bytes(const hd_graph *g) {
    size_t bytes = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].data) bytes += hd_tensor_bytes(&g->tensors[i]);
    return bytes;
}

/* One attempt; nodes that turn out too big for the machine are noted in lo->too_big. */
static hd_status attempt(struct hd_lowering *lo) {
    const struct hd_compile_options *opt = lo->opt;
    lo->arena = hd_arena_create();
    lo->image = hd_grow(lo->arena, NULL, &lo->cap_image, 2 * constant_bytes(lo->g), 1);
    hd_model *m = lo->model = hd_model_create();
    m->machine = opt->machine;
    m->isa_hash = hd_isa_hash();
    m->machine_hash = hd_machine_hash(&opt->machine);
    m->name = hd_strdup(m->arena, lo->g->name ? lo->g->name : "graph");
    hd_status s = run_stages(lo);
    hd_arena_destroy(lo->arena);
    if (s != HD_OK) hd_model_destroy(m);
    return s;
}

/* Devices plan for shapes, so every tensor has one; and a model keeps nothing between runs. */
static hd_status check_known(hd_ctx *ctx, const hd_graph *g) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].initial && !hd_graph_is_input(g, (int)i))
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "variable '%s': models have none; make it an input and an output",
                           g->tensors[i].name);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        for (int k = 0; !n->dead && k < n->n_out; k++)
            if (n->out[k] >= 0 && !g->tensors[n->out[k]].known)
                return hd_fail(
                    ctx, HD_UNSUPPORTED,
                    "node '%s' (%s): the shape of '%s' depends on the values of the run; "
                    "give some with --inputs (quantize: --calibrate)",
                    n->name, hd_ir_ops[n->op].name, g->tensors[n->out[k]].name);
    }
    return HD_OK;
}

/* The graph, or only the lines of the nodes that are meant. */
static hd_status dump_graph(hd_ctx *ctx, const hd_graph *g, const struct hd_compile_options *opt) {
    if (!opt->dump_only.n) return hd_graph_print(ctx, g, false, opt->dump_to);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && shows(opt, g->nodes[i].name))
            hd_node_print(g, (int)i, opt->dump_to);
    return HD_OK;
}

/* Temporaries of a graph, each with memory of its own. */
static int64_t naive_bytes(const hd_graph *g) {
    hd_arena *a = hd_arena_create();
    struct hd_mem_plan p;
    hd_mem_plan_graph(g, a, &p);
    hd_arena_destroy(a);
    return (int64_t)p.naive_bytes;
}

/* Of a graph that no program runs any of. (hd_plan_memory reports the others.) */
static void report_memory(const hd_graph *g, hd_model *m) {
    hd_arena *a = hd_arena_create();
    struct hd_mem_plan p;
    hd_mem_plan_graph(g, a, &p);
    m->naive_bytes = (int64_t)p.naive_bytes;
    m->planned_bytes = (int64_t)p.planned_bytes;
    m->lower_bound_bytes = (int64_t)p.bound_bytes;
    hd_arena_destroy(a);
}

/* ---- bounds of layers ----------------------------------------------------------------------- */

/* Bounds of the nodes of a legal graph by name: what is made of it later has the names, and work of
 * its own that is none of the network's. */
struct named_bounds {
    const char *name;
    struct hd_bounds bounds;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct named_bounds *)a)->name, ((const struct named_bounds *)b)->name);
}

static struct named_bounds *take_bounds(hd_arena *a, const hd_graph *g,
                                        const struct hd_machine *m) {
    struct named_bounds *list = hd_new_array(a, struct named_bounds, g->n_nodes + 1);
    const struct hd_bounds *b = hd_roofline(a, g, m);
    for (size_t i = 0; i < g->n_nodes; i++)
        list[i] = (struct named_bounds){hd_strdup(a, g->nodes[i].name), b[i]};
    qsort(list, g->n_nodes, sizeof *list, by_name);
    return list;
}

static void give_bounds(hd_model *m, struct named_bounds *list, size_t n) {
    for (int i = 0; i < m->n_layers; i++) {
        struct named_bounds key = {.name = m->layers[i].name};
        struct named_bounds *found = bsearch(&key, list, n, sizeof *list, by_name);
        if (!found) continue;
        m->layers[i].bounds = found->bounds;
        found->bounds = (struct hd_bounds){0};
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The text of a stage has a node on the machine that does not fit. */
static hd_status does_not_fit(hd_ctx *ctx, const hd_graph *g, const struct hd_refusal *too_big,
                              const char *machine, hd_arena *a) {
    size_t i = 0;
    while (i < g->n_nodes && (!too_big[i].why || too_big[i].said)) i++; /* not by the text */
    HD_ASSERT(i < g->n_nodes);
    return hd_fail(ctx, HD_UNSUPPORTED, "node '%s' does not fit machine %s: %s; put it on the host",
                   g->nodes[i].name, machine, hd_refusal_text(&too_big[i], a));
}

static hd_status lower(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                       hd_model **out) {
    const struct hd_lowering fresh = {.ctx = ctx, .g = g, .opt = opt, .m = &opt->machine};
    struct hd_lowering lo;
    hd_arena *notes = hd_arena_create();
    hd_status s = check_known(ctx, g);
    if (s == HD_OK && hd_dumps(opt, "prepare")) s = dump_graph(ctx, g, opt);
    struct hd_refusal *too_big = hd_new_array(notes, struct hd_refusal, g->n_nodes + 1);
    if (s != HD_OK) {
        hd_arena_destroy(notes);
        return s;
    }
    do { /* each round either ends or leaves one node more to the host */
        lo = fresh;
        lo.too_big = too_big;
        s = attempt(&lo);
    } while (s == HD_UNSUPPORTED && !opt->plan.text && !opt->layers.text);
    if (s == HD_UNSUPPORTED) s = does_not_fit(ctx, g, too_big, opt->machine.name, notes);
    void *bytes = NULL;
    if (s == HD_OK) s = hd_graph_save(ctx, g, &bytes, &lo.model->graph_bytes);
    if (s == HD_OK && opt->host_only) report_memory(g, lo.model);
    if (s == HD_OK) {
        lo.model->graph = bytes;
        hd_arena_own(lo.model->arena, bytes);
        *out = lo.model;
    }
    hd_arena_destroy(notes);
    return s;
}

/* A state that was saved finds the network that it is of, whatever machine that was compiled for.
 */
static hd_status network_hash(hd_ctx *ctx, const hd_graph *g, uint32_t *out) {
    void *bytes = NULL;
    size_t n = 0;
    *out = 0;
    if (!hd_graph_n_states(g)) return HD_OK;
    TRY(hd_graph_save(ctx, g, &bytes, &n));
    *out = (uint32_t)crc32_z(0, bytes, n);
    free(bytes);
    return HD_OK;
}

hd_status hd_lower(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt, hd_model **out) {
    hd_arena *a = hd_arena_create();
    size_t n = g->n_nodes;
    struct named_bounds *bounds = take_bounds(a, g, &opt->machine);
    uint32_t hash = 0;
    hd_status s = network_hash(ctx, g, &hash);
    if (s == HD_OK) s = lower(ctx, g, opt, out);
    if (s == HD_OK) (*out)->network_hash = hash;
    if (s == HD_OK) give_bounds(*out, bounds, n);
    hd_arena_destroy(a);
    return s;
}

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

hd_status hd_compile_graph(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                           hd_model **out) {
    double start = now_seconds();
    hd_status s = hd_legalize(ctx, g);
    if (s == HD_OK && hd_dumps(opt, "legalize")) s = dump_graph(ctx, g, opt);
    uint32_t hash = 0;
    if (s == HD_OK) s = network_hash(ctx, g, &hash);
    bool host = s == HD_OK && opt->host_only;
    int scales_found = g->scales_found;
    int64_t naive = host ? naive_bytes(g) : 0; /* of the graph before it is split */
    if (host) s = hd_pass_run(ctx, g, "split");
    hd_arena *a = hd_arena_create();
    size_t n = g->n_nodes;
    struct named_bounds *bounds = s == HD_OK ? take_bounds(a, g, &opt->machine) : NULL;
    if (s == HD_OK && !host) s = hd_prepare(ctx, g);
    if (s == HD_OK && !host) hd_import_rest(g);
    if (s == HD_OK) s = lower(ctx, g, opt, out);
    if (s == HD_OK) give_bounds(*out, bounds, n);
    hd_arena_destroy(a);
    if (s != HD_OK) return s;
    if (opt->host_only) (*out)->naive_bytes = naive;
    (*out)->scales_found = scales_found;
    (*out)->network_hash = hash;
    (*out)->compile_seconds = now_seconds() - start;
    return HD_OK;
}

hd_status hd_compile(hd_ctx *ctx, const char *path, const struct hd_compile_options *opt,
                     hd_model **out) {
    return hd_compile_kept(ctx, path, opt, 0, out);
}

hd_status hd_compile_kept(hd_ctx *ctx, const char *path, const struct hd_compile_options *opt,
                          int mib, hd_model **out) {
    double start = now_seconds();
    hd_graph *g;
    TRY(hd_import(ctx, path, &opt->bind, &g));
    hd_status s = HD_OK;
    if (hd_dumps(opt, "import")) s = dump_graph(ctx, g, opt);
    if (s == HD_OK) s = hd_compile_graph_kept(ctx, g, opt, mib, out);
    hd_graph_destroy(g);
    if (s != HD_OK) return hd_note(ctx, s, "while compiling %s", path);
    if ((*out)->compile_seconds > 0) (*out)->compile_seconds = now_seconds() - start;
    return HD_OK;
}
