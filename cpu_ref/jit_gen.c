/* A program (jit_api.h) as LLVM IR.
 *
 *   for each row
 *     phase 0: for j in vectors, then one by one: what needs no reduction; sums of phase 0
 *     phase 1: ... what needs the reductions of phase 0
 *
 * An element value that a later phase needs is loaded again when it is a load, else kept in
 * scratch, one array per value.
 */
#include <stdlib.h>
#include <string.h>

#include "cpu_ref/jit_int.h"

enum { ALIGN_F32 = 4 };

struct row { /* state while one row is generated */
    struct hd_jit_gen *g;
    int phase[HD_JIT_INS];          /* of element values: where they are made; rows: where known */
    int last[HD_JIT_INS];           /* last phase that reads an element value */
    LLVMValueRef value[HD_JIT_INS]; /* row values */
    LLVMValueRef wide[HD_JIT_INS];  /* ... in every lane */
    LLVMValueRef acc[2 * HD_JIT_INS]; /* memory of a reduction's lanes */
    LLVMValueRef ptr[HD_JIT_PTRS];    /* of this row */
    LLVMValueRef step[HD_JIT_PTRS];
    LLVMValueRef keep[HD_JIT_INS]; /* scratch array */
    LLVMValueRef n;
    int n_phases;
};

static int n_operands(int op) {
    static const int8_t n[] = {
#define X(name, count, kind) count,
        HD_JIT_LIST(X)
#undef X
    };
    return n[op];
}

static bool is_truth(int op) {
    static const char kind[] = {
#define X(name, count, k) #k[0],
        HD_JIT_LIST(X)
#undef X
    };
    return kind[op] == 'B';
}

static bool is_reduction(int op) {
    return op == HD_JIT_ROW_SUM || op == HD_JIT_ROW_MAX || op == HD_JIT_ROW_MIN;
}

static bool is_store(int op) {
    return op == HD_JIT_STORE || op == HD_JIT_STORE_TRUTH;
}

/* ---- values --------------------------------------------------------------------------------- */

LLVMTypeRef hd_jit_f32(const struct hd_jit_gen *g) {
    LLVMTypeRef t = LLVMFloatTypeInContext(g->c);
    return g->lanes == 1 ? t : LLVMVectorType(t, (unsigned)g->lanes);
}

LLVMTypeRef hd_jit_i32(const struct hd_jit_gen *g) {
    LLVMTypeRef t = LLVMInt32TypeInContext(g->c);
    return g->lanes == 1 ? t : LLVMVectorType(t, (unsigned)g->lanes);
}

LLVMValueRef hd_jit_const(const struct hd_jit_gen *g, double v) {
    LLVMValueRef one = LLVMConstReal(LLVMFloatTypeInContext(g->c), v), all[64];
    if (g->lanes == 1) return one;
    for (int i = 0; i < g->lanes; i++) all[i] = one;
    return LLVMConstVector(all, (unsigned)g->lanes);
}

LLVMValueRef hd_jit_call(const struct hd_jit_gen *g, const char *name, LLVMValueRef a) {
    LLVMTypeRef t = LLVMTypeOf(a);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->m, id, &t, 1);
    return LLVMBuildCall2(g->b, LLVMIntrinsicGetType(g->c, id, &t, 1), f, &a, 1, "");
}

/* The same value in every lane. */
static LLVMValueRef splat(const struct hd_jit_gen *g, LLVMValueRef v) {
    if (g->lanes == 1) return v;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(g->c);
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(v), (unsigned)g->lanes);
    LLVMValueRef one =
        LLVMBuildInsertElement(g->b, LLVMGetUndef(t), v, LLVMConstInt(i32, 0, 0), "");
    return LLVMBuildShuffleVector(g->b, one, LLVMGetUndef(t),
                                  LLVMConstNull(LLVMVectorType(i32, (unsigned)g->lanes)), "");
}

static LLVMValueRef at(const struct hd_jit_gen *g, LLVMTypeRef elem, LLVMValueRef p,
                       LLVMValueRef i) {
    return LLVMBuildGEP2(g->b, elem, p, &i, 1, "");
}

static LLVMTypeRef lane_type(const struct hd_jit_gen *g, LLVMTypeRef t) {
    return g->lanes == 1 ? t : LLVMVectorType(t, (unsigned)g->lanes);
}

/* Elements j .. j + lanes of pointer i. */
static LLVMValueRef load(struct row *r, const struct hd_jit_ins *k, LLVMValueRef j) {
    const struct hd_jit_gen *g = r->g;
    bool truth = k->op == HD_JIT_LOAD_TRUTH;
    LLVMTypeRef elem = truth ? LLVMInt8TypeInContext(g->c) : LLVMFloatTypeInContext(g->c);
    LLVMTypeRef t = lane_type(g, elem), i64 = LLVMInt64TypeInContext(g->c);
    LLVMValueRef v;
    if (g->p->strided[k->ptr] && g->lanes > 1) {
        v = LLVMGetUndef(t);
        for (int l = 0; l < g->lanes; l++) {
            LLVMValueRef i = LLVMBuildAdd(g->b, j, LLVMConstInt(i64, (unsigned)l, 0), "");
            i = LLVMBuildMul(g->b, i, r->step[k->ptr], "");
            LLVMValueRef one = LLVMBuildLoad2(g->b, elem, at(g, elem, r->ptr[k->ptr], i), "");
            v = LLVMBuildInsertElement(
                g->b, v, one, LLVMConstInt(LLVMInt32TypeInContext(g->c), (unsigned)l, 0), "");
        }
    } else {
        if (g->p->strided[k->ptr]) j = LLVMBuildMul(g->b, j, r->step[k->ptr], "");
        v = LLVMBuildLoad2(g->b, t, at(g, elem, r->ptr[k->ptr], j), "");
        LLVMSetAlignment(v, truth ? 1 : ALIGN_F32);
    }
    if (!truth) return v;
    return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(t), "");
}

static void store(struct row *r, const struct hd_jit_ins *k, LLVMValueRef v, LLVMValueRef j) {
    const struct hd_jit_gen *g = r->g;
    bool truth = k->op == HD_JIT_STORE_TRUTH;
    LLVMTypeRef elem = truth ? LLVMInt8TypeInContext(g->c) : LLVMFloatTypeInContext(g->c);
    if (truth) v = LLVMBuildZExt(g->b, v, lane_type(g, elem), "");
    LLVMSetAlignment(LLVMBuildStore(g->b, v, at(g, elem, r->ptr[k->ptr], j)),
                     truth ? 1 : ALIGN_F32);
}

/* LLVM's function of one operand, or NULL. */
static const char *intrinsic_of(enum hd_jit_op op) {
    switch (op) {
    case HD_JIT_ABS:
        return "llvm.fabs";
    case HD_JIT_SQRT:
        return "llvm.sqrt";
    case HD_JIT_FLOOR:
        return "llvm.floor";
    case HD_JIT_CEIL:
        return "llvm.ceil";
    case HD_JIT_ROUND:
        return "llvm.rint";
    default:
        return NULL;
    }
}

static LLVMValueRef compute(struct row *r, const struct hd_jit_ins *k, LLVMValueRef a,
                            LLVMValueRef b, LLVMValueRef c) {
    const struct hd_jit_gen *g = r->g;
    LLVMBuilderRef bb = g->b;
    if (intrinsic_of(k->op)) return hd_jit_call(g, intrinsic_of(k->op), a);
    switch (k->op) {
    case HD_JIT_CONST:
        return hd_jit_const(g, (double)k->imm);
    case HD_JIT_ADD:
        return LLVMBuildFAdd(bb, a, b, "");
    case HD_JIT_SUB:
        return LLVMBuildFSub(bb, a, b, "");
    case HD_JIT_MUL:
        return LLVMBuildFMul(bb, a, b, "");
    case HD_JIT_DIV:
        return LLVMBuildFDiv(bb, a, b, "");
    case HD_JIT_MAX: /* not (a <= b): true for NaN, too; a NaN b is taken only when a is a number */
        c = LLVMBuildFCmp(bb, LLVMRealOGT, a, b, "");
        c = LLVMBuildOr(bb, c, LLVMBuildFCmp(bb, LLVMRealUNO, a, a, ""), "");
        return LLVMBuildSelect(bb, c, a, b, "");
    case HD_JIT_MIN:
        c = LLVMBuildFCmp(bb, LLVMRealOLT, a, b, "");
        c = LLVMBuildOr(bb, c, LLVMBuildFCmp(bb, LLVMRealUNO, a, a, ""), "");
        return LLVMBuildSelect(bb, c, a, b, "");
    case HD_JIT_NEG:
        return LLVMBuildFNeg(bb, a, "");
    case HD_JIT_EXP:
        return hd_jit_exp(g, a);
    case HD_JIT_LOG:
        return hd_jit_log(g, a);
    case HD_JIT_TANH:
        return hd_jit_tanh(g, a);
    case HD_JIT_SIGMOID:
        return hd_jit_sigmoid(g, a);
    case HD_JIT_ERF:
        return hd_jit_erf(g, a);
    case HD_JIT_LESS:
        return LLVMBuildFCmp(bb, LLVMRealOLT, a, b, "");
    case HD_JIT_LESS_EQUAL:
        return LLVMBuildFCmp(bb, LLVMRealOLE, a, b, "");
    case HD_JIT_EQUAL:
        return LLVMBuildFCmp(bb, LLVMRealOEQ, a, b, "");
    case HD_JIT_AND:
        return LLVMBuildAnd(bb, a, b, "");
    case HD_JIT_OR:
        return LLVMBuildOr(bb, a, b, "");
    case HD_JIT_XOR:
        return LLVMBuildXor(bb, a, b, "");
    case HD_JIT_NOT:
        return LLVMBuildNot(bb, a, "");
    default:
        return LLVMBuildSelect(bb, a, b, c, "");
    }
}

/* ---- phases --------------------------------------------------------------------------------- */

static int operand(const struct hd_jit_ins *k, int i) {
    return i == 0 ? k->a : i == 1 ? k->b : k->c;
}

static void find_phases(struct row *r) {
    const struct hd_jit_program *p = r->g->p;
    r->n_phases = 1;
    for (int i = 0; i < p->n_ins; i++) {
        const struct hd_jit_ins *k = &p->ins[i];
        int phase = 0;
        for (int o = 0; o < n_operands(k->op); o++) {
            int from = operand(k, o);
            if (r->phase[from] > phase) phase = r->phase[from];
        }
        /* row values of a reduction are known behind its phase */
        r->phase[i] = is_reduction(k->op) ? phase + 1 : phase;
        int made = is_reduction(k->op) ? phase : k->row ? -1 : phase; /* in the loop of it */
        if (made + 1 > r->n_phases) r->n_phases = made + 1;
        int reads = is_reduction(k->op) ? phase : r->phase[i];
        for (int o = 0; o < n_operands(k->op); o++)
            if (r->last[operand(k, o)] < reads) r->last[operand(k, o)] = reads;
    }
}

/* Arrays of scratch, one for each value that has to be kept. */
static int keep_slots(const struct row *r, int *slot) {
    const struct hd_jit_program *p = r->g->p;
    int n = 0;
    for (int i = 0; i < p->n_ins; i++) {
        const struct hd_jit_ins *k = &p->ins[i];
        bool element = !k->row && !is_reduction(k->op) && !is_store(k->op);
        bool loaded = k->op == HD_JIT_LOAD || k->op == HD_JIT_LOAD_TRUTH;
        slot[i] = element && !loaded && r->last[i] > r->phase[i] ? n++ : -1;
    }
    return n;
}

int hd_jit_slots(const struct hd_jit_program *p) {
    struct hd_jit_gen g = {.p = p};
    struct row r = {.g = &g};
    int slot[HD_JIT_INS];
    find_phases(&r);
    return keep_slots(&r, slot);
}

/* An operand as this phase has it: from this phase, a row's value, or kept from before. */
static LLVMValueRef fetch(struct row *r, LLVMValueRef *here, int i, LLVMValueRef j) {
    const struct hd_jit_gen *g = r->g;
    const struct hd_jit_ins *k = &g->p->ins[i];
    if (k->row || is_reduction(k->op)) return g->lanes == 1 ? r->value[i] : r->wide[i];
    if (here[i]) return here[i];
    if (k->op == HD_JIT_LOAD || k->op == HD_JIT_LOAD_TRUTH) return here[i] = load(r, k, j);
    LLVMTypeRef f = LLVMFloatTypeInContext(g->c);
    LLVMValueRef v = LLVMBuildLoad2(g->b, hd_jit_f32(g), at(g, f, r->keep[i], j), "");
    LLVMSetAlignment(v, ALIGN_F32);
    if (is_truth(k->op)) v = LLVMBuildFCmp(g->b, LLVMRealONE, v, hd_jit_const(g, 0), "");
    return here[i] = v;
}

static void keep_value(struct row *r, int i, LLVMValueRef v, LLVMValueRef j) {
    const struct hd_jit_gen *g = r->g;
    if (is_truth(g->p->ins[i].op)) v = LLVMBuildUIToFP(g->b, v, hd_jit_f32(g), "");
    LLVMSetAlignment(LLVMBuildStore(g->b, v, at(g, LLVMFloatTypeInContext(g->c), r->keep[i], j)),
                     ALIGN_F32);
}

static LLVMValueRef reduce_step(const struct hd_jit_gen *g, int op, LLVMValueRef acc,
                                LLVMValueRef v) {
    if (op == HD_JIT_ROW_SUM) return LLVMBuildFAdd(g->b, acc, v, "");
    LLVMRealPredicate keep = op == HD_JIT_ROW_MAX ? LLVMRealOGT : LLVMRealOLT;
    LLVMValueRef c = LLVMBuildFCmp(g->b, keep, acc, v, "");
    c = LLVMBuildOr(g->b, c, LLVMBuildFCmp(g->b, LLVMRealUNO, acc, acc, ""), "");
    return LLVMBuildSelect(g->b, c, acc, v, "");
}

/* Element values of one phase for lanes j ... */
static void body(struct row *r, int phase, LLVMValueRef j, bool vector) {
    const struct hd_jit_gen *g = r->g;
    const struct hd_jit_program *p = g->p;
    LLVMValueRef here[HD_JIT_INS] = {0};
    for (int i = 0; i < p->n_ins; i++) {
        const struct hd_jit_ins *k = &p->ins[i];
        if (is_reduction(k->op)) {
            if (r->phase[i] - 1 != phase) continue;
            LLVMValueRef slot = r->acc[2 * i + !vector];
            LLVMValueRef acc = LLVMBuildLoad2(g->b, hd_jit_f32(g), slot, "");
            LLVMBuildStore(g->b, reduce_step(g, k->op, acc, fetch(r, here, k->a, j)), slot);
            continue;
        }
        if (k->row || r->phase[i] != phase) continue;
        if (k->op == HD_JIT_LOAD || k->op == HD_JIT_LOAD_TRUTH) continue; /* when it is read */
        if (is_store(k->op)) {
            store(r, k, fetch(r, here, k->a, j), j);
            continue;
        }
        int n = n_operands(k->op);
        here[i] =
            compute(r, k, n > 0 ? fetch(r, here, k->a, j) : NULL,
                    n > 1 ? fetch(r, here, k->b, j) : NULL, n > 2 ? fetch(r, here, k->c, j) : NULL);
        if (r->last[i] > phase) keep_value(r, i, here[i], j);
    }
}

/* for (j = from; j < to; j += lanes) body */
static void loop(struct row *r, int phase, LLVMValueRef from, LLVMValueRef to, bool vector) {
    struct hd_jit_gen *g = r->g;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(g->c);
    g->lanes = vector ? g->width : 1;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBasicBlockRef in = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef j = LLVMBuildPhi(g->b, i64, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, j, to, ""), in, out);
    LLVMPositionBuilderAtEnd(g->b, in);
    body(r, phase, j, vector);
    LLVMValueRef next = LLVMBuildAdd(g->b, j, LLVMConstInt(i64, (unsigned)g->lanes, 0), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(j, (LLVMValueRef[]){from, next}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMPositionBuilderAtEnd(g->b, out);
    g->lanes = 1;
}

/* Row values that are known once `phase` begins. */
static void row_values(struct row *r, int phase) {
    struct hd_jit_gen *g = r->g;
    const struct hd_jit_program *p = g->p;
    LLVMValueRef zero = LLVMConstInt(LLVMInt64TypeInContext(g->c), 0, 0);
    for (int i = 0; i < p->n_ins; i++) {
        const struct hd_jit_ins *k = &p->ins[i];
        if (r->phase[i] != phase || (!k->row && !is_reduction(k->op))) continue;
        if (is_reduction(k->op)) {
            g->lanes = g->width;
            LLVMValueRef v = LLVMBuildLoad2(g->b, hd_jit_f32(g), r->acc[2 * i], "");
            g->lanes = 1;
            LLVMValueRef y = LLVMBuildLoad2(g->b, hd_jit_f32(g), r->acc[2 * i + 1], "");
            for (int w = g->width / 2; w >= 1; w /= 2) { /* halves onto each other */
                LLVMTypeRef i32 = LLVMInt32TypeInContext(g->c);
                LLVMValueRef lo[64], hi[64];
                for (int l = 0; l < w; l++) {
                    lo[l] = LLVMConstInt(i32, (unsigned)l, 0);
                    hi[l] = LLVMConstInt(i32, (unsigned)(l + w), 0);
                }
                LLVMValueRef none = LLVMGetUndef(LLVMTypeOf(v));
                LLVMValueRef a =
                    LLVMBuildShuffleVector(g->b, v, none, LLVMConstVector(lo, (unsigned)w), "");
                LLVMValueRef b =
                    LLVMBuildShuffleVector(g->b, v, none, LLVMConstVector(hi, (unsigned)w), "");
                v = reduce_step(g, k->op, a, b);
            }
            v = LLVMBuildExtractElement(g->b, v, LLVMConstInt(LLVMInt32TypeInContext(g->c), 0, 0),
                                        "");
            r->value[i] = reduce_step(g, k->op, v, y);
        } else if (is_store(k->op)) {
            store(r, k, r->value[k->a], zero);
            continue;
        } else if (k->op == HD_JIT_LOAD || k->op == HD_JIT_LOAD_TRUTH) {
            r->value[i] = load(r, k, zero);
        } else {
            int n = n_operands(k->op);
            r->value[i] = compute(r, k, n > 0 ? r->value[k->a] : NULL,
                                  n > 1 ? r->value[k->b] : NULL, n > 2 ? r->value[k->c] : NULL);
        }
        g->lanes = g->width;
        r->wide[i] = splat(g, r->value[i]);
        g->lanes = 1;
    }
}

/* Every row: pointers advanced, accumulators cleared, phases. */
static void one_row(struct row *r) {
    struct hd_jit_gen *g = r->g;
    const struct hd_jit_program *p = g->p;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(g->c);
    for (int i = 0; i < p->n_ins; i++) {
        int op = p->ins[i].op;
        if (!is_reduction(op)) continue;
        double start = op == HD_JIT_ROW_SUM ? 0 : op == HD_JIT_ROW_MAX ? -1.0 / 0.0 : 1.0 / 0.0;
        LLVMBuildStore(g->b, hd_jit_const(g, start), r->acc[2 * i + 1]);
        g->lanes = g->width;
        LLVMBuildStore(g->b, hd_jit_const(g, start), r->acc[2 * i]);
        g->lanes = 1;
    }
    LLVMValueRef whole =
        LLVMBuildAnd(g->b, r->n, LLVMConstInt(i64, ~(unsigned long long)(g->width - 1), 1), "");
    for (int phase = 0; phase < r->n_phases; phase++) {
        row_values(r, phase);
        loop(r, phase, LLVMConstInt(i64, 0, 0), whole, true);
        loop(r, phase, whole, r->n, false);
    }
    row_values(r, r->n_phases);
}

void hd_jit_generate(struct hd_jit_gen *g, const char *name) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(g->c, 0), i64 = LLVMInt64TypeInContext(g->c);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(g->c), f32 = LLVMFloatTypeInContext(g->c);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->c),
                                        (LLVMTypeRef[]){ptr, ptr, ptr, i64, i64, ptr}, 6, 0);
    const struct hd_jit_program *p = g->p;
    struct row r = {.g = g};
    g->lanes = 1;
    g->fn = LLVMAddFunction(g->m, name, type);
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->c, g->fn, ""));
    r.n = LLVMGetParam(g->fn, 4);
    find_phases(&r);
    LLVMValueRef base[HD_JIT_PTRS], row_step[HD_JIT_PTRS];
    for (int i = 0; i < p->n_ptrs; i++) {
        LLVMValueRef k = LLVMConstInt(i64, (unsigned)i, 0);
        base[i] = LLVMBuildLoad2(g->b, ptr, at(g, ptr, LLVMGetParam(g->fn, 0), k), "");
        row_step[i] = LLVMBuildLoad2(g->b, i64, at(g, i64, LLVMGetParam(g->fn, 1), k), "");
        r.step[i] = LLVMBuildLoad2(g->b, i64, at(g, i64, LLVMGetParam(g->fn, 2), k), "");
    }
    LLVMValueRef room = LLVMBuildAdd(g->b, r.n, LLVMConstInt(i64, HD_JIT_PAD, 0), "");
    int slot[HD_JIT_INS];
    keep_slots(&r, slot);
    for (int i = 0; i < p->n_ins; i++) {
        LLVMValueRef off = LLVMBuildMul(g->b, room, LLVMConstInt(i64, (unsigned)slot[i], 0), "");
        if (slot[i] >= 0) r.keep[i] = at(g, f32, LLVMGetParam(g->fn, 5), off);
        if (!is_reduction(p->ins[i].op)) continue;
        g->lanes = g->width;
        r.acc[2 * i] = LLVMBuildAlloca(g->b, hd_jit_f32(g), "");
        g->lanes = 1;
        r.acc[2 * i + 1] = LLVMBuildAlloca(g->b, f32, "");
    }
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBasicBlockRef in = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(g->c, g->fn, "");
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef i = LLVMBuildPhi(g->b, i64, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, i, LLVMGetParam(g->fn, 3), ""), in, out);
    LLVMPositionBuilderAtEnd(g->b, in);
    for (int k = 0; k < p->n_ptrs; k++)
        r.ptr[k] = at(g, i8, base[k], LLVMBuildMul(g->b, i, row_step[k], ""));
    one_row(&r);
    LLVMValueRef next = LLVMBuildAdd(g->b, i, LLVMConstInt(i64, 1, 0), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(i, (LLVMValueRef[]){LLVMConstInt(i64, 0, 0), next},
                    (LLVMBasicBlockRef[]){entry, end}, 2);
    LLVMPositionBuilderAtEnd(g->b, out);
    LLVMBuildRetVoid(g->b);
}
