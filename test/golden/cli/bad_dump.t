# RUN: heddle compile a.onnx --dump everything
# EXIT: 2
#= heddle compile: --dump: got 'everything', want import, legalize, plan, program or all; see heddle compile --help
