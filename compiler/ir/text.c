#include "compiler/ir/ir.h"
hd_status hd_graph_print(hd_ctx *ctx, const hd_graph *g, bool full, FILE *out) { (void)ctx; (void)g; (void)full; (void)out; return HD_OK; }
