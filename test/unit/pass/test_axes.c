/* Operations by the names of axes: what the pass makes of them computes what the names say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/pass.h"
#include "cpu_ref/golden.h"

enum { N, C, H, AXES };
static const int length[AXES] = {2, 3, 4};
static const char *const name[AXES] = {"N", "C", "H"};

struct operand {
    int rank, axis[AXES];
};

/* Values 1, 2, 3, .. in the order of the operand's own dimensions. */
static float value(const struct operand *o, const int *at) {
    int i = 0;
    for (int d = 0; d < o->rank; d++) i = i * length[o->axis[d]] + at[o->axis[d]];
    return (float)(i + 1);
}

static bool has(const struct operand *o, int axis) {
    for (int d = 0; d < o->rank; d++)
        if (o->axis[d] == axis) return true;
    return false;
}

static int add_operand(hd_graph *g, const char *text, const struct operand *o) {
    int64_t dim[AXES] = {0};
    float data[2 * 3 * 4];
    int n = 1;
    for (int d = 0; d < o->rank; d++) n *= (int)(dim[d] = length[o->axis[d]]);
    for (int i = 0; i < n; i++) data[i] = (float)(i + 1);
    int t = hd_graph_const(g, text, HD_F32, o->rank, dim, data);
    for (int d = 0; d < o->rank; d++)
        hd_tensor_set_axis(g, t, d, hd_graph_axis(g, name[o->axis[d]], length[o->axis[d]]));
    return t;
}

/* Element `at` of the result, from the definition. */
static double wanted(enum hd_ir_op op, const struct operand *a, const struct operand *b, int *at) {
    if (op == HD_IR_sub) return (double)(value(a, at) - value(b, at));
    double sum = 0;
    int shared[AXES], n = 0, last[AXES], total = 1;
    for (int x = 0; x < AXES; x++)
        if (has(a, x) && has(b, x)) shared[n++] = x, total *= length[x];
    memcpy(last, at, sizeof last);
    for (int i = 0; i < total; i++) {
        for (int k = 0, rest = i; k < n; rest /= length[shared[k++]])
            at[shared[k]] = rest % length[shared[k]];
        sum += (double)value(a, at) * (double)value(b, at);
    }
    memcpy(at, last, sizeof last);
    return sum;
}

static void check(enum hd_ir_op op, const struct operand *a, const struct operand *b) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    hd_arena *arena = hd_arena_create();
    int in[2] = {add_operand(g, "a", a), add_operand(g, "b", b)};
    int y = hd_graph_tensor(g, "y", HD_F32, 0, NULL);
    int id = hd_graph_node(g, op, "node", 2, in, 1, &y);
    hd_attr_set_string(g, id, "by", "name");
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK || hd_graph_verify(ctx, g) != HD_OK ||
        hd_pass_run(ctx, g, "axes") != HD_OK)
        fail_msg("%s", hd_message(ctx));
    struct hd_tensor *t = hd_golden_tensors(g, arena);
    if (hd_golden_eval(ctx, g, NULL, 0, t, arena) != HD_OK) fail_msg("%s", hd_message(ctx));
    const struct hd_tensor *r = &t[y];
    int n = (int)hd_tensor_elems(r), expect = 1;
    for (int x = 0; x < AXES; x++) {
        bool both = has(a, x) && has(b, x), any = has(a, x) || has(b, x);
        expect *= any && !(both && op == HD_IR_matmul) ? length[x] : 1;
    }
    assert_int_equal(n, expect);
    for (int i = 0; i < n; i++) {
        int at[AXES] = {0}, rest = i;
        for (int d = r->rank - 1; d >= 0; rest /= (int)r->dim[d--])
            for (int x = 0; x < AXES; x++)
                if (!strcmp(g->axes[g->tensors[y].axis[d] - 1].name, name[x]))
                    at[x] = rest % (int)r->dim[d];
        assert_true((double)((const float *)r->data)[i] == wanted(op, a, b, at));
    }
    hd_arena_destroy(arena);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Every order of every subset of three axes, against every other. */
static void by_name(void **state) {
    (void)state;
    struct operand all[16];
    int n = 0;
    for (int rank = 0; rank <= AXES; rank++)
        for (int code = 0; code < 27; code++) {
            struct operand o = {rank, {code % 3, code / 3 % 3, code / 9}};
            bool ok = true;
            for (int d = 0; d < AXES; d++) {
                for (int k = 0; k < d && d < rank; k++) ok = ok && o.axis[k] != o.axis[d];
                ok = ok && (d < rank || o.axis[d] == 0);
            }
            if (ok) all[n++] = o;
        }
    assert_int_equal(n, 1 + 3 + 6 + 6);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            check(HD_IR_sub, &all[i], &all[k]);
            check(HD_IR_matmul, &all[i], &all[k]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
