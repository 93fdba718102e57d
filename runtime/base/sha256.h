/* SHA-256 (FIPS 180-4), for names by content that nobody can forge. */
#ifndef HD_BASE_SHA256_H
#define HD_BASE_SHA256_H

#include <stddef.h>

enum { HD_SHA256_BYTES = 32 };
void hd_sha256(const void *data, size_t bytes, unsigned char out[HD_SHA256_BYTES]);

#endif
