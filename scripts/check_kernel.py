#!/usr/bin/env python3
"""Holds the packaged kernel against the RTL: check_kernel.py RECORD KERNEL_DIR GEN_DIR RTL_DIR.

RECORD is what test/xrt/vitis/vivado.tcl recorded; the RTL is hd_reg_pkg.sv and what hd_csr.sv and hd_kernel.v make of it."""
import re
import sys
import xml.etree.ElementTree as ET

record, kernel_dir, gen, rtl = sys.argv[1:5]


def fail(text):
    sys.exit('check_kernel: ' + text)


def snake(camel):
    return re.sub(r'(?<!^)([A-Z])', r'_\1', camel).lower()


text = open(record).read()
registers = {}
for m in re.finditer(r'^register (\S+) (\S+) (\d+) (\S+) (\S+)$', text, re.M):
    name = 'ap_ctrl' if m[1] == 'CTRL' else m[1]
    registers[name] = (int(m[2], 0), int(m[3]), m[4], m[5])

# Offsets of the RTL; hd_csr.sv is what reads them.
offsets = {snake(m[1]): int(m[2], 16)
           for m in re.finditer(r"Reg(\w+) = 12'h([0-9a-f]+)", open(gen + '/hd_reg_pkg.sv').read())}
csr = open(rtl + '/hd_csr.sv').read()
used = {snake(n) for n in re.findall(r'hd_reg_pkg::Reg(\w+?)\b', csr)}
units = re.findall(r'localparam int unsigned Unit([A-Z]\w*) = (\d+);', open(gen + '/hd_isa_pkg.sv').read())
if not registers or not offsets or not units:
    fail('nothing recorded, or no registers in %s' % gen)
if used != set(offsets):
    fail('hd_csr.sv and hd_reg_pkg.sv differ: %s' % sorted(used ^ set(offsets)))
expect = {}
for name, at in offsets.items():
    per_unit = [r for r in registers if r.startswith(name + '_') and r[len(name) + 1:] in {u.lower() for u, _ in units}]
    if not per_unit:
        expect[name] = at
        continue
    for unit, index in units:
        reg = '%s_%s' % (name, unit.lower())
        expect[reg] = at + int(index) * registers.get(reg, (0, 0))[1] // 8
if {n: r[0] for n, r in registers.items()} != expect:
    both = {n: (hex(registers[n][0]) if n in registers else None, hex(expect[n]) if n in expect else None)
            for n in set(registers) | set(expect) if registers.get(n, (None,))[0] != expect.get(n)}
    fail('registers packaged and in the RTL: %s' % both)
spans = sorted((r[0], r[0] + r[1] // 8, n) for n, r in registers.items())
for a, b in zip(spans, spans[1:]):
    if a[1] > b[0]:
        fail('%s and %s overlap' % (a[2], b[2]))

# kernel.xml says the same of the arguments, and the RTL has the ports.
root = ET.parse(kernel_dir + '/kernel.xml').getroot()
top = open(kernel_dir + '/hd_kernel.v').read()
cfg = open(kernel_dir + '/hd_cfg_pkg.sv').read()
kernel = root.find('kernel')
ports = {p.get('name'): p for p in kernel.iter('port')}
for name in ports:
    if not re.search(r'\b%s_(ar|aw)valid\b' % name, top):
        fail('hd_kernel.v has no port %s' % name)
bits = re.search(r'\bAxiBits = (\d+)', cfg) or re.search(r'AxiBytes = (\d+)', cfg)
width = int(bits[1]) * (8 if 'AxiBytes' in bits[0] else 1)
if int(ports['m_axi_gmem'].get('dataWidth')) != width:
    fail('m_axi_gmem is %s bits wide in kernel.xml, %d in the RTL' % (ports['m_axi_gmem'].get('dataWidth'), width))
if 'C_M_AXI_GMEM_DATA_WIDTH = %d,' % width not in top:
    fail('hd_kernel.v is not %d bits wide' % width)
isa = open(gen + '/hd_isa_pkg.sv').read() + cfg
limit = {n: int(re.search(r'\b%s = (\d+);' % n, isa)[1]) for n in ('BurstBeats', 'OpenBursts', 'FetchChunks', 'StoreRecords')}
for name, value in (('MAX_BURST_LENGTH', limit['BurstBeats']), ('NUM_WRITE_OUTSTANDING', limit['StoreRecords']),
                    ('NUM_READ_OUTSTANDING', 2 * limit['OpenBursts'] + limit['FetchChunks']),
                    ('SUPPORTS_NARROW_BURST', 0), ('HAS_BURST', 1)):
    if 'parameter %s %d\n' % (name, value) not in text:
        fail('m_axi_gmem: %s is not packaged as %d' % (name, value))
args = list(kernel.iter('arg'))
for i, a in enumerate(args):
    at, size, access, busif = registers[a.get('name')]
    pointer = a.get('addressQualifier') == '1'
    want = ('m_axi_gmem' if pointer else '-', 64 if pointer else 32, 'read-write')
    if int(a.get('id')) != i or int(a.get('offset'), 0) != at or int(a.get('size'), 0) * 8 != size:
        fail('argument %s: kernel.xml and the packaged register differ' % a.get('name'))
    if (busif, size, access) != want:
        fail('argument %s: packaged as %s, want %s' % (a.get('name'), (busif, size, access), want))
for must in ('property core sdx_kernel true', 'property core sdx_kernel_type rtl', 'package kernel_name hd_kernel',
             'package ctrl_protocol ap_ctrl_hs', 'bus m_axi_gmem clock ap_clk', 'bus s_axi_control clock ap_clk',
             'bus ap_clk reset ap_rst_n', 'property sources_1 top hd_kernel'):
    if must not in text:
        fail('not recorded: ' + must)
print('%d registers and %d arguments as in the RTL, %d bits' % (len(registers), len(args), width))
