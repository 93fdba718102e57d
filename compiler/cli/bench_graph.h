/* Graphs that `heddle bench` builds. Private to compiler/cli. */
#ifndef HD_CLI_BENCH_GRAPH_H
#define HD_CLI_BENCH_GRAPH_H

#include "compiler/cli/cli.h"

uint32_t bench_random(uint64_t *state); /* splitmix64 */
int8_t *bench_bytes(hd_arena *a, int64_t n, uint64_t *state);

/* A transformer encoder layer over x [seq, dim], its feed-forward part `hidden` wide. */
hd_graph *bench_encoder(hd_arena *a, int64_t seq, int64_t dim, int64_t n_heads, int64_t hidden,
                        uint64_t seed);

#endif
