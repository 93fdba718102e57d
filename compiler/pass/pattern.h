/* Patterns of nodes as text, matched on a graph; patterns.def is the table of them.
 *
 *   pattern = [ name "=" ] ( node | name | "$" name | [ "~" ] number | ".." )
 *   node    = op { "|" op } [ "?" ] "(" pattern { "," pattern } ")"
 *
 *   x           any tensor; the same name again must be the same tensor
 *   $w          a constant
 *   2           a constant, all of whose elements have this value; ~0.7978846: nearly
 *   add(a, b)   what such a node makes; operands of add, mul, .. (commutative) in either order
 *   relu|clip() one of several operations
 *   cast?(x)    the node, or x as it is
 *   m=add(x, ..)   the tensor has a name; ".." stands for any further operands
 *
 * Nodes inside a match may be read several times, as long as it is by nodes of the match. */
#ifndef HD_PASS_PATTERN_H
#define HD_PASS_PATTERN_H

#include "compiler/ir/ir.h"

enum { HD_MATCH_NAMES = 16, HD_MATCH_NODES = 24 };

struct hd_match {
    hd_graph *g;
    int made; /* node that hd_match_emit made last */
    int root; /* the node whose result the pattern describes */
    int n_names, n_nodes;
    char name[HD_MATCH_NAMES][8];
    int tensor[HD_MATCH_NAMES];
    int node[HD_MATCH_NODES]; /* all of it, root included */
};

/* What makes the new result from a match; the tensor to be read instead of the root's, -1 = this is
 * no case for it, and nothing has changed. */
typedef int hd_rewrite(hd_ctx *ctx, struct hd_match *m);

struct hd_pattern {
    const char *pass, *name, *text;
    bool shared; /* others may read the nodes inside the match, too */
    hd_rewrite *rewrite;
};

/* The tensor of that name; -1 when an optional node with it is not there. */
int hd_match_get(const struct hd_match *m, const char *name);
/* *out is the match with `node` as its root. False when there is none, or when a node of it must
 * stay where it is (control dependencies). The text is well formed. */
bool hd_pattern_match(hd_graph *g, const struct hd_pattern *p, int node, struct hd_match *out);
/* All elements of constant t are v; near: up to 1e-6 of it. */
bool hd_const_is(const hd_graph *g, int t, double v, bool near);
/* A new node with an attribute `ints` (NULL: none, or the root's when it is the same operation);
 * its result, with shape. -1 and no node when its shape cannot be inferred. */
int hd_match_emit(hd_ctx *ctx, struct hd_match *m, enum hd_ir_op op, int n_in, const int *in,
                  const char *ints, int n, const int64_t *v);

/* Rewrites with the patterns of one pass until none matches. */
bool hd_pass_has_patterns(const char *pass);
hd_status hd_pass_patterns(hd_ctx *ctx, hd_graph *g, const char *pass);

#endif
