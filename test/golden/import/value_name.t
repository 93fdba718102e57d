# RUN: heddle opt test/golden/import/models/if_run_time.onnx --value d=0
# EXIT: 1
#= heddle opt: --value d: the network has no input of that name, or is no ONNX file; its first input is c
#=   while importing test/golden/import/models/if_run_time.onnx
