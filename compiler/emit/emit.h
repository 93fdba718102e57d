/* Last stage of the compiler: tables of the model. */
#ifndef HD_COMPILER_EMIT_H
#define HD_COMPILER_EMIT_H

#include "compiler/tile/layer.h"

void hd_emit_model(struct hd_lowering *lo);

#endif
