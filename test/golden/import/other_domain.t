# RUN: heddle opt test/golden/import/models/other_domain.onnx
# EXIT: 1
#= heddle opt: node 'fancy' (Fancy): operation Fancy of domain 'com.example' (no opset) is not supported; 'heddle ops' lists those that are
#=   while importing test/golden/import/models/other_domain.onnx
