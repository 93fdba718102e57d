/* What the programs of random networks share: options, running on golden and on a machine,
 * comparing, shrinking. A program is a generator and a line of main. */
#ifndef HD_TEST_RANDOM_RANDOM_H
#define HD_TEST_RANDOM_RANDOM_H

#include "compiler/ir/ir.h"

struct random_kind {
    const char *name;
    int most_layers;
    /* A legal graph of so many layers; same arguments, same graph. Fewer layers give a part of it,
     * which is what shrinking needs. small: for a slow device. */
    hd_graph *(*generate)(uint64_t seed, int layers, bool small);
    bool legalize; /* the graph is as a file has it */
};

/* The program: count networks from seed on, each of them compiled (options by its seed), checked
 * (races, deadlock, unwritten memory), run on golden and on the device; every value that leaves the
 * machine must be the same, bit for bit. Returns the exit status. */
int random_main(int argc, char **argv, const struct random_kind *kind);

#endif
