/* Plug-ins: shared objects of ours that hold a large library, so that the program runs without it.
 * They lie beside libheddle.so or the program, in a folder above it (tests), in lib/heddle there
 * (installed), or in the folder that HEDDLE_PLUGINS names; HEDDLE_PLUGINS=none runs without. */
#ifndef HD_BASE_PLUGIN_H
#define HD_BASE_PLUGIN_H

#include <stdbool.h>

#include "runtime/base/arena.h"

/* Path of the file, the arena's; NULL = there is none. */
const char *hd_plugin_find(hd_arena *a, const char *file);

enum hd_plugin_scope {
    HD_PLUGIN_LOCAL, /* its symbols are its own */
    HD_PLUGIN_GLOBAL /* for libraries that open parts of their own which look for them (MPI) */
};
/* Opened, and open to the end: threads may live in it. NULL = there is none, or it does not load.
 */
void *hd_plugin_open(const char *file, enum hd_plugin_scope scope);

#endif
