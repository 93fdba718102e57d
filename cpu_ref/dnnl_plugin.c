/* The oneDNN plugin of device cpu: every call of oneDNN (2.x C API) is in this file and
 * dnnl_ops.c. See dnnl_api.h. */
#include "cpu_ref/dnnl_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- layouts -------------------------------------------------------------------------------- */

const dnnl_memory_desc_t *hd_dnnl_intern(struct hd_dnnl_engine *e, const dnnl_memory_desc_t *md) {
    for (size_t i = 0; i < e->n_mds; i++)
        if (dnnl_memory_desc_equal(e->mds[i], md)) return e->mds[i];
    if (e->n_mds == e->cap_mds) {
        e->cap_mds = e->cap_mds ? 2 * e->cap_mds : 64;
        e->mds = realloc(e->mds, e->cap_mds * sizeof *e->mds);
        if (!e->mds) abort();
    }
    dnnl_memory_desc_t *own = malloc(sizeof *own);
    if (!own) abort();
    *own = *md;
    e->mds[e->n_mds++] = own;
    return own;
}

void hd_dnnl_dense_md(dnnl_memory_desc_t *md, int rank, const int64_t *dim) {
    dnnl_dims_t d, s;
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        d[i] = dim[i];
        s[i] = step;
        step *= dim[i];
    }
    dnnl_memory_desc_init_by_strides(md, rank, d, dnnl_f32, s);
}

static bool is_dense(const void *p) {
    const dnnl_memory_desc_t *md = p;
    dnnl_memory_desc_t plain;
    hd_dnnl_dense_md(&plain, md->ndims, md->dims);
    return dnnl_memory_desc_equal(md, &plain);
}

static bool is_padded(const void *p) {
    const dnnl_memory_desc_t *md = p;
    for (int i = 0; i < md->ndims; i++)
        if (md->padded_dims[i] != md->dims[i]) return true;
    return false;
}

static bool blocks_channels(const void *p) {
    const dnnl_memory_desc_t *md = p;
    const dnnl_blocking_desc_t *b = &md->format_desc.blocking;
    if (md->format_kind != dnnl_blocked || b->inner_nblks != 1 || b->inner_idxs[0] != 1)
        return false;
    int64_t step = b->inner_blks[0]; /* dense behind the channel dimension */
    for (int i = md->ndims - 1; i >= 2; i--) {
        if (b->strides[i] != step) return false;
        step *= md->dims[i];
    }
    return b->strides[1] == step && md->offset0 == 0;
}

static bool same_blocks(const void *x, const void *y) {
    const dnnl_memory_desc_t *a = x, *b = y;
    return blocks_channels(x) && blocks_channels(y) &&
           a->format_desc.blocking.inner_blks[0] == b->format_desc.blocking.inner_blks[0];
}

static size_t md_bytes(const void *p) {
    return dnnl_memory_desc_get_size(p);
}

/* ---- engine --------------------------------------------------------------------------------- */

void omp_set_num_threads(int n); /* libgomp's, which oneDNN links */

static void *engine_open(int threads) {
    struct hd_dnnl_engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->threads = threads;
    if (dnnl_engine_create(&e->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&e->stream, e->engine, dnnl_stream_default_flags) != dnnl_success) {
        free(e);
        return NULL;
    }
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    e->isa = isa >= dnnl_cpu_isa_avx512_core_vnni ? "avx512 with vnni"
             : isa >= dnnl_cpu_isa_avx512_core    ? "avx512"
             : isa >= dnnl_cpu_isa_avx2           ? "avx2"
                                                  : "sse4.1 or avx";
    return e;
}

static void engine_close(void *p) {
    struct hd_dnnl_engine *e = p;
    dnnl_stream_destroy(e->stream);
    dnnl_engine_destroy(e->engine);
    for (size_t i = 0; i < e->n_mds; i++) free(e->mds[i]);
    free(e->mds);
    free(e);
}

/* avx512 with vnni and what is above it, and avx2 with vnni. */
static bool exact_int8(void *e) {
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    (void)e;
    return isa >= dnnl_cpu_isa_avx512_core_vnni || isa == dnnl_cpu_isa_avx2_vnni;
}

static bool has_amx(void *e) {
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    (void)e;
    return isa >= dnnl_cpu_isa_avx512_core_amx && isa != dnnl_cpu_isa_avx2_vnni;
}

static const char *engine_isa(void *e) {
    return ((struct hd_dnnl_engine *)e)->isa;
}

/* ---- operations: what all have -------------------------------------------------------------- */

/* oneDNN 2.6 does not look whether it got memory: for code that it generates, also in the first run
 * of a product, and for operands that it packs. More than malloc keeps for later, so nothing stays
 * of asking for it. */
static bool has_room(void) {
    void *volatile p = malloc((size_t)40 << 20);
    free(p);
    return p != NULL;
}

hd_dnnl_op *hd_dnnl_op_new(struct hd_dnnl_engine *e, int64_t work) {
    hd_dnnl_op *op = has_room() ? calloc(1, sizeof *op) : NULL;
    if (!op) return NULL;
    op->e = e;
    op->threads = work < HD_DNNL_TEAM ? 1 : e->threads;
    omp_set_num_threads(op->threads); /* a primitive is made for a number of threads */
    return op;
}

void hd_dnnl_op_destroy(hd_dnnl_op *op) {
    if (!op) return;
    hd_dnnl_op_destroy(op->first);
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i].memory) dnnl_memory_destroy(op->args[i].memory);
    if (op->primitive) dnnl_primitive_destroy(op->primitive);
    if (op->pd) dnnl_primitive_desc_destroy(op->pd);
    for (int i = 0; i < op->n_packed; i++) free(op->packed[i]);
    free(op);
}

bool hd_dnnl_arg(hd_dnnl_op *op, int arg, const dnnl_memory_desc_t *md, void *data, int operand) {
    dnnl_memory_t m;
    if (op->n_args == HD_DNNL_ARGS ||
        dnnl_memory_create(&m, md, op->e->engine, data) != dnnl_success)
        return false;
    op->operand[op->n_args] = operand;
    op->args[op->n_args++] = (dnnl_exec_arg_t){arg, m};
    return true;
}

void *hd_dnnl_keep(hd_dnnl_op *op, size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p || op->n_packed == HD_DNNL_PACKED) {
        free(p);
        return NULL;
    }
    op->packed[op->n_packed++] = p;
    /* cppcheck-suppress memleak ; it is the operation's */
    return p;
}

/* A constant in the layout `to`, packed now. */
void *hd_dnnl_pack(hd_dnnl_op *op, const dnnl_memory_desc_t *from, const void *data,
                   const dnnl_memory_desc_t *to) {
    struct hd_dnnl_engine *e = op->e;
    void *p = hd_dnnl_keep(op, dnnl_memory_desc_get_size(to));
    if (!p) return NULL;
    if (dnnl_memory_desc_equal(from, to)) return memcpy(p, data, dnnl_memory_desc_get_size(to));
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t r = NULL;
    dnnl_memory_t a = NULL, b = NULL;
    bool ok = dnnl_reorder_primitive_desc_create(&pd, from, e->engine, to, e->engine, NULL) ==
                  dnnl_success &&
              dnnl_primitive_create(&r, pd) == dnnl_success &&
              dnnl_memory_create(&a, from, e->engine, (void *)(uintptr_t)data) == dnnl_success &&
              dnnl_memory_create(&b, to, e->engine, p) == dnnl_success;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, b}};
    ok = ok && dnnl_primitive_execute(r, e->stream, 2, args) == dnnl_success;
    dnnl_stream_wait(e->stream);
    if (a) dnnl_memory_destroy(a);
    if (b) dnnl_memory_destroy(b);
    if (r) dnnl_primitive_destroy(r);
    if (pd) dnnl_primitive_desc_destroy(pd);
    return ok ? p : NULL;
}

/* From a descriptor to a primitive; refuses oneDNN's reference code. */
bool hd_dnnl_build(hd_dnnl_op *op, const_dnnl_op_desc_t desc, dnnl_primitive_attr_t attr) {
    if (dnnl_primitive_desc_create(&op->pd, desc, attr, op->e->engine, NULL) != dnnl_success)
        return false;
    const char *impl = "";
    dnnl_primitive_desc_query(op->pd, dnnl_query_impl_info_str, 0, &impl);
    snprintf(op->impl, sizeof op->impl, "onednn %s", impl);
    return !strstr(impl, "ref") && dnnl_primitive_create(&op->primitive, op->pd) == dnnl_success;
}

bool hd_dnnl_scratch(hd_dnnl_op *op) {
    const dnnl_memory_desc_t *md =
        dnnl_primitive_desc_query_md(op->pd, dnnl_query_scratchpad_md, 0);
    op->scratch_bytes = md ? dnnl_memory_desc_get_size(md) : 0;
    return !op->scratch_bytes || hd_dnnl_arg(op, DNNL_ARG_SCRATCHPAD, md, NULL, HD_DNNL_SCRATCH);
}

static const char *op_impl(const hd_dnnl_op *op) {
    return op->impl;
}

static const void *op_x_md(const hd_dnnl_op *op) {
    return op->x_md && !is_dense(op->x_md) ? op->x_md : NULL;
}

static const void *op_y_md(const hd_dnnl_op *op) {
    return op->y_md && !is_dense(op->y_md) ? op->y_md : NULL;
}

static size_t op_scratch(const hd_dnnl_op *op) {
    return op->scratch_bytes;
}

static int op_run(hd_dnnl_op *op, void *const *x, void *y, void *scratch) {
    if (op->first && op_run(op->first, x, op->packed[0], scratch)) return 1;
    for (int i = 0; i < op->n_args; i++) {
        int k = op->operand[i];
        if (k == HD_DNNL_FIXED) continue;
        void *p = k == HD_DNNL_RESULT ? y : k == HD_DNNL_SCRATCH ? scratch : x[k];
        if (p == op->set[i]) continue;
        if (dnnl_memory_set_data_handle_v2(op->args[i].memory, p, NULL) != dnnl_success) return 1;
        op->set[i] = p;
    }
    omp_set_num_threads(op->threads);
    if (!op->ran && !has_room()) return 1;
    op->ran = true;
    if (dnnl_primitive_execute(op->primitive, op->e->stream, op->n_args, op->args) != dnnl_success)
        return 1;
    return dnnl_stream_wait(op->e->stream) != dnnl_success;
}

extern const struct hd_dnnl_api hd_dnnl_api_table;
const struct hd_dnnl_api hd_dnnl_api_table = {
    .version = HD_DNNL_API,
    .open = engine_open,
    .close = engine_close,
    .isa = engine_isa,
    .dense = is_dense,
    .padded = is_padded,
    .bytes = md_bytes,
    .blocks_channels = blocks_channels,
    .same_blocks = same_blocks,
    .conv = hd_dnnl_conv_op,
    .exact_int8 = exact_int8,
    .has_amx = has_amx,
    .qconv = hd_dnnl_qconv_op,
    .matmul = hd_dnnl_matmul_op,
    .pool = hd_dnnl_pool_op,
    .lrn = hd_dnnl_lrn_op,
    .reorder = hd_dnnl_reorder_op,
    .concat = hd_dnnl_concat_op,
    .impl = op_impl,
    .x_md = op_x_md,
    .y_md = op_y_md,
    .scratch = op_scratch,
    .run = op_run,
    .destroy = hd_dnnl_op_destroy,
};
