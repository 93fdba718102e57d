/* Placing a network on several devices (devices.c). */
#ifndef HD_COMPILER_PARTITION_DEVICES_H
#define HD_COMPILER_PARTITION_DEVICES_H

#include "compiler/layer/layer.h"

/* Per node: index of its device in lo->opt->devices. order: the nodes that run, in topological
 * order. *out_ns: [node][device], its work there, infinite = it cannot. Both are lo->arena's. */
const int *hd_place_devices(const struct hd_lowering *lo, const int *order, size_t n_order,
                            const double **out_ns);
/* The cost of a placement in ns; what the search makes least. */
double hd_place_cost(const struct hd_lowering *lo, const int *order, size_t n_order, const int *on);
/* What these nodes cost on each device, for people; a's. */
const char *hd_place_why(const struct hd_lowering *lo, const double *ns, const int *nodes, size_t n,
                         hd_arena *a);

#endif
