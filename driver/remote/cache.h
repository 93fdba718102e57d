/* Models by their content, in the user's cache: what was sent once is not sent again. */
#ifndef HD_REMOTE_CACHE_H
#define HD_REMOTE_CACHE_H

#include "runtime/base/sha256.h"
#include "runtime/device/model.h"

/* NULL = it is not there, or is damaged; then it is gone. */
hd_model *hd_cache_get(const unsigned char key[HD_SHA256_BYTES]);
/* Keeps the bytes of a model, and removes what was used least lately beyond `mib`. Where nothing
 * can be kept, nothing is. */
void hd_cache_put(const unsigned char key[HD_SHA256_BYTES], const void *data, size_t bytes,
                  int mib);

#endif
