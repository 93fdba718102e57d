/* Quantising by arrays of the program. */
#include "runtime/python/ext.h"

struct job {
    struct ext_call call;
    PyObject *rows; /* list; NULL = out of memory */
};

/* From within the library. */
static void add_row(void *user, const struct hd_quantize_row *r) {
    struct job *j = user;
    PyEval_RestoreThread(j->call.thread);
    PyObject *row = j->rows
                        ? Py_BuildValue("{ss ss sd sd sd sz}", "node", r->node, "op", r->op, "from",
                                        r->from, "to", r->to, "db", r->db, "why", r->why)
                        : NULL;
    if (!row || PyList_Append(j->rows, row) < 0) Py_CLEAR(j->rows);
    Py_XDECREF(row);
    j->call.thread = PyEval_SaveThread();
}

struct data { /* views of all inputs of all sets */
    Py_buffer *view;
    const void **pointer;
    const void *const **set;
    Py_ssize_t n; /* views that are open */
};

static void close_data(struct data *d) {
    for (Py_ssize_t i = 0; i < d->n; i++) PyBuffer_Release(&d->view[i]);
    PyMem_Free(d->view);
    PyMem_Free(d->pointer);
    PyMem_Free(d->set);
}

static bool view_set(PyObject *module, PyObject *set, const hd_net *net, struct data *d) {
    Py_ssize_t n = hd_net_n_inputs(net);
    if (PySequence_Size(set) != n) {
        if (!PyErr_Occurred())
            ext_fail(module, HD_INVALID, "a set of %zd inputs, the network takes %zd",
                     PySequence_Size(set), n);
        return false;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        struct hd_io_info info;
        hd_net_tensor(net, hd_net_input(net, (int)k), &info);
        PyObject *o = PySequence_GetItem(set, k);
        bool ok = o && ext_view(module, o, "input", &info, false, &d->view[d->n]);
        Py_XDECREF(o); /* the view holds it */
        if (!ok) return false;
        d->pointer[d->n] = d->view[d->n].buf;
        d->n++;
    }
    return true;
}

static bool open_data(PyObject *module, PyObject *sets, const hd_net *net, struct data *d) {
    Py_ssize_t n_sets = PySequence_Size(sets), n = hd_net_n_inputs(net);
    *d = (struct data){0};
    if (n_sets < 0) return false;
    size_t room = (size_t)(n_sets * n) + 1;
    d->view = PyMem_Calloc(room, sizeof *d->view);
    d->pointer = PyMem_Calloc(room, sizeof *d->pointer);
    d->set = PyMem_Calloc((size_t)n_sets + 1, sizeof *d->set);
    if (!d->view || !d->pointer || !d->set) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n_sets; i++) {
        PyObject *set = PySequence_GetItem(sets, i);
        bool ok = set && view_set(module, set, net, d);
        Py_XDECREF(set);
        if (!ok) return false;
        d->set[i] = &d->pointer[i * n];
    }
    return true;
}

static PyObject *result_of(PyObject *module, struct job *j, hd_status s, hd_net *net,
                           const struct hd_quantize_score *score) {
    bool ok = ext_end(&j->call, s);
    if (ok && !j->rows) ok = PyErr_NoMemory() != NULL; /* false */
    PyObject *handle = ok ? ext_handle(module, EXT_NET, net, NULL) : NULL;
    if (!ok && s == HD_OK) hd_net_destroy(net);
    if (!handle) return NULL;
    return Py_BuildValue("(NO{si si si si sd})", handle, j->rows, "sets", score->sets, "same_top",
                         score->same_top, "trials", score->trials, "kept_in_float",
                         score->kept_in_float, "db", score->db);
}

/* net_quantize(net, sets, range, symmetric, unsigned, bias_correction, equalize, keep, device):
 * (net, rows, score) */
static PyObject *quantize(PyObject *module, PyObject *args) {
    PyObject *o, *sets, *result = NULL;
    struct job j = {0};
    struct hd_quantize q = {.row = add_row, .user = &j};
    struct hd_quantize_score score;
    struct data d;
    int symmetric, is_unsigned, bias_correction, equalize;
    hd_net *net = NULL;
    if (!PyArg_ParseTuple(args, "OOzppppzz", &o, &sets, &q.range, &symmetric, &is_unsigned,
                          &bias_correction, &equalize, &q.keep, &q.device))
        return NULL;
    q.symmetric = symmetric;
    q.unsigned_activations = is_unsigned;
    q.bias_correction = bias_correction;
    q.equalize = equalize;
    const hd_net *from = ext_pointer(module, o, EXT_NET);
    if (!from) return NULL;
    j.rows = PyList_New(0);
    int n_sets = (int)PySequence_Size(sets);
    if (open_data(module, sets, from, &d) && ext_begin(&j.call, module, (struct ext_handle *)o)) {
        hd_status s = hd_net_quantize(j.call.ctx, from, &q, (const void *const *const *)d.set,
                                      n_sets, &net, &score);
        result = result_of(module, &j, s, net, &score);
    }
    close_data(&d);
    Py_XDECREF(j.rows);
    return result;
}

PyMethodDef ext_quantize_methods[] = {{"net_quantize", quantize, METH_VARARGS,
                                       "net_quantize(net, sets, range, symmetric, unsigned, "
                                       "bias_correction, equalize, keep, device): "
                                       "(net, rows, score)"},
                                      {NULL, NULL, 0, NULL}};
