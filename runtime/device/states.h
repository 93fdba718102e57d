/* State of a model: what its runs leave for the next one (model.h, n_states). */
#ifndef HD_DEVICE_STATES_H
#define HD_DEVICE_STATES_H

#include "runtime/base/io.h"
#include "runtime/device/model.h"

/* State i: its value that a run reads, and the one that it makes. */
int hd_state_in(const hd_model *m, int i);
int hd_state_out(const hd_model *m, int i);
/* It lies in the arena where the machine reads and writes it, in the same form: it stays there. */
bool hd_state_stays(const hd_model *m, int i);

/* In the file: behind inputs and outputs. get: NULL, or what is wrong. */
void hd_states_put(struct hd_buf *b, const hd_model *m);
const char *hd_states_get(struct hd_cursor *c, hd_model *m);

/* What is saved of a state: a head of HD_STATE_HEAD bytes (magic "HDS\x1a", fingerprint of the
 * network, bytes of the rest, CRC-32 of the rest), then the values, dense, one after another. */
enum { HD_STATE_HEAD = 20 };
size_t hd_states_bytes(const hd_model *m); /* with the head */
/* data holds hd_states_bytes(m) bytes, of which all but the head are written. */
void hd_states_seal(const hd_model *m, unsigned char *data);
/* HD_MISMATCH: of another network; HD_INVALID: cut short, damaged. */
hd_status hd_states_check(hd_ctx *ctx, const hd_model *m, const void *data, size_t bytes);

#endif
