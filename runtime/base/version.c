/* The version of library and program; make gives it (scripts/version.sh). */
#include "runtime/base/version.h"

const char *hd_version(void) {
    return HD_VERSION;
}
