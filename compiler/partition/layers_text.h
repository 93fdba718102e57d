/* Layers as text (layers_text.c). Grammar: docs/ir.md. */
#ifndef HD_COMPILER_LAYERS_TEXT_H
#define HD_COMPILER_LAYERS_TEXT_H

#include "compiler/layer/layer.h"

/* Behind partition. Only layers that --select means, when there are such. */
void hd_layers_print(const struct hd_lowering *lo, FILE *out);
/* Before partition: what a text chooses. lo->too_big, lo->left, lo->pixels. */
hd_status hd_layers_parse_choices(struct hd_lowering *lo, const char *text, const char *file);
/* Behind it: what the text says of layers and tensors is what partition made. */
hd_status hd_layers_check(const struct hd_lowering *lo, const char *text, const char *file);

#endif
