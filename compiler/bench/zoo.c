/* heddle bench zoo: every network of some folders on some machines, one row each, and what eats the
 * cycles of the worst.
 *
 * Each compilation and run is a process of its own with a limit of time, so a network that fails
 * costs a row, not the table. A network without integer layers is quantised first, with the data
 * beside it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/bench/bench.h"
#include "compiler/bench/zoo.h"

enum { LIMIT_SECONDS = 600, DEPTH = 6, MOST_ARGS = 80, MESSAGE = 2048 };

struct zoo {
    struct hd_cmd *c;
    hd_arena *a;
    const char *program, *folder; /* itself; for files between processes */
    const char **networks;
    size_t n_networks, cap_networks;
};

/* ---- networks ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Folders of networks below a folder; not its data, nor what begins with _ or a point. */
static void find_networks(struct zoo *z, const char *folder, int depth) {
    if (hd_model_in(z->a, folder)) {
        *hd_push(z->a, z->networks, z->n_networks, z->cap_networks) = folder;
        return;
    }
    const char **list = NULL;
    size_t n = 0, cap = 0;
    struct stat st;
    DIR *d = depth < DEPTH ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *path = hd_sprintf(z->a, "%s/%s", folder, e->d_name);
        if (!strchr("._", e->d_name[0]) && !stat(path, &st) && S_ISDIR(st.st_mode))
            *hd_push(z->a, list, n, cap) = path;
    }
    if (d) closedir(d);
    if (n) qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n; i++) find_networks(z, list[i], depth + 1);
}

static hd_status find_all(struct zoo *z, char **models, int n) {
    const char *root = getenv("HEDDLE_MODELS");
    char *usual[] = {hd_strdup(z->a, root && *root ? root : "../shared/models"),
                     hd_strdup(z->a, "build/release/zoo")};
    struct stat st;
    if (!n) models = usual;
    for (int i = 0; i < (n ? n : 2); i++) {
        if (stat(models[i], &st) && n)
            return hd_fail(z->c->ctx, HD_IO, "%s: cannot open: %s", models[i], strerror(errno));
        if (!stat(models[i], &st) && !S_ISDIR(st.st_mode))
            *hd_push(z->a, z->networks, z->n_networks, z->cap_networks) = models[i];
        else
            find_networks(z, models[i], 0);
    }
    if (z->n_networks) return HD_OK;
    return hd_fail(z->c->ctx, HD_IO,
                   "no network in %s; name folders that hold some, at most %d levels deep",
                   n ? models[0] : "../shared/models and build/release/zoo", DEPTH);
}

/* ---- processes ------------------------------------------------------------------------------ */

/* The last line of what the process said. */
static const char *said(struct zoo *z, const char *log) {
    char text[MESSAGE] = "";
    FILE *f = fopen(log, "rb");
    if (f && fseek(f, -(long)sizeof text + 1, SEEK_END)) rewind(f);
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' ')) text[--n] = 0;
    char *line = strrchr(text, '\n');
    return hd_strdup(z->a, line ? line + 1 : text);
}

/* Runs this program with arguments; NULL, or what went wrong. */
static const char *run_self(struct zoo *z, const char **args) {
    const char *log = hd_sprintf(z->a, "%s/log", z->folder);
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(126);
        alarm(LIMIT_SECONDS);
        execv(z->program, (char *const *)args);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (pid < 0) return hd_sprintf(z->a, "no process: %s", strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return hd_sprintf(z->a, "took more than %d s", LIMIT_SECONDS);
    if (WIFSIGNALED(status)) return hd_sprintf(z->a, "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) ? said(z, log) : NULL;
}

/* Options of the command that a run takes, too. */
static int pass_options(struct zoo *z, const char **args, int n) {
    const struct hd_options *o = &z->c->opt;
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {{"--mem-latency", o->mem.latency},
                   {"--mem-bytes-per-cycle", o->mem.bytes_per_cycle},
                   {"--mem-outstanding", o->mem.outstanding}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!numbers[i].value) continue;
        args[n++] = numbers[i].name;
        args[n++] = hd_sprintf(z->a, "%u", numbers[i].value);
    }
    for (int i = 0; i < o->sets.n; i++) {
        args[n++] = "--set";
        args[n++] = o->sets.text[i];
    }
    return n;
}

/* Facts of a run on a machine as `heddle run --json` writes them; NULL and *out_why. */
static json_object *run_network(struct zoo *z, const char *model, const char *machine,
                                const char **out_why) {
    const char *facts = hd_sprintf(z->a, "%s/facts.json", z->folder), *args[MOST_ARGS + 1] = {0};
    int n = 0;
    const char *const fixed[] = {z->program, "run", model,       "--device", "iss",
                                 "--json",   facts, "--machine", machine};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) args[n++] = fixed[i];
    pass_options(z, args, n);
    *out_why = run_self(z, args);
    if (*out_why) return NULL;
    json_object *o = json_object_from_file(facts);
    if (!o) *out_why = "wrote no facts";
    return o;
}

static bool has_layers(json_object *facts) {
    return hd_zoo_number(facts, "macs") > 0;
}

static const char *quantised(struct zoo *z, const char *model, const char **out_why) {
    const char *out = hd_sprintf(z->a, "%s/int8.onnx", z->folder);
    const char *args[] = {z->program, "quantize", model, "-o", out, NULL};
    *out_why = run_self(z, args);
    return *out_why ? NULL : out;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The name of a network: its folder, with the one above where that is no usual one. */
static const char *short_name(struct zoo *z, const char *path) {
    const char *cut = strrchr(path, '/');
    while (cut && cut > path && strcmp(cut, "/model.onnx") == 0)
        path = hd_strndup(z->a, path, (size_t)(cut - path)), cut = strrchr(path, '/');
    return cut ? cut + 1 : path;
}

static void bench_network(struct zoo *z, struct hd_zoo_rows *rows, const char *network,
                          const char *const *machines, int n_machines) {
    const char *model = network, *form = "as it is", *why = NULL;
    for (int i = 0; i < n_machines; i++) {
        hd_cmd_progress(z->c, "%s on %s", short_name(z, network), machines[i]);
        json_object *facts = why ? NULL : run_network(z, model, machines[i], &why);
        if (!i && facts && !has_layers(facts)) {
            hd_cmd_progress(z->c, "%s: quantising", short_name(z, network));
            const char *int8 = quantised(z, network, &why);
            json_object_put(facts);
            form = "quantised";
            facts = int8 ? run_network(z, model = int8, machines[i], &why) : NULL;
        }
        hd_zoo_add(rows, short_name(z, network), machines[i], form, facts, why);
        json_object_put(facts);
    }
}

static const char **machines_of(struct zoo *z, int *out_n) {
    const char *given = z->c->opt.machine ? z->c->opt.machine : "tiny,base,big";
    const char **list = NULL;
    size_t n = 0, cap = 0;
    char *rest = hd_strdup(z->a, given);
    for (char *one; (one = strtok_r(rest, ",", &rest));) *hd_push(z->a, list, n, cap) = one;
    *out_n = (int)n;
    return list;
}

/* Machines that there are, before minutes of work. */
static hd_status check_machines(struct zoo *z, const char *const *machines, int n) {
    const char *given = z->c->opt.machine;
    hd_status s = HD_OK;
    struct hd_machine m;
    for (int i = 0; i < n && s == HD_OK; i++) {
        z->c->opt.machine = machines[i];
        s = hd_cmd_machine(z->c, &m);
    }
    z->c->opt.machine = given;
    return s;
}

static hd_status prepare(struct zoo *z, char **models, int n) {
    char self[4096];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    TRY(find_all(z, models, n));
    if (bytes <= 0) return hd_fail(z->c->ctx, HD_IO, "/proc/self/exe: %s", strerror(errno));
    z->program = hd_strndup(z->a, self, (size_t)bytes);
    return hd_cmd_temp_folder(z->c, z->a, &z->folder);
}

static void clean(struct zoo *z) {
    static const char *const files[] = {"log", "facts.json", "int8.onnx"};
    for (size_t i = 0; z->folder && i < sizeof files / sizeof *files; i++)
        remove(hd_sprintf(z->a, "%s/%s", z->folder, files[i]));
    if (z->folder) rmdir(z->folder);
}

int hd_bench_zoo(struct hd_cmd *c, char **models, int n) {
    struct zoo z = {.c = c, .a = hd_arena_create()};
    int n_machines, status = HD_EXIT_DONE;
    const char **machines = machines_of(&z, &n_machines);
    hd_status s = check_machines(&z, machines, n_machines);
    if (s == HD_OK) s = prepare(&z, models, n);
    struct hd_zoo_rows *rows = hd_zoo_begin(c, z.a);
    for (size_t i = 0; s == HD_OK && i < z.n_networks; i++)
        bench_network(&z, rows, z.networks[i], machines, n_machines);
    hd_cmd_progress_end(c);
    clean(&z);
    status = s == HD_OK ? hd_zoo_end(rows, machines, n_machines) : hd_cmd_fail(c);
    hd_arena_destroy(z.a);
    return status;
}
