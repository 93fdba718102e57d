/* NVRTC by g++. Part of cuda_stand_in.h. */
#ifndef HD_TEST_GPU_NVRTC_STAND_IN_H
#define HD_TEST_GPU_NVRTC_STAND_IN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/gpu/emu.h"

struct emu_program {
    char *source, path[64];
};
int nvrtcVersion(int *out_major, int *out_minor);
int nvrtcVersion(int *out_major, int *out_minor) {
    *out_major = 0; /* what it compiles is for nobody else */
    *out_minor = (int)getpid();
    return 0;
}
int nvrtcGetNumSupportedArchs(int *out);
int nvrtcGetNumSupportedArchs(int *out) {
    *out = 2;
    return 0;
}
int nvrtcGetSupportedArchs(int *out);
int nvrtcGetSupportedArchs(int *out) {
    out[0] = 75;
    out[1] = 90;
    return 0;
}
int nvrtcCreateProgram(void **out, const char *text, const char *name, int n,
                       const char *const *headers, const char *const *names);
int nvrtcCreateProgram(void **out, const char *text, const char *name, int n,
                       const char *const *headers, const char *const *names) {
    EMU_CALL();
    (void)name, (void)n, (void)headers, (void)names;
    struct emu_program *p = calloc(1, sizeof *p);
    p->source = strdup(text);
    emu.live++;
    *out = p;
    return 0;
}
int nvrtcCompileProgram(void *program, int n, const char *const *options);
int nvrtcCompileProgram(void *program, int n, const char *const *options) {
    EMU_CALL();
    struct emu_program *p = program;
    char command[400];
    for (int i = 0; i < n; i++)
        if (!strcmp(options[i], "--fmad=true")) emu_wrong("contraction");
    snprintf(p->path, sizeof p->path, "/tmp/hd_emu_%d_%d.so", (int)getpid(), ++emu.compilations);
    snprintf(command, sizeof command,
             "g++ -x c++ -O1 -w -fPIC -shared -ffp-contract=off -include test/gpu/cuda_shim.hh -o "
             "%s - 2> %s.log",
             p->path, p->path);
    FILE *f = popen(command, "w");
    fputs(p->source, f);
    return pclose(f) ? 6 : 0;
}
int nvrtcGetProgramLogSize(void *program, size_t *out);
int nvrtcGetProgramLogSize(void *program, size_t *out) {
    (void)program;
    *out = 1500;
    return 0;
}
int nvrtcGetProgramLog(void *program, char *out);
int nvrtcGetProgramLog(void *program, char *out) {
    char path[80];
    snprintf(path, sizeof path, "%s.log", ((struct emu_program *)program)->path);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, 1499, f) : 0;
    out[n] = 0;
    if (f) fclose(f);
    return 0;
}
int nvrtcGetCUBINSize(void *program, size_t *out);
int nvrtcGetCUBINSize(void *program, size_t *out) {
    const struct emu_program *p = program;
    EMU_CALL();
    *out = strlen(p->path) + strlen(p->source) + 2;
    return 0;
}
int nvrtcGetCUBIN(void *program, char *out);
int nvrtcGetCUBIN(void *program, char *out) {
    const struct emu_program *p = program;
    EMU_CALL();
    strcpy(out, p->path);
    strcpy(out + strlen(p->path) + 1, p->source);
    return 0;
}
int nvrtcGetPTXSize(void *program, size_t *out);
int nvrtcGetPTXSize(void *program, size_t *out) {
    return nvrtcGetCUBINSize(program, out);
}
int nvrtcGetPTX(void *program, char *out);
int nvrtcGetPTX(void *program, char *out) {
    return nvrtcGetCUBIN(program, out);
}
int nvrtcDestroyProgram(void **program);
int nvrtcDestroyProgram(void **program) {
    struct emu_program *p = *program;
    free(p->source);
    free(p);
    emu.live--;
    return 0;
}

#endif
