/* Networks that are built node by node. These calls are short: the interpreter's lock stays. */
#include "runtime/python/ext.h"

/* Whether nobody works on the network at the moment, in another thread. */
static hd_net *free_net(PyObject *module, PyObject *o) {
    hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net || !((struct ext_handle *)o)->running) return net;
    ext_fail(module, HD_INVALID, "%s: another thread works on it; wait for that", hd_net_name(net));
    return NULL;
}

static PyObject *create(PyObject *module, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    return ext_handle(module, EXT_NET, hd_net_create(name), NULL);
}

static PyObject *ops(PyObject *module, PyObject *args) {
    (void)module, (void)args;
    PyObject *dict = PyDict_New();
    struct hd_op_row r;
    for (int i = 0; dict && hd_op(i, &r); i++) {
        PyObject *row = Py_BuildValue("(iiis)", r.min_in, r.max_in, r.max_out, r.doc);
        if (!row || PyDict_SetItemString(dict, r.name, row) < 0) Py_CLEAR(dict);
        Py_XDECREF(row);
    }
    return dict;
}

static bool read_shape(PyObject *shape, struct hd_io_info *t) {
    Py_ssize_t n = PySequence_Size(shape);
    if (n > HD_IO_RANK) PyErr_Format(PyExc_ValueError, "rank %zd, at most %d", n, HD_IO_RANK);
    t->rank = (int)n;
    for (Py_ssize_t d = 0; !PyErr_Occurred() && d < n; d++) {
        PyObject *o = PySequence_GetItem(shape, d);
        if (o) t->dim[d] = PyLong_AsLongLong(o);
        Py_XDECREF(o);
    }
    return !PyErr_Occurred();
}

/* As many names as dimensions, or none. */
static bool read_axes(PyObject *axes, int rank, const char ***out) {
    Py_ssize_t n = 0;
    *out = NULL;
    if (axes == Py_None) return true;
    *out = ext_strings(axes, &n);
    if (*out && n != rank) {
        PyErr_Format(PyExc_ValueError, "%zd axes for %d dimensions", n, rank);
        PyMem_Free(*out);
        *out = NULL;
    }
    return *out;
}

static PyObject *add_input(PyObject *module, PyObject *args) {
    PyObject *o, *shape, *names;
    const char *type, **axes = NULL;
    struct hd_io_info t = {0};
    int id = -1;
    if (!PyArg_ParseTuple(args, "OssOO", &o, &t.name, &type, &shape, &names)) return NULL;
    hd_net *net = free_net(module, o);
    t.dtype = hd_type_by_name(type);
    if (!net || !read_shape(shape, &t) || !read_axes(names, t.rank, &axes)) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    bool ok = ext_check(module, ctx, hd_net_add_input(ctx, net, &t, axes, &id));
    PyMem_Free(axes);
    return ok ? PyLong_FromLong(id) : NULL;
}

/* type None: that of the buffer. */
static PyObject *add_constant(PyObject *module, PyObject *args) {
    PyObject *o, *data, *names;
    const char *type, **axes = NULL;
    struct hd_io_info t = {0};
    Py_buffer view;
    int id = -1;
    if (!PyArg_ParseTuple(args, "OszOO", &o, &t.name, &type, &data, &names)) return NULL;
    hd_net *net = free_net(module, o);
    if (!net) return NULL;
    if (PyObject_GetBuffer(data, &view, PyBUF_ND | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    t.dtype = type ? hd_type_by_name(type) : ext_view_type(&view);
    t.rank = view.ndim;
    t.bytes = (size_t)view.len;
    for (int d = 0; d < view.ndim && d < HD_IO_RANK; d++) t.dim[d] = view.shape[d];
    bool ok = (Py_ssize_t)hd_type_bytes(t.dtype) == view.itemsize && view.ndim <= HD_IO_RANK;
    if (!ok)
        ext_fail(module, HD_INVALID, "constant %s: got elements '%s' of %zd bytes, rank %d", t.name,
                 view.format ? view.format : "B", view.itemsize, view.ndim);
    if (ok && (ok = read_axes(names, t.rank, &axes))) {
        hd_ctx *ctx = hd_ctx_create();
        ok = ext_check(module, ctx, hd_net_add_constant(ctx, net, &t, axes, view.buf, &id));
    }
    PyMem_Free(axes);
    PyBuffer_Release(&view);
    return ok ? PyLong_FromLong(id) : NULL;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Values of one attribute: int, float, str, a network, or a sequence of int or of float. Memory is
 * PyMem's. */
static bool read_attr(PyObject *module, PyObject *value, struct hd_net_attr *a) {
    if (PyObject_TypeCheck(value, (PyTypeObject *)ext_state(module)->type[EXT_NET]))
        return (a->net = free_net(module, value));
    if (PyUnicode_Check(value)) return (a->string = PyUnicode_AsUTF8AndSize(value, NULL));
    bool list = PyTuple_Check(value) || PyList_Check(value), floats = false;
    Py_ssize_t n = list ? PySequence_Size(value) : 1;
    int64_t *ints = PyMem_Calloc((size_t)n + 1, sizeof *ints);
    float *reals = PyMem_Calloc((size_t)n + 1, sizeof *reals);
    if (!ints || !reals) PyErr_NoMemory();
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < n; i++) {
        PyObject *x = list ? PySequence_GetItem(value, i) : Py_NewRef(value);
        bool is_float = x && PyFloat_Check(x);
        if (x) reals[i] = (float)PyFloat_AsDouble(x);
        if (x && !is_float && !PyErr_Occurred()) ints[i] = PyLong_AsLongLong(x);
        floats = floats || is_float;
        Py_XDECREF(x);
    }
    PyMem_Free(floats ? (void *)ints : (void *)reals);
    a->n = (int)n;
    a->list = list;
    a->ints = floats ? NULL : ints;
    a->floats = floats ? reals : NULL;
    return !PyErr_Occurred();
}

static void free_attrs(struct hd_net_attr *a, int n) {
    for (int i = 0; a && i < n; i++) {
        PyMem_Free((void *)(uintptr_t)a[i].ints);
        PyMem_Free((void *)(uintptr_t)a[i].floats);
    }
    PyMem_Free(a);
}

static struct hd_net_attr *read_attrs(PyObject *module, PyObject *dict, int *out_n) {
    struct hd_net_attr *a = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *a);
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    *out_n = 0;
    if (!a) PyErr_NoMemory();
    while (a && PyDict_Next(dict, &pos, &key, &value)) {
        a[*out_n].name = PyUnicode_AsUTF8AndSize(key, NULL);
        bool ok = a[*out_n].name && read_attr(module, value, &a[*out_n]);
        ++*out_n;
        if (ok) continue;
        free_attrs(a, *out_n);
        return NULL;
    }
    return a;
}

static bool read_ints(PyObject *sequence, int *out, Py_ssize_t max, int *out_n) {
    Py_ssize_t n = PySequence_Size(sequence);
    if (n > max) PyErr_Format(PyExc_ValueError, "%zd operands, at most %zd", n, max);
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < n; i++) {
        PyObject *o = PySequence_GetItem(sequence, i);
        if (o) out[i] = (int)PyLong_AsLong(o);
        Py_XDECREF(o);
    }
    *out_n = (int)n;
    return !PyErr_Occurred();
}

/* add_node(net, op, name, operands, attributes, results): numbers of the results. */
static PyObject *add_node(PyObject *module, PyObject *args) {
    enum { MOST = 1024 };
    PyObject *o, *operands, *dict;
    const char *op, *name;
    int in[MOST], out[MOST], n_in = 0, n_out = 0, n_attrs = 0;
    if (!PyArg_ParseTuple(args, "OszOO!i", &o, &op, &name, &operands, &PyDict_Type, &dict, &n_out))
        return NULL;
    hd_net *net = free_net(module, o);
    if (!net || !read_ints(operands, in, MOST, &n_in)) return NULL;
    if (n_out > MOST) return PyErr_Format(PyExc_ValueError, "%d results", n_out);
    struct hd_net_attr *attrs = read_attrs(module, dict, &n_attrs);
    if (!attrs) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_net_add_node(ctx, net, op, name, in, n_in, attrs, n_attrs, out, n_out);
    bool ok = ext_check(module, ctx, s);
    free_attrs(attrs, n_attrs);
    PyObject *list = ok ? PyList_New(n_out) : NULL;
    for (int i = 0; list && i < n_out; i++) {
        PyObject *id = PyLong_FromLong(out[i]);
        if (!id || PyList_SetItem(list, i, id) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *add_output(PyObject *module, PyObject *args) {
    PyObject *o;
    int id;
    if (!PyArg_ParseTuple(args, "Oi", &o, &id)) return NULL;
    hd_net *net = free_net(module, o);
    if (!net) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    return ext_check(module, ctx, hd_net_add_output(ctx, net, id)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *check(PyObject *module, PyObject *o) {
    hd_net *net = free_net(module, o);
    if (!net) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    return ext_check(module, ctx, hd_net_check(ctx, net)) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef ext_build_methods[] = {
    {"net_create", create, METH_VARARGS, "net_create(name): an empty network."},
    {"ops", ops, METH_NOARGS, "{operation: (operands at least, at most, results at most, text)}"},
    {"add_input", add_input, METH_VARARGS, "add_input(net, name, type, shape, axes): its number."},
    {"add_constant", add_constant, METH_VARARGS,
     "add_constant(net, name, type, buffer, axes): its number."},
    {"add_node", add_node, METH_VARARGS,
     "add_node(net, op, name, operands, attributes, results): numbers of the results."},
    {"add_output", add_output, METH_VARARGS, "add_output(net, tensor)"},
    {"net_check", check, METH_O, "net_check(net): raises where it is not well formed."},
    {NULL, NULL, 0, NULL}};
