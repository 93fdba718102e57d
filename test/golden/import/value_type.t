# RUN: heddle opt test/golden/import/models/if_run_time.onnx --value c=0.5
# EXIT: 1
#= heddle opt: --value c: its type does not hold 0.5
#=   while importing test/golden/import/models/if_run_time.onnx
