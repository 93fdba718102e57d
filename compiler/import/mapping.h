/* Private to compiler/import: mapped files that live as long as a graph. */
#ifndef HD_IMPORT_MAPPING_H
#define HD_IMPORT_MAPPING_H

#include <stddef.h>

#include "runtime/base/status.h"

struct hd_mapping {
    struct hd_mapping *next;
    const char *path;
    void *data;
    size_t bytes;
};
hd_status hd_mapping_open(hd_ctx *ctx, const char *path, struct hd_mapping **out);
void hd_mapping_close_all(void *first); /* struct hd_mapping * */
void hd_mapping_rest_all(void *first);  /* the same list; see hd_import_rest() */

#endif
