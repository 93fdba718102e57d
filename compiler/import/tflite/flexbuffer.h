/* Options of custom operations: a FlexBuffer whose root is a map of numbers. */
#ifndef HD_IMPORT_FLEXBUFFER_H
#define HD_IMPORT_FLEXBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of this key: an integer, a float or a bool. false: the map has none, or the bytes are
 * no such map; nothing outside of them is read. Source: flatbuffers, flexbuffers.h. */
bool hd_flex_number(const uint8_t *data, size_t bytes, const char *key, double *out);

#endif
