/* The LLVM plugin of device cpu: programs (jit_api.h) to machine code, through LLVM's C interface.
 *
 * It is a plugin so that libLLVM (50 MB, 20 to 80 ms to load) is opened only by who needs it, and
 * so that its symbols stay apart from another LLVM in the process (OpenCL drivers bring theirs).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "cpu_ref/jit_int.h"

/* No loop passes beside what these loops need: they are vectors already. */
#define PASSES "function(early-cse,instcombine,sroa,loop-mssa(licm),instcombine,simplifycfg)"

struct entry {
    struct hd_jit_program p;
    hd_jit_fn fn;
    struct entry *next;
};

struct engine {
    LLVMOrcLLJITRef jit;
    LLVMTargetMachineRef machine;
    char *cpu, *features;
    int width; /* floats of a vector: two registers */
    struct entry *cache;
    int n;
    char why[256];
};

static void engine_close(void *p);

static bool failed(struct engine *e, LLVMErrorRef error, const char *what) {
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    snprintf(e->why, sizeof e->why, "LLVM: %s: %s", what, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

static LLVMTargetMachineRef machine(const struct engine *e) {
    LLVMTargetRef target;
    char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
    LLVMTargetMachineRef m = NULL;
    if (!LLVMGetTargetFromTriple(triple, &target, &why))
        m = LLVMCreateTargetMachine(target, triple, e->cpu, e->features, LLVMCodeGenLevelDefault,
                                    LLVMRelocDefault, LLVMCodeModelJITDefault);
    LLVMDisposeMessage(triple);
    if (why) LLVMDisposeMessage(why);
    return m;
}

static void *engine_open(void) {
    struct engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    if (LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter()) {
        free(e);
        return NULL;
    }
    e->cpu = LLVMGetHostCPUName();
    e->features = LLVMGetHostCPUFeatures(); /* the name may be wrong in a virtual machine */
    e->width = strstr(e->features, "+avx512f") ? 32 : strstr(e->features, "+avx") ? 16 : 8;
    e->machine = machine(e);
    LLVMTargetMachineRef own = machine(e);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    if (own)
        LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
            builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(own));
    if (!e->machine || !own || failed(e, LLVMOrcCreateLLJIT(&e->jit, builder), "start")) {
        engine_close(e);
        return NULL;
    }
    return e;
}

static void engine_close(void *p) {
    struct engine *e = p;
    if (e->jit) LLVMConsumeError(LLVMOrcDisposeLLJIT(e->jit));
    if (e->machine) LLVMDisposeTargetMachine(e->machine);
    if (e->cpu) LLVMDisposeMessage(e->cpu);
    if (e->features) LLVMDisposeMessage(e->features);
    while (e->cache) {
        struct entry *next = e->cache->next;
        free(e->cache);
        e->cache = next;
    }
    free(e);
}

static void set_attributes(struct hd_jit_gen *g, const struct engine *e) {
    const char *text[][2] = {
        {"target-cpu", e->cpu}, {"target-features", e->features}, {"prefer-vector-width", "512"}};
    for (int i = 0; i < 3; i++)
        LLVMAddAttributeAtIndex(g->fn, LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(g->c, text[i][0],
                                                          (unsigned)strlen(text[i][0]), text[i][1],
                                                          (unsigned)strlen(text[i][1])));
}

static hd_jit_fn build(struct engine *e, const struct hd_jit_program *p) {
    char name[32];
    snprintf(name, sizeof name, "loop%d", e->n++);
    LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContext();
    LLVMContextRef c = LLVMOrcThreadSafeContextGetContext(safe);
    struct hd_jit_gen g = {.c = c,
                           .m = LLVMModuleCreateWithNameInContext(name, c),
                           .b = LLVMCreateBuilderInContext(c),
                           .p = p,
                           .width = e->width};
    char *triple = LLVMGetTargetMachineTriple(e->machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
    LLVMSetTarget(g.m, triple);
    LLVMSetModuleDataLayout(g.m, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    hd_jit_generate(&g, name);
    set_attributes(&g, e);
    LLVMDisposeBuilder(g.b);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bool bad = failed(e, LLVMRunPasses(g.m, PASSES, e->machine, options), "passes");
    LLVMDisposePassBuilderOptions(options);
    LLVMOrcThreadSafeModuleRef tsm = LLVMOrcCreateNewThreadSafeModule(g.m, safe);
    LLVMOrcDisposeThreadSafeContext(safe);
    if (bad) {
        LLVMOrcDisposeThreadSafeModule(tsm);
        return NULL;
    }
    LLVMOrcExecutorAddress at = 0;
    if (failed(e, LLVMOrcLLJITAddLLVMIRModule(e->jit, LLVMOrcLLJITGetMainJITDylib(e->jit), tsm),
               "add") ||
        failed(e, LLVMOrcLLJITLookup(e->jit, &at, name), "code generation"))
        return NULL;
    return (hd_jit_fn)(uintptr_t)at;
}

static hd_jit_fn compile(void *engine, const struct hd_jit_program *p, const char **why) {
    struct engine *e = engine;
    for (struct entry *k = e->cache; k; k = k->next)
        if (!memcmp(&k->p, p, sizeof *p)) return k->fn;
    struct entry *k = calloc(1, sizeof *k);
    *why = e->why;
    if (!k) return NULL;
    k->p = *p;
    k->fn = build(e, p);
    if (!k->fn) {
        free(k);
        return NULL;
    }
    k->next = e->cache;
    e->cache = k;
    return k->fn;
}

/* ---- text ----------------------------------------------------------------------------------- */

#define TEXT_PASSES "default<O2>"

static LLVMModuleRef parse(struct engine *e, LLVMContextRef c, const char *text) {
    char *why = NULL;
    LLVMModuleRef m = NULL;
    size_t room = strlen(text) + strlen(e->cpu) + strlen(e->features) + 256;
    char *all = malloc(room);
    if (!all) return NULL;
    snprintf(all, room,
             "%s\nattributes #0 = { nounwind \"target-cpu\"=\"%s\" \"target-features\"=\"%s\" "
             "\"prefer-vector-width\"=\"512\" }\n",
             text, e->cpu, e->features);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(all, strlen(all), "loops");
    if (LLVMParseIRInContext(c, buffer, &m, &why)) {
        snprintf(e->why, sizeof e->why, "LLVM: parse: %s", why);
        LLVMDisposeMessage(why);
        m = NULL;
    }
    free(all);
    return m;
}

static bool build_text(void *engine, const char *text, const char **why) {
    struct engine *e = engine;
    LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContext();
    LLVMModuleRef m = parse(e, LLVMOrcThreadSafeContextGetContext(safe), text);
    *why = e->why;
    if (!m) {
        LLVMOrcDisposeThreadSafeContext(safe);
        return false;
    }
    char *triple = LLVMGetTargetMachineTriple(e->machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
    LLVMSetTarget(m, triple);
    LLVMSetModuleDataLayout(m, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0); /* vectors are chosen */
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
    bool bad = failed(e, LLVMRunPasses(m, TEXT_PASSES, e->machine, options), "passes");
    LLVMDisposePassBuilderOptions(options);
    LLVMOrcThreadSafeModuleRef tsm = LLVMOrcCreateNewThreadSafeModule(m, safe);
    LLVMOrcDisposeThreadSafeContext(safe);
    if (!bad)
        return !failed(
            e, LLVMOrcLLJITAddLLVMIRModule(e->jit, LLVMOrcLLJITGetMainJITDylib(e->jit), tsm),
            "add");
    LLVMOrcDisposeThreadSafeModule(tsm);
    return false;
}

static void *find(void *engine, const char *function) {
    struct engine *e = engine;
    LLVMOrcExecutorAddress at = 0;
    if (failed(e, LLVMOrcLLJITLookup(e->jit, &at, function), "code generation")) return NULL;
    return (void *)(uintptr_t)at;
}

static int lanes(void *engine) {
    return ((struct engine *)engine)->width / 2;
}

static bool has(const struct engine *e, const char *feature) {
    size_t n = strlen(feature);
    for (const char *p = e->features; (p = strstr(p, feature)); p += n)
        if (p > e->features && p[-1] == '+' && (p[n] == ',' || !p[n])) return true;
    return false;
}

static int vnni(void *engine) {
    if (has(engine, "avx512vnni") && has(engine, "avx512vl")) return 16;
    return has(engine, "avxvnni") ? 8 : 0;
}

static const char *processor(void *engine) {
    return ((struct engine *)engine)->cpu;
}

extern const struct hd_jit_api hd_jit_api_table;
const struct hd_jit_api hd_jit_api_table = {.version = HD_JIT_API,
                                            .open = engine_open,
                                            .close = engine_close,
                                            .compile = compile,
                                            .build = build_text,
                                            .find = find,
                                            .lanes = lanes,
                                            .vnni = vnni,
                                            .processor = processor,
                                            .slots = hd_jit_slots};
