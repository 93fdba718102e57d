# Windows of a column make every second row of a line buffer, then the others, channel by channel: what compare takes of
# it is the value.
# RUN: python3 test/golden/compare/make_column.py /tmp/heddle_golden_column.onnx
# RUN: heddle compile --machine big --dump plan /tmp/heddle_golden_column.onnx | grep -c roll=
# RUN: heddle compare --machine big --devices golden,iss /tmp/heddle_golden_column.onnx | tail -1
#= 1
#= golden,iss agree: 3 values compared, all bit-equal
