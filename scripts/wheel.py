#!/usr/bin/env python3
"""Makes a wheel of package heddle, without network and without setuptools.

    wheel.py VERSION PACKAGE OUT_FOLDER [RTL_FOLDER]

PACKAGE is the staged folder heddle of build/<mode>/python. The C half is built against the stable
ABI, so one wheel serves Python 3.11 and later. RTL models that are built go along. The same files
give the same bytes.
"""
import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: heddle
Version: {version}
Summary: From a network to results and cycles on an open int8 machine
Requires-Python: >=3.11
Provides-Extra: arrays
Requires-Dist: numpy; extra == 'arrays'
Provides-Extra: tables
Requires-Dist: pandas; extra == 'tables'
Provides-Extra: plots
Requires-Dist: matplotlib; extra == 'plots'
"""
WHEEL = """Wheel-Version: 1.0
Generator: heddle
Root-Is-Purelib: false
Tag: {tag}
"""


def files(package, rtl):
    """(name in the wheel, path)"""
    for name in sorted(os.listdir(package)):
        path = os.path.join(package, name)
        if os.path.isfile(path) and not name.endswith((".ok", ".pyc")):
            yield "heddle/" + name, path
    for name in sorted(os.listdir(rtl) if rtl and os.path.isdir(rtl) else []):
        if re.fullmatch(r"libhd_rtl_\w+\.so", name):
            yield "heddle/rtl/" + name, os.path.realpath(os.path.join(rtl, name))


def main(version, package, out, rtl=None):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp311-abi3-{platform}"
    info = f"heddle-{version}.dist-info"
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"heddle-{version}-{tag}.whl")
    content = {}
    for name, source in files(package, rtl):
        with open(source, "rb") as f:
            content[name] = f.read()
    content[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    content[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    record = ""
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    content[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name)  # of 1980: no time stamp
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            z.writestr(entry, data)
    os.replace(path + ".tmp", path)
    print(f"  wheel {path}, {os.path.getsize(path) / 1e6:.1f} MB")


main(*sys.argv[1:])
