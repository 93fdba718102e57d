/* A network as a picture, or as text for Graphviz. */
#ifndef HD_REPORT_PICTURE_H
#define HD_REPORT_PICTURE_H

#include "compiler/report/items.h"

/* Draws s->graph to --out as --color, --fold, --stage and --select say. path is the model's. */
hd_status hd_draw_graph(struct hd_cmd *c, hd_arena *a, const struct hd_op_source *s,
                        const char *path);

#endif
