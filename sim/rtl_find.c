/* The Verilated models: shared objects, one for each machine.
 *
 * Looked for in $HEDDLE_RTL_DIR, else in the folder `rtl` beside the program or beside the library
 * that holds this code, else where `make install` puts it, heddle/rtl beside the libraries:
 * libhd_rtl_NAME.so for a named machine, libhd_rtl_HASH.so for any other. Where the program lies in
 * the repository's build folder, the Makefile there builds what is missing and what is older than
 * its sources: it alone knows what a model is made of. A folder that $HEDDLE_RTL_DIR names is taken
 * as it is. Waveforms (--wave) are made by a second model that keeps every signal, in the folder
 * `rtl-wave` beside `rtl`. */
#include "sim/rtl_find.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/io.h"

enum { PATH_BYTES = 2048 };

/* ---- where the models are ------------------------------------------------------------------- */

/* Folder of the running program, without the slash; false when the system does not say. */
static bool program_folder(char *out) {
    ssize_t n = readlink("/proc/self/exe", out, PATH_BYTES - 1);
    if (n <= 0) return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (!slash) return false;
    *slash = 0;
    return true;
}

/* The folder above `out` that is the repository. */
static bool climb(char *out) {
    char probe[PATH_BYTES + 16];
    if (strlen(out) + 8 > PATH_BYTES) return false;
    for (int up = 0; up < 6; up++) { /* build/MODE, and build/MODE/test/NAME */
        snprintf(probe, sizeof probe, "%s/hw/rules.mk", out);
        if (access(probe, R_OK) == 0) return true;
        char *slash = strrchr(out, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return false;
}

/* Root of the repository, when the program, or the library, lies in its build/MODE. */
static bool repository(char *out) {
    return (program_folder(out) && climb(out)) ||
           (hd_library_folder(out, PATH_BYTES) && climb(out));
}

/* What make builds into when this user cannot write build/ of the repository: a folder in his
 * cache, named after the repository. False: he can, or there is no repository. */
static bool cache_folder(char *out) {
    char root[PATH_BYTES], build[PATH_BYTES + 8];
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (!repository(root)) return false;
    snprintf(build, sizeof build, "%s/build", root);
    if (access(build, W_OK) == 0) return false;
    for (char *p = root; *p; p++)
        if (*p == '/') *p = '%';
    bool has_xdg = xdg && *xdg == '/'; /* the XDG rules: a relative one does not count */
    if (!has_xdg && !(home && *home)) return false;
    int n = snprintf(out, PATH_BYTES, "%s%s/heddle/%s", has_xdg ? xdg : home,
                     has_xdg ? "" : "/.cache", root);
    return n > 0 && n < PATH_BYTES;
}

enum { BESIDE_PROGRAM, IN_CACHE, PREFIX_OF_PROGRAM, BESIDE_LIBRARY, IN_PACKAGE, PLACES };

static bool model_folder(int place, bool waves, char *out) {
    static const char *const below[PLACES] = {"/rtl", "/rtl", "/../lib/heddle/rtl", "/heddle/rtl",
                                              "/rtl"};
    const char *dir = getenv("HEDDLE_RTL_DIR");
    if (dir && *dir)
        return place == BESIDE_PROGRAM && snprintf(out, PATH_BYTES, "%s", dir) < PATH_BYTES;
    bool known = place == BESIDE_LIBRARY || place == IN_PACKAGE ? hd_library_folder(out, PATH_BYTES)
                 : place == IN_CACHE                            ? cache_folder(out)
                                                                : program_folder(out);
    if (!known) return false;
    size_t n = strlen(out);
    return snprintf(out + n, PATH_BYTES - n, "%s%s", below[place], waves ? "-wave" : "") <
           (int)(PATH_BYTES - n);
}

/* Name under which the table has this machine; NULL = it is not in the table. */
static const char *table_name(const struct hd_machine *m) {
    for (int i = 0; i < hd_n_machines; i++)
        if (hd_machine_hash(m) == hd_machine_hash(&hd_machines[i])) return hd_machines[i].name;
    return NULL;
}

/* File name of the machine's model; a machine is known by what it is, not by what it is called.
 * Where there is none, the first place that it could be in. */
static bool model_path(const struct hd_machine *m, bool waves, char *out) {
    char folder[PATH_BYTES], file[48];
    const char *name = table_name(m);
    bool found = false;
    if (name)
        snprintf(file, sizeof file, "libhd_rtl_%s.so", name);
    else
        snprintf(file, sizeof file, "libhd_rtl_%08" PRIx32 ".so", hd_machine_hash(m));
    for (int place = PLACES - 1; place >= 0; place--) {
        char path[PATH_BYTES + 64];
        if (!model_folder(place, waves, folder)) continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, file);
        if (n < 0 || n >= PATH_BYTES) continue;
        bool goes_here = place == BESIDE_PROGRAM || place == IN_CACHE || place == IN_PACKAGE;
        if (!goes_here && access(path, R_OK) != 0) continue;
        if (place == BESIDE_PROGRAM && found && access(path, R_OK) != 0) continue;
        memcpy(out, path, (size_t)n + 1);
        found = true;
    }
    return found;
}

static void machine_args(const struct hd_machine *m, char *out, size_t bytes) {
    size_t at = (size_t)snprintf(out, bytes, "MACHINE_ARGS=base");
    for (int i = 0; i < hd_n_machine_params && at < bytes; i++) {
        uint32_t v;
        memcpy(&v, (const char *)m + hd_machine_params[i].offset, sizeof v);
        at += (size_t)snprintf(out + at, bytes - at, " %s=%" PRIu32, hd_machine_params[i].name, v);
    }
}

enum made { MADE, NO_MAKE, NOT_MADE };

/* Brings a model up to date with the repository's Makefile (80 ms when there is nothing to do: it
 * does not read which object file needs which header).
 * make says on stderr what it builds. */
static enum made build_model(const struct hd_machine *m, bool waves, const char *path) {
    char root[PATH_BYTES], target[64] = "rtl-custom", args[1024] = "", out[PATH_BYTES + 8] = "";
    const char *kind = waves ? "rtl-wave" : "rtl";
    char custom[32];
    char cache[PATH_BYTES], where[PATH_BYTES + 16] = "BUILD_DIR=build";
    if (getenv("HEDDLE_RTL_DIR") && access(path, R_OK) == 0) return MADE;
    if (!repository(root)) return NO_MAKE;
    if (table_name(m)) {
        snprintf(target, sizeof target, "%s-%s", kind, table_name(m));
    } else {
        machine_args(m, args, sizeof args);
        snprintf(out, sizeof out, "OUT=%s", path);
    }
    bool read_only = cache_folder(cache);
    if (read_only && strncmp(path, cache, strlen(cache)) && access(path, R_OK) == 0) return MADE;
    if (read_only) snprintf(where, sizeof where, "BUILD_DIR=%s", cache);
    snprintf(custom, sizeof custom, "RTL_KIND=%s", kind);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        unsetenv("MAKEFLAGS"); /* a make that runs this program is none of its business */
        execlp("make", "make", "-s", "-C", root, target, where, custom, "MODELS_ONLY=1",
               args[0] ? args : (char *)NULL, out, (char *)NULL);
        _exit(127);
    }
    int status;
    if (pid <= 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return NOT_MADE;
    if (WEXITSTATUS(status) == 127) return NO_MAKE;
    return WEXITSTATUS(status) == 0 && access(path, R_OK) == 0 ? MADE : NOT_MADE;
}

static hd_status missing(hd_ctx *ctx, const struct hd_machine *m, bool waves, const char *path) {
    char args[1024];
    if (table_name(m))
        return hd_fail(ctx, HD_DEVICE,
                       "rtl: no up-to-date model of machine %s at %s; run 'make %s' in the "
                       "repository, or set "
                       "HEDDLE_RTL_DIR to the folder that has it",
                       m->name, path, waves ? "rtl-wave" : "rtl");
    machine_args(m, args, sizeof args);
    return hd_fail(
        ctx, HD_DEVICE,
        "rtl: no up-to-date model of machine %s at %s; run in the repository: make rtl-custom "
        "%sMACHINE_ARGS=\"%s\" OUT=%s",
        m->name, path, waves ? "RTL_KIND=rtl-wave " : "", args + strlen("MACHINE_ARGS="), path);
}

/* ---- open and close ------------------------------------------------------------------------- */

static hd_status load(hd_ctx *ctx, struct hd_rtl_lib *d, const struct hd_machine *m,
                      hd_axi_mem *mem, const char *path) {
    d->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!d->lib)
        return hd_fail(ctx, HD_DEVICE, "rtl: %s; run 'make rtl' in the repository", dlerror());
    d->api = dlsym(d->lib, "hd_rtl_api");
    if (!d->api || d->api->abi != HD_RTL_ABI || d->api->axi_bytes != hd_axi_bytes(m))
        return hd_fail(ctx, HD_MISMATCH, "rtl: %s is of another version or machine; run 'make rtl'",
                       path);
    const struct hd_rtl_memory memory = {mem, hd_axi_mem_reset, hd_axi_mem_step};
    d->rtl = d->api->create(&memory);
    if (!d->rtl) return hd_fail(ctx, HD_NOMEM, "rtl: no memory for machine %s", m->name);
    uint32_t machine = d->api->reg_read(d->rtl, HD_REG_machine_hash);
    uint32_t isa = d->api->reg_read(d->rtl, HD_REG_isa_hash);
    if (machine != hd_machine_hash(m) || isa != hd_isa_hash())
        return hd_fail(ctx, HD_MISMATCH,
                       "rtl: %s has machine 0x%08" PRIx32 " and instruction set 0x%08" PRIx32
                       ", %s is 0x%08" PRIx32 " and 0x%08" PRIx32 "; run 'make rtl'",
                       path, machine, isa, m->name, hd_machine_hash(m), hd_isa_hash());
    return HD_OK;
}

hd_status hd_rtl_open(hd_ctx *ctx, const struct hd_machine *m, bool waves, hd_axi_mem *mem,
                      struct hd_rtl_lib *out) {
    char path[PATH_BYTES];
    if (!model_path(m, waves, path))
        return hd_fail(ctx, HD_DEVICE, "rtl: the folder of models is unknown; set HEDDLE_RTL_DIR");
    enum made made = build_model(m, waves, path);
    if (made == NOT_MADE || (made == NO_MAKE && access(path, R_OK) != 0))
        return missing(ctx, m, waves, path);
    return load(ctx, out, m, mem, path);
}

void hd_rtl_close(struct hd_rtl_lib *lib) {
    if (lib->rtl) lib->api->destroy(lib->rtl);
    if (lib->lib) dlclose(lib->lib);
    *lib = (struct hd_rtl_lib){0};
}

bool hd_rtl_has_model(const struct hd_machine *m) {
    char path[PATH_BYTES];
    return model_path(m, false, path) && access(path, R_OK) == 0;
}

bool hd_rtl_can_build(void) {
    char root[PATH_BYTES];
    return repository(root);
}
