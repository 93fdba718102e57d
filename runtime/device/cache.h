/* Models in the user's cache: what was sent once is not sent again, nor compiled again. */
#ifndef HD_DEVICE_CACHE_H
#define HD_DEVICE_CACHE_H

#include "runtime/base/sha256.h"
#include "runtime/device/model.h"

/* By the SHA-256 of their bytes; of all that they were compiled from. */
enum hd_cache { HD_CACHE_SENT, HD_CACHE_COMPILED };

/* NULL = it is not there, or is damaged; then it is gone. */
hd_model *hd_cache_get(enum hd_cache of, const unsigned char key[HD_SHA256_BYTES]);
/* Keeps the bytes of a model, and removes what was used least lately beyond `mib`. Where nothing
 * can be kept, nothing is. */
void hd_cache_put(enum hd_cache of, const unsigned char key[HD_SHA256_BYTES], const void *data,
                  size_t bytes, int mib);

#endif
