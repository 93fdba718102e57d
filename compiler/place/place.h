/* Placing the nodes of a network on several devices, by cost of work and of moving data. */
#ifndef HD_COMPILER_PLACE_H
#define HD_COMPILER_PLACE_H

#include "compiler/ir/ir.h"
#include "compiler/options/options.h"

struct hd_placing {
    hd_arena *a;
    const hd_graph *g;
    const struct hd_device_list *list;
    const int *order; /* the nodes that run, in topological order */
    size_t n_order;
    const double *machine_ns; /* per node: its work on the machine, infinite = it cannot; NULL =
                                 there is no machine */
    double *ns;               /* [node][device], its work there; hd_place_prices makes it */
};

/* Elements that a node reads and writes. */
double hd_node_elements(const hd_graph *g, const struct hd_node *n);
void hd_place_prices(struct hd_placing *p);
/* Per node: index of its device in the list. Behind hd_place_prices. */
const int *hd_place_devices(const struct hd_placing *p);
/* The cost of a placement in ns; what the search makes least. */
double hd_place_cost(const struct hd_placing *p, const int *on);
/* What these nodes cost on each device, for people; a's. */
const char *hd_place_why(const struct hd_placing *p, const int *nodes, size_t n, hd_arena *a);

#endif
