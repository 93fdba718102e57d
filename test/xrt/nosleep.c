/* For LD_PRELOAD: XRT's emulation sleeps for seconds where it means to wait; this one returns after
 * 1 ms for each. Device xrt knows ways around it, XRT's OpenCL sleeps once a run. */
#include <time.h>

unsigned sleep(unsigned seconds);
unsigned sleep(unsigned seconds) {
    nanosleep(&(struct timespec){seconds / 1000, (long)(seconds % 1000) * 1000000}, NULL);
    return 0;
}
