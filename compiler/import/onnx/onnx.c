/* ONNX ModelProto -> graph as written. The file stays mapped; constants point into it. */
#include "compiler/import/onnx/onnx.h"

#include <string.h>

#include "compiler/import/import.h"
#include "compiler/import/onnx/onnx_graph.h"

static void parse_opset(struct hd_importer *m, struct hd_onnx_model_info *info, size_t *cap,
                        const struct hd_pb_field *field) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    char *domain = "";
    int64_t version = 0;
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) domain = hd_onnx_text(m->arena, &f);
        if (f.number == 2 && f.wire == HD_PB_VARINT) version = (int64_t)f.value;
    }
    if (!strcmp(domain, "ai.onnx")) domain = "";
    if (!domain[0]) m->opset = version;
    *hd_push(m->arena, info->opsets, info->n_opsets, *cap) = (struct hd_opset){domain, version};
}

static hd_status import_model(struct hd_importer *m, struct hd_onnx_model_info *info,
                              const void *data, size_t bytes, const struct hd_bind *bind) {
    struct hd_pb r = hd_pb_open(data, bytes);
    struct hd_pb_field f;
    struct hd_slice graph = {0};
    struct hd_onnx_graph parts;
    int64_t ir_version = 0;
    size_t cap = 0, cap_functions = 0;
    while (hd_pb_next(&r, &f)) {
        if (f.number == 1 && f.wire == HD_PB_VARINT) ir_version = (int64_t)f.value;
        if (hd_onnx_is_message(&f, 7)) graph = (struct hd_slice){f.data, f.bytes};
        if (hd_onnx_is_message(&f, 8)) parse_opset(m, info, &cap, &f);
        if (hd_onnx_is_message(&f, 25))
            TRY(hd_onnx_parse_function(
                m, (struct hd_slice){f.data, f.bytes},
                hd_push(m->arena, info->functions, info->n_functions, cap_functions)));
    }
    if (r.bad && !graph.data)
        return hd_fail(m->ctx, HD_INVALID, "not an ONNX model, or cut short: %s", r.bad);
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "damaged after the graph: %s", r.bad);
    if (!graph.data || ir_version < 1)
        return hd_fail(m->ctx, HD_INVALID, "not an ONNX model: it holds no %s",
                       graph.data ? "IR version" : "graph");
    for (size_t i = 0; i < info->n_opsets && m->opset < 1;
         i++) /* no operation asks for the other */
        if (!strcmp(info->opsets[i].domain, "ai.onnx.preview.training"))
            m->opset = HD_ONNX_OPSET_MAX;
    if (m->opset < 1)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "no opset of domain ai.onnx, want 1 or more: it has operations of other "
                       "domains alone");
    if (m->opset > HD_ONNX_OPSET_MAX)
        hd_warn(m->ctx,
                "warning: opset %lld is newer than %d: its operations are read as opset %d has "
                "them",
                (long long)m->opset, HD_ONNX_OPSET_MAX, HD_ONNX_OPSET_MAX);
    TRY(hd_onnx_parse_graph(m, graph, &parts));
    TRY(hd_onnx_import_network(m, &parts, bind));
    return hd_graph_verify(m->ctx, m->g);
}

hd_status hd_read_onnx(hd_ctx *ctx, hd_graph *g, const struct hd_source *from) {
    hd_arena *a = hd_arena_create();
    const char *slash = from->path ? strrchr(from->path, '/') : NULL;
    size_t inlined = 0;
    struct hd_onnx_model_info info = {.files = from->files, .inlined = &inlined};
    if (from->path)
        info.folder = slash ? hd_strndup(a, from->path, (size_t)(slash - from->path) + 1) : ".";
    struct hd_importer m = {.ctx = ctx,
                            .g = g,
                            .arena = a,
                            .borrow = from->path != NULL,
                            .model = &info,
                            .prefix = "",
                            .scope = hd_scope_create(a, NULL)};
    hd_status s = import_model(&m, &info, from->data, from->bytes, from->bind);
    hd_arena_destroy(a);
    return s;
}
