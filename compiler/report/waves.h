/* --wave: the files of a run's waveforms. */
#ifndef HD_REPORT_WAVES_H
#define HD_REPORT_WAVES_H

#include "compiler/command/command.h"
#include "runtime/device/model.h"

struct hd_wave_files;

/* Sets c->wave, so that the device that is opened next records; as c->opt.trace.wave says, of the
 * layers that are set (NULL = all). Model and layers outlive it; the memory is the arena's. */
hd_status hd_waves_open(struct hd_cmd *c, hd_arena *a, const hd_model *m, const bool *layers,
                        struct hd_wave_files **out);
/* After the device is closed. The files get their names unless s, what the caller has come to, is
 * an error. Gives s, or what went wrong. NULL does nothing. */
hd_status hd_waves_close(struct hd_cmd *c, struct hd_wave_files *w, hd_status s);

#endif
