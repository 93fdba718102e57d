/* Payloads that are more than numbers: the options of a device, what a run gives. */
#ifndef HD_REMOTE_MESSAGES_H
#define HD_REMOTE_MESSAGES_H

#include "runtime/base/io.h"
#include "runtime/device/hal.h"

enum { HD_OP_BYTES = 68, HD_DRAM_BYTES = 16, HD_REMOTE_LAYERS = 65536, HD_REMOTE_STEPS = 65536 };
/* What a probe wants, in `open`. */
enum { HD_WANTS_OP = 1, HD_WANTS_DRAM = 2, HD_WANTS_END = 4, HD_WANTS_MEMORY = 8 };

void hd_put_options(struct hd_buf *b, const char *scheme, const struct hd_device_options *o);
/* *out_wants: HD_WANTS_*; out->probe is NULL. False: damaged. The scheme is the arena's. */
bool hd_get_options(struct hd_cursor *c, hd_arena *a, const char **out_scheme,
                    struct hd_device_options *out, uint32_t *out_wants);

void hd_put_counters(struct hd_buf *b, const struct hd_counters *k);
/* *layers grows as needed, and is the caller's. False: damaged, or no memory. */
bool hd_get_counters(struct hd_cursor *c, struct hd_counters *out,
                     struct hd_layer_counters **layers);

void hd_put_steps(struct hd_buf *b, const struct hd_exec_step *s, int n);
/* The arena's. False: damaged. */
bool hd_get_steps(struct hd_cursor *c, hd_arena *a, struct hd_exec_step **out, int *out_n);

/* How many buffers a run of a step takes (hal.h, submit). */
uint32_t hd_remote_io_count(const hd_model *m, int step);

void hd_put_op(unsigned char out[HD_OP_BYTES], const struct hd_op_record *r);
/* False: no operation of a program of n_words can be this. */
bool hd_get_op(struct hd_cursor *c, size_t n_words, struct hd_op_record *out);

#endif
