# A name that is wider than 48 bytes keeps both ends, and is found by one of them.
# RUN: heddle query test/golden/import/models/long_name.onnx "[name $= Relu_7]"
#= name                                              op    layer
#= model/activation..del/batch_norm/resource;Relu_7  relu  model/activation;model/batch_norm/resource;model/batch_norm/resource;model/batch_norm/resource;Relu_7
#= 1 of 1 operations
