/* Adjoints of matrix products. */
#include <string.h>

#include "compiler/grad/adjoint.h"
#include "compiler/ir/einsum.h"

/* The last two dimensions exchanged. */
static int turned(struct hd_back *b, int x) {
    int rank = hd_b_shape(b, x).rank;
    int64_t perm[HD_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = d;
    if (rank >= 2) perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
    return hd_b_transpose(b, x, perm);
}

/* A vector as a row (left) or a column (right). */
static int as_matrix(struct hd_back *b, int x, bool left) {
    struct hd_tensor t = hd_b_shape(b, x);
    if (t.rank != 1) return x;
    return hd_b_reshape(b, x, 2, left ? (int64_t[]){1, t.dim[0]} : (int64_t[]){t.dim[0], 1});
}

/* y = a b: da = g b^T, db = a^T g, summed over what batches repeat. */
void hd_adjoint_matmul(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]), z = hd_b_shape(b, a->n.in[1]);
    struct hd_tensor y = hd_b_shape(b, a->n.out[0]);
    if (hd_attr_get(&a->n, "by")) {
        hd_b_fail(b, &a->n, "axes by name; run pass axes first");
        return;
    }
    int64_t dim[HD_MAX_RANK];
    int rank = 0, batch = y.rank - (x.rank > 1) - (z.rank > 1);
    for (int d = 0; d < batch; d++) dim[rank++] = y.dim[d];
    dim[rank++] = x.rank > 1 ? x.dim[x.rank - 2] : 1;
    dim[rank++] = z.rank > 1 ? z.dim[z.rank - 1] : 1;
    int g = hd_b_reshape(b, a->dy[0], rank, dim);
    int left = as_matrix(b, a->n.in[0], true), right = as_matrix(b, a->n.in[1], false);
    struct hd_tensor lt = hd_b_shape(b, left), rt = hd_b_shape(b, right);
    if (a->want[0]) {
        int d = hd_b_unbroadcast(b, hd_b(b, matmul, g, turned(b, right)), &lt);
        a->dx[0] = hd_b_reshape(b, d, x.rank, x.dim);
    }
    if (!a->want[1]) return;
    if (z.rank == 2 && x.rank > 2) { /* rows of all batches at once */
        int64_t k = x.dim[x.rank - 1], n = z.dim[1], rows = hd_tensor_elems(&x) / (k ? k : 1);
        left = hd_b_reshape(b, left, 2, (int64_t[]){rows, k});
        g = hd_b_reshape(b, g, 2, (int64_t[]){rows, n});
    }
    int d = hd_b_unbroadcast(b, hd_b(b, matmul, turned(b, left), g), &rt);
    a->dx[1] = hd_b_reshape(b, d, z.rank, z.dim);
}

static int product(struct hd_adjoint *a, int x, bool tx, int z, bool tz) {
    int node = hd_b_start(a->b, HD_IR_gemm, 2, (int[]){x, z}, 1);
    if (node < 0) return -1;
    hd_b_int(a->b, node, "transA", tx);
    hd_b_int(a->b, node, "transB", tz);
    hd_attr_set_float(a->b->g, node, "alpha", hd_attr_float(&a->n, "alpha", 1));
    return hd_b_end(a->b, node);
}

/* y = alpha op(a) op(b) + beta c */
void hd_adjoint_gemm(struct hd_adjoint *a) {
    struct hd_back *b = a->b;
    bool ta = hd_attr_int(&a->n, "transA", 0) != 0, tb = hd_attr_int(&a->n, "transB", 0) != 0;
    int x = a->n.in[0], z = a->n.in[1], g = a->dy[0];
    double beta = (double)hd_attr_float(&a->n, "beta", 1);
    if (a->want[0]) a->dx[0] = ta ? product(a, z, tb, g, true) : product(a, g, false, z, !tb);
    if (a->want[1]) a->dx[1] = tb ? product(a, g, true, x, ta) : product(a, x, !ta, g, false);
    if (a->n.n_in < 3 || !a->want[2]) return;
    struct hd_tensor c = hd_b_shape(b, a->n.in[2]);
    int d = hd_b_unbroadcast(b, g, &c);
    a->dx[2] = beta == 1 ? d : hd_b(b, mul, d, hd_b_number(b, c.dtype, beta));
}

/* ---- einsum --------------------------------------------------------------------------------- */

enum { TERMS = 9, LABELS = HD_MAX_RANK + 1 }; /* operands, and the result behind them */

/* "ab,bc->ac" -> term[k], the result last. False when the form is another. */
static bool split_equation(const char *s, int n_in, char term[TERMS][LABELS]) {
    int t = 0;
    size_t n = 0;
    bool arrow = false;
    memset(term, 0, TERMS * sizeof *term);
    for (; *s; s++) {
        if (*s == ' ') continue;
        if (*s == ',' || (*s == '-' && s[1] == '>')) {
            arrow = arrow || *s == '-';
            s += *s == '-';
            if (++t > n_in) return false;
            n = 0;
            continue;
        }
        if (*s == '.' || n + 1 >= LABELS || strchr(term[t], *s)) return false;
        term[t][n++] = *s;
    }
    return arrow && t == n_in;
}

/* Gradient of operand i: the product of g and the other operands, summed to its labels; those that
 * only it has were summed alone, so every place along them gets the same. */
static int einsum_operand(struct hd_adjoint *a, char term[TERMS][LABELS], int i) {
    struct hd_back *b = a->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[i]);
    int in[TERMS], n = 0;
    char text[TERMS * (LABELS + 1) + 4] = "", there[LABELS] = "";
    int64_t dim[HD_MAX_RANK];
    in[n++] = a->dy[0];
    strcat(text, term[a->n.n_in]);
    for (int k = 0; k < a->n.n_in; k++) {
        if (k == i) continue;
        in[n++] = a->n.in[k];
        strcat(strcat(text, ","), term[k]);
    }
    for (int d = 0; d < x.rank; d++) {
        bool known = strchr(text, term[i][d]) != NULL;
        dim[d] = known ? x.dim[d] : 1;
        if (known) strncat(there, &term[i][d], 1);
    }
    strcat(strcat(text, "->"), there);
    int node = hd_b_start(b, HD_IR_einsum, n, in, 1);
    hd_b_string(b, node, "equation", text);
    int d = hd_b_reshape(b, hd_b_end(b, node), x.rank, dim);
    return hd_b_expand(b, d, x.rank, x.dim);
}

void hd_adjoint_einsum(struct hd_adjoint *a) {
    char term[TERMS][LABELS];
    if (!split_equation(hd_attr_string(&a->n, "equation", ""), a->n.n_in, term)) {
        hd_b_fail(a->b, &a->n, "an equation with '->', without '...' and diagonals is wanted");
        return;
    }
    for (int i = 0; i < a->n.n_in; i++)
        if (a->want[i]) a->dx[i] = einsum_operand(a, term, i);
}
