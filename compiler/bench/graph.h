/* Graphs that `heddle bench` builds. Private to compiler/cli. */
#ifndef HD_BENCH_GRAPH_H
#define HD_BENCH_GRAPH_H

#include "compiler/ir/ir.h"

/* A layer of layers.def by name. */
hd_graph *hd_bench_layer(hd_arena *a, const char *name, uint64_t seed);

uint32_t hd_bench_random(uint64_t *state); /* splitmix64 */
int8_t *hd_bench_bytes(hd_arena *a, int64_t n, uint64_t *state);

/* A transformer encoder layer over x [seq, dim], its feed-forward part `hidden` wide. */
hd_graph *hd_bench_encoder(hd_arena *a, int64_t seq, int64_t dim, int64_t n_heads, int64_t hidden,
                           uint64_t seed);

#endif
