/* What a host of the emulation leaves in /tmp when it is killed: its folder, and a log beside the
 * program. A folder belongs to whoever holds the lock on its file `owner`; the lock ends with the
 * process, however it ends. */
#ifndef HD_DRIVER_EMU_LEFT_H
#define HD_DRIVER_EMU_LEFT_H

#include <stdbool.h>
#include <stddef.h>

#define HD_EMU_FOLDER "/tmp/heddle-xrt-XXXXXX" /* for mkdtemp */

/* Takes the folder for this process: a descriptor to close at the end, or -1 with errno. */
int hd_emu_claim(const char *folder);
/* Removes what processes that are gone have left, of this user. */
void hd_emu_sweep(void);
/* The folder with all in it. */
void hd_emu_remove(const char *folder);
/* Where XRT's emulation leaves its log: beside the program. False: the system does not say. */
bool hd_emu_log_path(char *out, size_t bytes);

#endif
