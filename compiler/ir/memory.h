/* Where temporaries lie: blocks of bytes that live for a while, packed into one memory; and the
 * same for a graph, with an order of its nodes that keeps the peak low.
 *
 * Used by device cpu for the views of its steps, and by the compiler for what it reports. */
#ifndef HD_IR_MEMORY_H
#define HD_IR_MEMORY_H

#include "compiler/ir/ir.h"

struct hd_mem_block {
    size_t bytes;
    int first,
        last;      /* steps from the one that writes it to the last that reads it, both included */
    size_t offset; /* given by hd_mem_pack: a multiple of 64, or for less of a power of two */
};

/* Offsets for n blocks. Returns the bytes of memory that this takes. Several ways are tried until
 * one reaches the bound; same blocks, same offsets. */
size_t hd_mem_pack(struct hd_mem_block *b, size_t n);
/* The largest sum of blocks that live in one step: no packing takes less. */
size_t hd_mem_bound(const struct hd_mem_block *b, size_t n);

/* Temporaries of a graph: results of nodes. Inputs, outputs, constants and
 * what is computed from constants alone lie elsewhere, and so do
 * tensors of graphs in attributes, and those whose shape only a run knows. */
struct hd_mem_plan {
    int *order; /* live nodes as they are to run */
    size_t n_order;
    int *block_of; /* per tensor, -1 = it is no temporary */
    size_t *at;    /* per tensor: where in its block it begins */
    struct hd_mem_block *blocks;
    size_t n_blocks;
    /* naive: memory of its own for every temporary; bound: hd_mem_bound of the blocks */
    size_t naive_bytes, planned_bytes, bound_bytes;
};

/* Reshapes share the block of their operand, nodes that work element by element or vector by vector
 * write over an operand that dies, and what a concat along the outermost dimension joins is made in
 * the block of its result.
 * All of *out is the arena's. The graph has been verified. */
void hd_mem_plan_graph(const hd_graph *g, hd_arena *a, struct hd_mem_plan *out);
/* The same without offsets and planned_bytes, which take most of the time. */
void hd_mem_order_graph(const hd_graph *g, hd_arena *a, struct hd_mem_plan *out);

/* Element i of the result is a function of elements i of the operands, or of broadcast ones. */
bool hd_is_elementwise(enum hd_ir_op op);

#endif
