# RUN: heddle opt test/golden/import/models/if_run_time.onnx --value c
# EXIT: 1
#= heddle opt: --value: got 'c', want NAME=NUMBER
