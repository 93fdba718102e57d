/* Memory that goes to and from the library without a copy: Python's buffer protocol. */
#include "runtime/python/ext.h"

#include <stdio.h>
#include <string.h>

struct array {
    PyObject ob_base;
    struct hd_io_info info;
    Py_ssize_t shape[HD_IO_RANK], strides[HD_IO_RANK], item;
    void *data;
};

/* Format of Python's struct module for a type; those that it lacks are their bits. */
static const struct {
    const char *name, *format;
} formats[] = {{"f32", "f"},  {"u8", "B"},   {"i8", "b"},  {"u16", "H"}, {"i16", "h"}, {"i32", "i"},
               {"i64", "q"},  {"bool", "?"}, {"f16", "e"}, {"f64", "d"}, {"u32", "I"}, {"u64", "Q"},
               {"bf16", "H"}, {"i4", "b"},   {"i2", "b"},  {NULL, "B"}};

static const char *format_of(int dtype) {
    const char *name = hd_type_name(dtype);
    int i = 0;
    while (formats[i].name && (!name || strcmp(formats[i].name, name))) i++;
    return formats[i].format;
}

/* 'i', 'u', 'f', 'b' of a format of one element; 0 = another. */
static char kind_of(const char *format) {
    static const char native[] = "@=<";
    if (!format) return 'u'; /* bytes */
    if (*format && strchr(native, *format)) format++;
    if (!*format || format[1]) return 0;
    if (strchr("bhilqn", *format)) return 'i';
    if (strchr("BHILQNc", *format)) return 'u';
    if (strchr("efd", *format)) return 'f';
    return *format == '?' ? 'b' : 0;
}

int ext_view_type(const Py_buffer *view) {
    char kind = kind_of(view->format);
    for (int i = 0; kind && formats[i].name; i++) {
        int dtype = hd_type_by_name(formats[i].name);
        if (kind_of(formats[i].format) == kind &&
            (Py_ssize_t)hd_type_bytes(dtype) == view->itemsize)
            return dtype;
    }
    return 0;
}

/* ---- an array of our own -------------------------------------------------------------------- */

static int get_buffer(PyObject *o, Py_buffer *view, int flags) {
    struct array *a = (struct array *)o;
    *view = (Py_buffer){
        .buf = a->data,
        .obj = Py_NewRef(o),
        .len = (Py_ssize_t)a->info.bytes,
        .itemsize = a->item,
        .ndim = flags & PyBUF_ND ? a->info.rank : 1,
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)format_of(a->info.dtype) : NULL,
        .shape = flags & PyBUF_ND ? a->shape : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL,
    };
    return 0;
}

static void dealloc(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(t, Py_tp_free);
    PyMem_Free(((struct array *)o)->data);
    release(o);
    Py_DECREF((PyObject *)t);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_bf_getbuffer, get_buffer},
    {Py_tp_doc, "Dense memory of one type and shape; numpy.asarray() and memoryview() show it."},
    {0, NULL}};
PyType_Spec ext_array_spec = {"heddle._heddle.array", sizeof(struct array), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

static bool fill_shape(struct array *a, PyObject *shape) {
    Py_ssize_t n = PySequence_Size(shape);
    if (n < 0 || n > HD_IO_RANK) {
        if (n > 0) PyErr_Format(PyExc_ValueError, "rank %zd, at most %d", n, HD_IO_RANK);
        return false;
    }
    a->info.rank = (int)n;
    size_t bytes = (size_t)a->item;
    for (Py_ssize_t d = n - 1; d >= 0; d--) {
        PyObject *o = PySequence_GetItem(shape, d);
        Py_ssize_t length = o ? PyNumber_AsSsize_t(o, PyExc_OverflowError) : -1;
        Py_XDECREF(o);
        if (PyErr_Occurred()) return false;
        if (length < 0 || (length && bytes > (size_t)PY_SSIZE_T_MAX / (size_t)length)) {
            PyErr_Format(PyExc_ValueError, "dimension %zd of %zd elements", d, length);
            return false;
        }
        a->shape[d] = length;
        a->strides[d] = (Py_ssize_t)bytes;
        bytes *= (size_t)length;
    }
    a->info.bytes = bytes;
    return true;
}

PyObject *ext_array_new(PyObject *module, PyObject *args) {
    const char *type;
    PyObject *shape;
    if (!PyArg_ParseTuple(args, "sO", &type, &shape)) return NULL;
    int dtype = hd_type_by_name(type);
    if (!dtype) return PyErr_Format(PyExc_ValueError, "no type '%s'", type);
    PyTypeObject *t = (PyTypeObject *)ext_state(module)->type[EXT_ARRAY];
    struct array *a = (struct array *)((allocfunc)PyType_GetSlot(t, Py_tp_alloc))(t, 0);
    if (!a) return NULL;
    a->info.dtype = dtype;
    a->item = (Py_ssize_t)hd_type_bytes(dtype);
    if (fill_shape(a, shape)) {
        a->data = PyMem_Calloc(1, a->info.bytes ? a->info.bytes : 1);
        if (a->data) return (PyObject *)a;
        PyErr_NoMemory();
    }
    Py_DECREF((PyObject *)a);
    return NULL;
}

/* ---- views of buffers ----------------------------------------------------------------------- */

static void type_and_shape(const char *type, Py_ssize_t rank, const Py_ssize_t *dim, char *out,
                           size_t bytes) {
    size_t n = (size_t)snprintf(out, bytes, "%s[", type ? type : "?");
    for (Py_ssize_t d = 0; d < rank && n < bytes; d++)
        n += (size_t)snprintf(out + n, bytes - n, "%s%zd", d ? "," : "", dim[d]);
    if (n < bytes) snprintf(out + n, bytes - n, "]");
}

/* Equal dimensions, apart from leading ones. */
static bool same_shape(const Py_buffer *v, const struct hd_io_info *want) {
    int i = 0, k = 0;
    while (i < v->ndim && v->ndim - i > want->rank && v->shape[i] == 1) i++;
    while (k < want->rank && want->rank - k > v->ndim && want->dim[k] == 1) k++;
    if (v->ndim - i != want->rank - k) return false;
    for (; i < v->ndim; i++, k++)
        if (v->shape[i] != want->dim[k]) return false;
    return true;
}

bool ext_view(PyObject *module, PyObject *o, const char *what, const struct hd_io_info *want,
              bool writable, Py_buffer *out) {
    char got[256], wanted[256];
    Py_ssize_t dim[HD_IO_RANK];
    int flags = PyBUF_ND | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(o, out, flags) < 0) {
        /* numpy raises ValueError where others raise BufferError */
        if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return false;
        PyErr_Clear();
        ext_fail(
            module, HD_INVALID,
            "%s %s: its memory is not %sin row-major order; numpy.ascontiguousarray makes such "
            "an array",
            what, want->name, writable ? "writable, and " : "");
        return false;
    }
    const char *format = format_of(want->dtype);
    if (kind_of(out->format) == kind_of(format) &&
        out->itemsize == (Py_ssize_t)hd_type_bytes(want->dtype) && same_shape(out, want))
        return true;
    for (int d = 0; d < want->rank; d++) dim[d] = (Py_ssize_t)want->dim[d];
    const char *type = hd_type_name(ext_view_type(out));
    type_and_shape(type ? type : out->format, out->ndim, out->shape, got, sizeof got);
    type_and_shape(hd_type_name(want->dtype), want->rank, dim, wanted, sizeof wanted);
    PyBuffer_Release(out);
    ext_fail(module, HD_INVALID, "%s %s: got %s, want %s", what, want->name, got, wanted);
    return false;
}

bool ext_views_open(PyObject *module, PyObject *list, const hd_model *m, bool outputs,
                    struct ext_views *out) {
    const char *what = outputs ? "output" : "input";
    int want = outputs ? hd_model_n_outputs(m) : hd_model_n_inputs(m);
    Py_ssize_t n = PySequence_Size(list);
    *out = (struct ext_views){0};
    if (n < 0) return false;
    if (n != want) {
        ext_fail(module, HD_INVALID, "%s: %zd %ss given, it has %d", hd_model_name(m), n, what,
                 want);
        return false;
    }
    out->view = PyMem_Calloc((size_t)n + 1, sizeof *out->view);
    out->data = PyMem_Calloc((size_t)n + 1, sizeof *out->data);
    bool ok = out->view && out->data;
    if (!ok) PyErr_NoMemory();
    for (int i = 0; ok && i < n; i++) {
        struct hd_io_info info;
        (outputs ? hd_model_output : hd_model_input)(m, i, &info);
        PyObject *o = PySequence_GetItem(list, i);
        bool kept = o == Py_None && !outputs && i >= n - hd_model_n_states(m);
        if (kept) out->n = i + 1; /* the session has it */
        if (kept) Py_DECREF(o);
        if (kept) continue;
        ok = o && ext_view(module, o, what, &info, outputs, &out->view[i]);
        if (ok) out->data[i] = out->view[i].buf, out->n = i + 1;
        Py_XDECREF(o); /* the view holds it */
    }
    if (!ok) ext_views_close(out);
    return ok;
}

void ext_views_close(struct ext_views *v) {
    for (int i = 0; i < v->n; i++) PyBuffer_Release(&v->view[i]);
    PyMem_Free(v->view);
    PyMem_Free(v->data);
    *v = (struct ext_views){0};
}
