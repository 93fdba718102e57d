/* Sums of products with a common result, such as the gradients that the steps of a recurrent layer
 * give one matrix: a b + c d = [a c] [b; d], one product of longer rows. */
#include "compiler/grad/adjoint.h"

static const struct hd_node *maker(const struct hd_back *b, int t) {
    int node = b->g->tensors[t].producer;
    return node < 0 ? NULL : &b->g->nodes[node];
}

/* Both operands have the dimension that is summed first. */
static bool is_product(const struct hd_back *b, int t) {
    const struct hd_node *n = maker(b, t);
    return n && n->op == HD_IR_gemm && n->n_in == 2 && hd_attr_int(n, "transA", 0) &&
           !hd_attr_int(n, "transB", 0) && hd_attr_float(n, "alpha", 1) == 1;
}

static int product_of(struct hd_back *b, int n, const int *left, const int *right) {
    int in[2] = {hd_b_concat(b, n, left, 0), hd_b_concat(b, n, right, 0)};
    int node = hd_b_start(b, HD_IR_gemm, 2, in, 1);
    hd_b_int(b, node, "transA", 1);
    return hd_b_end(b, node);
}

int hd_join_products(struct hd_back *b, int sum) {
    enum { LEAST = 3 };
    int n = 0, rest = -1, cap = (int)b->g->n_nodes;
    if (sum < 0 || b->status != HD_OK) return sum;
    for (int t = sum; maker(b, t) && maker(b, t)->op == HD_IR_add && n < LEAST;
         t = maker(b, t)->in[0])
        n += is_product(b, maker(b, t)->in[1]);
    if (n < LEAST) return sum;
    int *left = hd_new_array(b->arena, int, (size_t)cap),
        *right = hd_new_array(b->arena, int, (size_t)cap);
    n = 0;
    for (int t = sum, last = -1; t >= 0 && b->status == HD_OK; t = last) {
        const struct hd_node *add = maker(b, t);
        bool more = add && add->op == HD_IR_add && n + 1 < HD_MAX_OPERANDS;
        int part = more ? add->in[1] : t;
        last = more ? add->in[0] : -1;
        if (is_product(b, part)) {
            left[n] = maker(b, part)->in[0], right[n++] = maker(b, part)->in[1];
        } else {
            rest = rest < 0 ? part : hd_b(b, add, rest, part);
        }
    }
    int y = product_of(b, n, left, right);
    return rest < 0 ? y : hd_b(b, add, y, rest);
}
