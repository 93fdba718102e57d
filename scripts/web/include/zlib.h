/* Of zlib, what the library calls in the page: Debian has no zlib for WebAssembly. */
#ifndef HD_WEB_ZLIB_H
#define HD_WEB_ZLIB_H

#include <stddef.h>

unsigned long crc32_z(unsigned long crc, const unsigned char *data, size_t bytes);

#endif
