/* The operations of a network as selectors see them (compiler/query), with what graph, plan and
 * profile say of each. */
#ifndef HD_CLI_ITEMS_H
#define HD_CLI_ITEMS_H

#include "compiler/cli/cli.h"
#include "compiler/cli/profile.h"
#include "compiler/query/query.h"

enum cli_attr {
#define ATTR(name, ...) CLI_ATTR_##name,
#include "compiler/cli/query_attrs.def"
    CLI_ATTRS
};
enum cli_attr_level { CLI_LEVEL_GRAPH, CLI_LEVEL_PLAN, CLI_LEVEL_PROFILE };
struct cli_attr_info {
    const char *name, *doc;
    enum cli_attr_level level;
};
extern const struct cli_attr_info cli_attr_table[CLI_ATTRS];

/* The highest level that the query needs. */
enum cli_attr_level cli_query_level(hd_arena *a, const struct hd_query *q);

struct cli_items {
    struct hd_items items;
    int *node;        /* per item: in the graph, -1 for scopes */
    const int *layer; /* per node of the graph: layer of the model that it is part of, -1 = none */
};

struct cli_item_source {
    const hd_graph *graph;             /* whose operations are meant */
    const hd_graph *legal;             /* NULL = graph is the legalised one */
    const hd_model *model;             /* NULL = no plan */
    const struct cli_run *run;         /* NULL = no run; its model is `model` */
    const struct cli_profile *profile; /* NULL = no run */
};
void cli_items_build(const struct cli *c, hd_arena *a, const struct cli_item_source *s,
                     struct cli_items *out);

/* Parses text and marks the nodes of s->graph that it means. */
hd_status cli_select_nodes(struct cli *c, hd_arena *a, const char *text,
                           const struct cli_item_source *s, bool *out_nodes);
/* The layers of m that a selector means: over the legalised graph and its plan. text NULL: all.
 * Errors: HD_INVALID, also when it means none. */
hd_status cli_select_layers(struct cli *c, hd_arena *a, const char *text, const hd_model *m,
                            bool **out_layers);

#endif
