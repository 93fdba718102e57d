/* What the fuzz targets of the readers share. */
#ifndef HD_FUZZ_NETWORK_H
#define HD_FUZZ_NETWORK_H

#include <stddef.h>
#include <stdint.h>

/* Any bytes as a network whose name ends in `extension`: a status, never a crash; what imports also
 * legalises, prints and saves. */
int fuzz_network(const char *extension, const uint8_t *data, size_t size);

#endif
