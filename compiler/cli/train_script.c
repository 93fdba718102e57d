/* heddle train SCRIPT.py: Python builds the networks of a script, package heddle writes their text
 * forms (runtime/python/heddle/script.py), and they are read here. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/cli/cli.h"
#include "runtime/base/io.h"

extern char **environ;

enum { N_GRAPHS = 3, ARGUMENTS = 8 };
static const char *const files[N_GRAPHS] = {"train", "score", "run"};

bool cli_is_script(const char *path) {
    size_t n = strlen(path);
    return n > 3 && !strcmp(path + n - 3, ".py");
}

/* The package that belongs to this program is found first: build/MODE/python. */
static void show_package(hd_arena *a) {
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *others = getenv("PYTHONPATH");
    if (n <= 0) return;
    self[n] = 0;
    const char *package = hd_sprintf(a, "%s/python", hd_folder_of(a, self));
    if (access(package, R_OK) != 0) return;
    setenv("PYTHONPATH", others && *others ? hd_sprintf(a, "%s:%s", package, others) : package, 1);
}

static hd_status run_python(struct hd_cmd *c, const char *path, char **args) {
    pid_t pid = 0;
    int status = 0;
    fflush(NULL);
    int e = posix_spawnp(&pid, args[0], NULL, NULL, args, environ);
    if (e)
        return hd_fail(c->ctx, HD_IO, "%s: %s cannot be started (%s); HEDDLE_PYTHON names another",
                       path, args[0], strerror(e));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return hd_fail(c->ctx, HD_IO, "%s: %s", path, strerror(errno));
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return HD_OK;
    return hd_fail(c->ctx, HD_INVALID,
                   "%s: %s built no network of it, and says why above. It needs package heddle "
                   "(`make python`, or the wheel: docs/python.md)",
                   path, args[0]);
}

static hd_status read_graph(struct hd_cmd *c, const char *path, hd_graph **out) {
    void *text = NULL;
    size_t n = 0;
    TRY(hd_file_read(c->ctx, path, &text, &n));
    hd_status s = hd_graph_parse(c->ctx, text, path, out);
    free(text);
    return s;
}

static hd_status build(struct hd_cmd *c, hd_arena *a, const char *path, const char *folder,
                       const struct cli_script *o, hd_graph **out[N_GRAPHS]) {
    const char *python = getenv("HEDDLE_PYTHON");
    char *args[ARGUMENTS + HD_MAX_RANK] = {hd_strdup(a, python && *python ? python : "python3"),
                                           "-m",
                                           "heddle.script",
                                           hd_strdup(a, path),
                                           hd_strdup(a, folder),
                                           hd_sprintf(a, "%lu", (unsigned long)o->seed),
                                           hd_sprintf(a, "%lld", (long long)o->batch)};
    for (int d = 0; d < o->rank; d++)
        args[ARGUMENTS - 1 + d] = hd_sprintf(a, "%lld", (long long)o->dim[d]);
    TRY(run_python(c, path, args));
    for (int i = 0; i < N_GRAPHS; i++)
        TRY(read_graph(c, hd_sprintf(a, "%s/%s", folder, files[i]), out[i]));
    return HD_OK;
}

hd_status cli_script_networks(struct hd_cmd *c, const char *path, const struct cli_script *o,
                              hd_graph **train, hd_graph **score, hd_graph **run) {
    hd_arena *a = hd_arena_create();
    hd_graph **out[N_GRAPHS] = {train, score, run};
    const char *folder = NULL;
    hd_status s = HD_OK;
    if (access(path, R_OK) != 0) s = hd_fail(c->ctx, HD_IO, "%s: %s", path, strerror(errno));
    if (s == HD_OK) s = hd_cmd_temp_folder(c, a, &folder);
    if (s == HD_OK) {
        show_package(a);
        s = build(c, a, path, folder, o, out);
    }
    for (int i = 0; i < N_GRAPHS && folder; i++) remove(hd_sprintf(a, "%s/%s", folder, files[i]));
    if (folder) rmdir(folder);
    hd_arena_destroy(a);
    return s;
}
