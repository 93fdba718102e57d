/* Rows of heddle bench zoo: from the facts of runs to the table, means and the worst. */
#ifndef HD_BENCH_ZOO_H
#define HD_BENCH_ZOO_H

#include "compiler/command/command.h"
#include "runtime/base/arena.h"

struct hd_zoo_rows;
struct hd_zoo_rows *hd_zoo_begin(struct hd_cmd *c, hd_arena *a);
/* A row; facts: of `heddle run --json`, borrowed, or NULL and why there are none. */
void hd_zoo_add(struct hd_zoo_rows *z, const char *network, const char *machine, const char *form,
                json_object *facts, const char *why);
/* Prints the table, a line of means and the worst networks for each machine; JSON. The exit
 * status: failed when a network has no facts. */
int hd_zoo_end(struct hd_zoo_rows *z, const char *const *machines, int n_machines);
/* A number of the facts; `key` may be two keys with a point between. 0 = there is none. */
double hd_zoo_number(json_object *o, const char *key);

#endif
