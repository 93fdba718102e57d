/* Private to runtime/device: the numbers of the model container, which model.c reads and
 * model_save.c writes. docs/runtime.md describes the file byte by byte. */
#ifndef HD_DEVICE_MODEL_FILE_H
#define HD_DEVICE_MODEL_FILE_H

#include <stdint.h>

enum { FORMAT = 8, HEADER_BYTES = 64, CRC_AT = 40, ENTRY_BYTES = 24, SECTION_ALIGN = 64 };
#define MAGIC UINT32_C(0x1a4c4448) /* "HDL\x1a" */

enum { PLACE_INTS = 21, PLACE_BYTES = 4 * PLACE_INTS + 32 };

enum section { MACH, GRPH, IMAG, STEP, VALU, LAYR, HOST, STAT, PLAC, SECTIONS };
static const char section_name[SECTIONS][5] = {"MACH", "GRPH", "IMAG", "STEP", "VALU",
                                               "LAYR", "HOST", "STAT", "PLAC"};

#endif
