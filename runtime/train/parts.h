/* Products that several devices share: tensor parallel. */
#ifndef HD_TRAIN_PARTS_H
#define HD_TRAIN_PARTS_H

#include "compiler/ir/ir.h"
#include "compiler/options/options.h"

/* *g, with shapes: a float product that is too much work for one of the devices becomes products of
 * parts of its columns, as wide as devices are fast, and a concat. It stays as it is where that
 * does not make the placement (compiler/place) cheaper. *g may be another graph then; *out_n: so
 * many products were cut. Does nothing where the devices run programs, or nodes are placed already.
 * Source: Shoeybi and others, Megatron-LM (2019): products of transformers by columns. */
hd_status hd_train_parts(hd_ctx *ctx, const struct hd_device_list *devices, hd_graph **g,
                         int *out_n);

#endif
