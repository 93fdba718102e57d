# RUN: heddle compile a.onnx --dump everything
# EXIT: 2
#= heddle compile: --dump: got 'everything', want one of import, legalize, prepare, layers, plan, ops, program, all; see heddle compile --help
