/* heddle compile: ONNX in, .hdl out, and the plan for people. */
#include <ctype.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/cli/cli.h"
#include "compiler/command/table.h"
#include "compiler/emit/bundle.h"
#include "compiler/report/report.h"
#include "compiler/roofline/roofline.h"
#include "compiler/session/session.h"
#include "runtime/base/io.h"

static int64_t code_bytes(const hd_model *m) {
    int64_t n = 0;
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG) n += m->steps[i].code_bytes;
    return n;
}

static int64_t roofline_of(const hd_model *m, const struct hd_layer_info *l, const char **out) {
    return hd_bound_cycles(&l->bounds, hd_axi_bytes(&m->machine), out);
}

static void print_plan(const hd_model *m, FILE *out) {
    struct hd_table t;
    hd_table_init(&t, "llrrl");
    hd_table_cells(&t, (const char *[]){"layer", "op", "MACs", "roofline", "plan"}, 5);
    for (int i = 0; i < m->n_layers; i++) {
        const struct hd_layer_info *l = &m->layers[i];
        hd_table_cell(&t, "%s", l->name);
        hd_table_cell(&t, "%s", l->op);
        hd_table_cell(&t, "%lld", (long long)l->macs);
        hd_table_cell(&t, "%lld", (long long)roofline_of(m, l, NULL));
        hd_table_cell(&t, "%s", l->plan);
    }
    hd_table_print(&t, out);
    if (m->n_host_ops) fputs("\n", out);
    hd_print_host_ops(m, out);
    fprintf(out,
            "\nmachine %s (fingerprint 0x%08x): %lld operations in %lld bundles, image %zu bytes, "
            "arena %llu bytes\n",
            m->machine.name, m->machine_hash, (long long)m->n_ops, (long long)m->n_bundles,
            m->image_bytes, (unsigned long long)m->arena_bytes);
    fprintf(out, "program: %lld bytes\n", (long long)code_bytes(m));
    fprintf(out, "activation memory: %lld bytes planned, %lld without reuse, %lld at least\n",
            (long long)m->planned_bytes, (long long)m->naive_bytes,
            (long long)m->lower_bound_bytes);
    if (m->scales_found)
        fprintf(out,
                "%d tensors between integers have no scale in the file: they got ranges without "
                "data; heddle quantize gives them some by data (docs/compiler.md)\n",
                m->scales_found);
}

static json_object *plan_json(const hd_model *m, const char *path, const char *out) {
    json_object *o = json_object_new_object(), *layers = json_object_new_array(),
                *host = json_object_new_array();
    hd_json_str(o, "schema", "heddle.compile/1");
    hd_json_str(o, "model", path);
    hd_json_str(o, "out", out);
    hd_json_str(o, "machine", m->machine.name);
    hd_json_num(o, "compile_seconds", m->compile_seconds);
    hd_json_int(o, "scales_found", m->scales_found);
    hd_json_int(o, "operations", m->n_ops);
    hd_json_int(o, "bundles", m->n_bundles);
    hd_json_int(o, "code_bytes", code_bytes(m));
    hd_json_int(o, "image_bytes", (int64_t)m->image_bytes);
    hd_json_int(o, "arena_bytes", (int64_t)m->arena_bytes);
    for (int i = 0; i < m->n_layers; i++) {
        const struct hd_layer_info *l = &m->layers[i];
        json_object *x = json_object_new_object();
        hd_json_str(x, "name", l->name);
        hd_json_str(x, "op", l->op);
        hd_json_int(x, "macs", l->macs);
        const char *bound;
        hd_json_int(x, "roofline_cycles", roofline_of(m, l, &bound));
        hd_json_str(x, "bound", bound);
        hd_json_str(x, "plan", l->plan);
        json_object_array_add(layers, x);
    }
    for (int i = 0; i < m->n_host_ops; i++) {
        json_object *x = json_object_new_object();
        hd_json_str(x, "node", m->host_ops[i].node);
        hd_json_str(x, "op", m->host_ops[i].op);
        hd_json_str(x, "reason", m->host_ops[i].reason);
        hd_json_str(x, "hint", m->host_ops[i].hint);
        hd_json_num(x, "host_us", (double)m->host_ops[i].ns / 1000);
        json_object_array_add(host, x);
    }
    json_object_object_add(o, "layers", layers);
    json_object_object_add(o, "host_ops", host);
    return o;
}

hd_status cli_check_programs(struct hd_cmd *c, const hd_model *m) {
    struct hd_check k;
    struct hd_check_windows w = {{m->image_bytes, m->arena_bytes}};
    hd_check_init(&k);
    for (int i = 0; i < m->n_steps && !k.n_errors; i++)
        if (m->steps[i].kind == HD_STEP_PROG)
            hd_check_program(&k, (const void *)((const char *)m->image + m->steps[i].code_offset),
                             m->steps[i].code_bytes / 4, &m->machine, &w);
    hd_status s = HD_OK;
    for (int i = 0; i < k.n_findings && s == HD_OK; i++)
        if (k.findings[i].error)
            s = hd_fail(c->ctx, HD_INVALID,
                        "the compiler made a program that fails its check, please report it: "
                        "bundle %d: %s: %s",
                        k.findings[i].bundle, k.findings[i].text, k.findings[i].op);
    hd_check_deinit(&k);
    return s;
}

/* Name of what a bundle defines: the file's, as an identifier of C; NULL = it is none. */
static const char *bundle_name(hd_arena *a, const char *path) {
    static const char *const taken[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while",    "heddle_board"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (n < 3 || n > 60 || strcmp(base + n - 2, ".c")) return NULL;
    const char *name = hd_strndup(a, base, n - 2);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name, taken[i])) return NULL;
    bool ok = !isdigit((unsigned char)name[0]);
    for (const char *p = name; *p; p++) ok = ok && (isalnum((unsigned char)*p) || *p == '_');
    return ok ? name : NULL;
}

static hd_status write_bundle(struct hd_cmd *c, hd_arena *a, const hd_model *m) {
    struct hd_buf source = {0}, header = {0};
    const char *out = c->opt.out;
    const char *h = hd_sprintf(a, "%.*sh", (int)strlen(out) - 1, out);
    hd_status s = hd_emit_bundle(c->ctx, m, bundle_name(a, out), &source, &header);
    if (s == HD_OK) s = hd_file_write(c->ctx, h, header.data, header.n);
    if (s == HD_OK) s = hd_file_write(c->ctx, out, source.data, source.n);
    hd_buf_free(&source);
    hd_buf_free(&header);
    return s;
}

int cmd_compile(struct hd_cmd *c) {
    if (!c->opt.out && !c->opt.dump)
        return hd_cmd_usage(c, "-o OUT.hdl is missing: where should the model go?");
    bool bundle = c->opt.emit && !strcmp(c->opt.emit, "c");
    if (bundle && !c->opt.out) return hd_cmd_usage(c, "--emit c needs -o OUT.c");
    hd_arena *a = hd_arena_create();
    hd_model *m = NULL;
    const char *path;
    if (bundle && !bundle_name(a, c->opt.out)) {
        hd_arena_destroy(a);
        return hd_cmd_usage(
            c,
            "--emit c: got '%s', want -o NAME.c where NAME can be a name in C; NAME.h "
            "is written beside it",
            c->opt.out);
    }
    hd_status s = hd_model_path(c, a, c->args[0], &path);
    if (s == HD_OK) s = hd_open_model(c, path, false, &m);
    if (s == HD_OK) s = cli_check_programs(c, m);
    if (s == HD_OK && c->opt.out)
        s = bundle ? write_bundle(c, a, m) : hd_model_save(c->ctx, m, c->opt.out);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s == HD_OK && !hd_cmd_json_on_stdout(c) && !c->opt.dump) print_plan(m, stdout);
    if (s == HD_OK && c->opt.json) status = hd_cmd_write_json(c, plan_json(m, path, c->opt.out));
    hd_model_destroy(m);
    hd_arena_destroy(a);
    return status;
}
