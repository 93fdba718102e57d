/* The version of library and program. */
#ifndef HD_BASE_VERSION_H
#define HD_BASE_VERSION_H

const char *hd_version(void);

#endif
