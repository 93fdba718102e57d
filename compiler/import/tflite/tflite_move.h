/* Private to compiler/import/tflite: operations that only move values. */
#ifndef HD_IMPORT_TFLITE_MOVE_H
#define HD_IMPORT_TFLITE_MOVE_H

#include "compiler/import/tflite/tflite.h"

/* Operand i for a move to result 0: as stored when their scales are equal, else as float; *stored
 * says which. Its shape must be known. */
hd_status hd_tfl_movable(struct hd_tfl *m, uint32_t i, bool *stored, int *out);
/* The result of a move. */
hd_status hd_tfl_moved(struct hd_tfl *m, uint32_t i, bool stored, int v);

#endif
