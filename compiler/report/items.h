/* The operations of a network as selectors see them (compiler/query), with what graph, plan and
 * profile say of each. */
#ifndef HD_REPORT_ITEMS_H
#define HD_REPORT_ITEMS_H

#include "compiler/ir/ir.h"
#include "compiler/query/query.h"
#include "compiler/report/profile.h"
#include "compiler/report/report.h"

enum hd_op_attr {
#define ATTR(name, ...) HD_OP_ATTR_##name,
#include "compiler/report/query_attrs.def"
    HD_OP_ATTRS
};
enum hd_attr_level { HD_LEVEL_GRAPH, HD_LEVEL_PLAN, HD_LEVEL_PROFILE };
struct hd_op_attr_info {
    const char *name, *doc;
    enum hd_attr_level level;
};
extern const struct hd_op_attr_info hd_op_attrs[HD_OP_ATTRS];

/* The highest level that the query needs. */
enum hd_attr_level hd_query_level(hd_arena *a, const struct hd_query *q);

struct hd_op_items {
    struct hd_items items;
    int *node;        /* per item: in the graph, -1 for scopes */
    const int *layer; /* per node of the graph: layer of the model that it is part of, -1 = none */
};

struct hd_op_source {
    const hd_graph *graph;            /* whose operations are meant */
    const hd_graph *legal;            /* NULL = graph is the legalised one */
    const hd_model *model;            /* NULL = no plan */
    const struct hd_run_facts *run;   /* NULL = no run; its model is `model` */
    const struct hd_profile *profile; /* NULL = no run */
};
void hd_op_items_build(const struct hd_cmd *c, hd_arena *a, const struct hd_op_source *s,
                       struct hd_op_items *out);

/* Parses text and marks the nodes of s->graph that it means. */
hd_status hd_select_nodes(struct hd_cmd *c, hd_arena *a, const char *text,
                          const struct hd_op_source *s, bool *out_nodes);
/* The layers of m that a selector means: over the legalised graph and its plan. text NULL: all.
 * Errors: HD_INVALID, also when it means none. */
hd_status hd_select_layers(struct hd_cmd *c, hd_arena *a, const char *text, const hd_model *m,
                           bool **out_layers);

#endif
