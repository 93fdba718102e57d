/* Private to compiler/loop: a function of LLVM IR in the making. */
#ifndef HD_LOOP_LLVM_INT_H
#define HD_LOOP_LLVM_INT_H

#include <stdio.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/llvm.h"

struct hd_ir_value {
    char text[40];
    int type;  /* hd_dtype; HD_BOOL is i1 */
    int lanes; /* 1: the same in every lane */
};

struct hd_ir {
    hd_ctx *ctx;
    hd_arena *a;
    const struct hd_nest *n;
    FILE *out;
    const char *declared; /* lines of the functions that are called */
    int temps, labels;
    int64_t fixed[HD_LOOP_MAX]; /* of unrolled loops, while `is_fixed` */
    bool is_fixed[HD_LOOP_MAX];
    int vector, lanes; /* the loop whose iterations are lanes; -1 = none */
    int strip;         /* lanes of a loop that becomes vectors by itself */
    char mask[40];     /* of lanes that count; "" = all */
    bool parallel_done;
    int *origin; /* of each tensor: the parameter that it is a copy of; -1 = none */
    struct hd_loop_llvm *result;
    hd_status status;
};

/* HD_UNSUPPORTED, the first time. */
void hd_ir_fail(struct hd_ir *e, const char *what);
const char *hd_ir_type(struct hd_ir *e, int type, int lanes);
struct hd_ir_value hd_ir_temp(struct hd_ir *e, int type, int lanes);
struct hd_ir_value hd_ir_immediate(int64_t i);
int64_t hd_ir_stride(const struct hd_expr_tensor *t, int dim);
/* How far a node moves with each iteration of the vector's loop; false = not evenly. */
bool hd_ir_step(const struct hd_ir *e, int node, int64_t *out);
struct hd_ir_value hd_ir_value(struct hd_ir *e, int node);
/* Address of the element in lane 0, and how far it moves from lane to lane. */
struct hd_ir_value hd_ir_address(struct hd_ir *e, int tensor, int n, const int *index,
                                 int64_t *out_step);
/* A line that declares a function, once. */
void hd_ir_declare(struct hd_ir *e, const char *line);
/* The type's letter and bits, as overloaded functions have them in their names. */
const char *hd_ir_lanes_text(struct hd_ir *e, int type, int lanes);
/* A loop that is an intrinsic, and what is inside; in llvm_dot.c. */
void hd_ir_intrinsic(struct hd_ir *e, const struct hd_loop_stmt *s);
/* A conversion, in llvm_cast.c. */
struct hd_ir_value hd_ir_cast(struct hd_ir *e, const struct hd_expr_node *k);
/* tensor[index] = value, or what the reduction makes of both. */
void hd_ir_leaf(struct hd_ir *e, const struct hd_loop_stmt *s);

#endif
