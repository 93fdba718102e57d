/* Networks: read, write, look at. */
#include "runtime/python/ext.h"

#include <string.h>

/* Zeros for each item of a dict, of so many bytes. PyMem_Free frees them. */
static void *list_of(PyObject *dict, size_t each) {
    void *list = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, each);
    if (!list) PyErr_NoMemory();
    return list;
}

/* {name: (size, ...)} as the library wants it; the names are the dict's. PyMem_Free frees it. */
static struct hd_io_info *sizes_of(PyObject *dict, int *out_n) {
    struct hd_io_info *list = list_of(dict, sizeof *list);
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    int n = 0;
    if (!list) return NULL;
    while (!PyErr_Occurred() && PyDict_Next(dict, &pos, &key, &value)) {
        struct hd_io_info *s = &list[n++];
        Py_ssize_t rank = PySequence_Size(value);
        s->name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (rank > HD_IO_RANK)
            PyErr_Format(PyExc_ValueError, "rank %zd, at most %d", rank, HD_IO_RANK);
        s->rank = (int)rank;
        for (Py_ssize_t d = 0; !PyErr_Occurred() && d < rank; d++) {
            PyObject *o = PySequence_GetItem(value, d);
            if (o) s->dim[d] = PyLong_AsLongLong(o);
            Py_XDECREF(o);
        }
    }
    *out_n = n;
    if (!PyErr_Occurred()) return list;
    PyMem_Free(list);
    return NULL;
}

/* {name: number}; as sizes_of. */
static struct hd_input_value *values_of(PyObject *dict, int *out_n) {
    struct hd_input_value *list = list_of(dict, sizeof *list);
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    int n = 0;
    if (!list) return NULL;
    while (!PyErr_Occurred() && PyDict_Next(dict, &pos, &key, &value))
        list[n++] =
            (struct hd_input_value){PyUnicode_AsUTF8AndSize(key, NULL), PyFloat_AsDouble(value)};
    *out_n = n;
    if (!PyErr_Occurred()) return list;
    PyMem_Free(list);
    return NULL;
}

static PyObject *new_net(PyObject *module, struct ext_call *c, hd_status s, hd_net *net) {
    if (ext_end(c, s)) return ext_handle(module, EXT_NET, net, NULL);
    if (s == HD_OK) hd_net_destroy(net);
    return NULL;
}

static PyObject *load(PyObject *module, PyObject *args) {
    PyObject *path, *dict, *numbers, *result = NULL;
    struct hd_load_options o = {0};
    hd_net *net = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "O&O!zO!", PyUnicode_FSConverter, &path, &PyDict_Type, &dict,
                          &o.rounding, &PyDict_Type, &numbers))
        return NULL;
    struct hd_io_info *sizes = sizes_of(dict, &o.n_sizes);
    struct hd_input_value *values = sizes ? values_of(numbers, &o.n_values) : NULL;
    o.sizes = sizes, o.values = values;
    if (values && ext_begin(&c, module, NULL)) {
        const char *at = PyBytes_AsString(path);
        hd_status s = o.rounding || o.n_values ? hd_net_load_with(c.ctx, at, &o, &net)
                                               : hd_net_load(c.ctx, at, sizes, o.n_sizes, &net);
        result = new_net(module, &c, s, net);
    }
    PyMem_Free(values);
    PyMem_Free(sizes);
    Py_DECREF(path);
    return result;
}

static PyObject *load_memory(PyObject *module, PyObject *args) {
    Py_buffer data;
    const char *name;
    hd_net *net = NULL;
    struct ext_call c;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*s", &data, &name)) return NULL;
    if (ext_begin(&c, module, NULL)) {
        hd_status s = hd_net_load_memory(c.ctx, data.buf, (size_t)data.len, name, &net);
        result = new_net(module, &c, s, net);
    }
    PyBuffer_Release(&data);
    return result;
}

static PyObject *parse(PyObject *module, PyObject *args) {
    const char *text, *name;
    hd_net *net = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "ss", &text, &name) || !ext_begin(&c, module, NULL)) return NULL;
    hd_status s = hd_net_parse(c.ctx, text, name, &net);
    return new_net(module, &c, s, net);
}

static PyObject *save(PyObject *module, PyObject *args) {
    PyObject *o, *path;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OO&", &o, PyUnicode_FSConverter, &path)) return NULL;
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    PyObject *result = NULL;
    if (net && ext_begin(&c, module, (struct ext_handle *)o))
        result = ext_end(&c, hd_net_save(c.ctx, net, PyBytes_AsString(path))) ? Py_NewRef(Py_None)
                                                                              : NULL;
    Py_DECREF(path);
    return result;
}

static PyObject *add_state(PyObject *module, PyObject *args) {
    PyObject *o;
    const char *output, *input;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "Oss", &o, &output, &input)) return NULL;
    struct ext_handle *h = (struct ext_handle *)o;
    if (!ext_pointer(module, o, EXT_NET) || !ext_begin(&c, module, h)) return NULL;
    return ext_end(&c, hd_net_state(c.ctx, h->ptr, output, input)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *text(PyObject *module, PyObject *args) {
    PyObject *o, *result = NULL;
    int full;
    char *all = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "Op", &o, &full)) return NULL;
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net || !ext_begin(&c, module, (struct ext_handle *)o)) return NULL;
    hd_status s = hd_net_text(c.ctx, net, full, &all);
    if (ext_end(&c, s)) result = PyUnicode_DecodeUTF8(all, (Py_ssize_t)strlen(all), "replace");
    if (s == HD_OK) hd_text_free(all);
    return result;
}

static PyObject *name(PyObject *module, PyObject *o) {
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    return net ? PyUnicode_FromString(hd_net_name(net)) : NULL;
}

static PyObject *ends(PyObject *module, PyObject *o, bool outputs) {
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    int n = !net ? 0 : outputs ? hd_net_n_outputs(net) : hd_net_n_inputs(net);
    PyObject *list = net ? PyList_New(n) : NULL;
    for (int i = 0; list && i < n; i++) {
        int t = outputs ? hd_net_output(net, i) : hd_net_input(net, i);
        PyObject *id = PyLong_FromLong(t);
        if (!id || PyList_SetItem(list, i, id) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *inputs(PyObject *module, PyObject *o) {
    return ends(module, o, false);
}
static PyObject *outputs(PyObject *module, PyObject *o) {
    return ends(module, o, true);
}

/* (name, type, shape, names of axes) */
static PyObject *tensor(PyObject *module, PyObject *args) {
    PyObject *o;
    int id;
    struct hd_io_info info;
    if (!PyArg_ParseTuple(args, "Oi", &o, &id)) return NULL;
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net) return NULL;
    hd_net_tensor(net, id, &info);
    if (!info.name) return PyErr_Format(PyExc_IndexError, "no tensor %d", id);
    int rank = info.rank < 0 ? 0 : info.rank;
    PyObject *axes = PyTuple_New(rank);
    for (int d = 0; axes && d < rank; d++) {
        PyObject *axis = Py_BuildValue("z", hd_net_axis(net, id, d));
        if (!axis || PyTuple_SetItem(axes, d, axis) < 0) Py_CLEAR(axes);
    }
    PyObject *base = axes ? ext_info(&info) : NULL;
    PyObject *both = base ? PyTuple_Pack(2, base, axes) : NULL;
    Py_XDECREF(base);
    Py_XDECREF(axes);
    return both;
}

/* [(name, op, tensor of the first result)], as they may run. */
static PyObject *nodes(PyObject *module, PyObject *o) {
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    int n = net ? hd_net_n_nodes(net) : 0;
    PyObject *list = net ? PyList_New(0) : NULL;
    for (int i = 0; list && i < n; i++) {
        const char *op = NULL;
        int out = -1;
        const char *called = hd_net_node(net, i, &op, &out);
        if (!called) break;
        PyObject *row = Py_BuildValue("(ssi)", called, op, out);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyMethodDef ext_net_methods[] = {
    {"net_load", load, METH_VARARGS,
     "net_load(path, {name: sizes}, rounding, {name: number}): a network."},
    {"net_load_memory", load_memory, METH_VARARGS, "net_load_memory(data, name): a network."},
    {"net_parse", parse, METH_VARARGS, "net_parse(text, name): a network."},
    {"net_save", save, METH_VARARGS, "net_save(net, path)"},
    {"net_state", add_state, METH_VARARGS, "net_state(net, output, input): one more state."},
    {"net_text", text, METH_VARARGS, "net_text(net, full): its text form."},
    {"net_name", name, METH_O, "net_name(net)"},
    {"net_inputs", inputs, METH_O, "net_inputs(net): numbers of tensors."},
    {"net_outputs", outputs, METH_O, "net_outputs(net): numbers of tensors."},
    {"net_tensor", tensor, METH_VARARGS, "net_tensor(net, i): ((name, type, shape), axes)"},
    {"net_nodes", nodes, METH_O, "net_nodes(net): [(name, op, tensor)]"},
    {NULL, NULL, 0, NULL}};
