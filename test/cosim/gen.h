/* What the files of random programs share: the generator's state, and one operation of each unit.
 */
#ifndef HD_TEST_COSIM_GEN_H
#define HD_TEST_COSIM_GEN_H

#include "test/cosim/program.h"
#include "test/rng.h"

/* Words of WM and PM that operations use most, so that they meet each other's. */
enum { N_WM = 64, N_PM = 32 };

struct gen {
    struct program *p;
    const struct hd_machine *m;
    struct op *op; /* at hand */
    struct rng r;
};

/* lo..hi, both included; lo where the range is empty. */
int64_t gen_pick(struct gen *g, int64_t lo, int64_t hi);
bool gen_chance(struct gen *g, int percent);
/* A field of the operation at hand, and memory that it touches. */
void gen_set(struct gen *g, enum hd_field f, int64_t v);
void gen_touch(struct gen *g, enum space space, int64_t lo, int64_t hi, bool write);
bool ranges_overlap(int64_t lo, int64_t hi, int64_t lo2, int64_t hi2);

/* Begins the program's next operation; it is at hand then. */
struct op *gen_begin(struct gen *g, int unit, int code);
/* A random operation of the unit, legal and with what it touches; a nop where none was found. */
void gen_random_op(struct gen *g, int unit);

#endif
