/* Private to compiler/ir: the words of the text form, shared by print.c and parse.c. */
#ifndef HD_IR_TEXT_H
#define HD_IR_TEXT_H

#include "compiler/ir/ir.h"

enum { HD_TEXT_VALUES = 16 }; /* longer constants are printed as a hash */

/* A name that needs no quotes: starts with a letter or _, goes on with letters, digits, _ . / and
 * is not input, const or output. */
static inline bool hd_text_start(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool hd_text_part(int c) {
    return hd_text_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '/';
}

#endif
