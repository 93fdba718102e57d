# RUN: heddle opt test/golden/import/models/if_too_deep.onnx 2>&1 | head -1
#= heddle opt: graph 'deep': nested deeper than 16
