# RUN: heddle compile /no/such.onnx -o /tmp/heddle_x.hdl --keep 'conv['
# EXIT: 1
#= heddle compile: selector 'conv[', at column 6 (''): want the name of an attribute; see docs/query.md
