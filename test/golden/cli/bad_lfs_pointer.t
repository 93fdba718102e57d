# RUN: heddle run test/golden/cli/bad/lfs_pointer.onnx --device golden
# EXIT: 1
#= heddle run: test/golden/cli/bad/lfs_pointer.onnx: Git LFS left a pointer in place of the file; run 'git lfs pull' in its repository
