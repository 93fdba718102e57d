# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape x=4,,5
# EXIT: 1
#= heddle opt: --shape: got 'x=4,,5', want NAME=N,N,.. with at most 8 sizes of 0 or more
