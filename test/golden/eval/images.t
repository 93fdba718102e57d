# Pixels are 15 times those of the data set. The last one is a JPEG.
# RUN: heddle eval test/models/digits --data test/golden/eval/images --scale 0.0666666667 --labels test/golden/eval/labels.txt | grep -v samples/s
# RUN: heddle eval test/models/digits --data test/golden/eval/images --scale 0.0666666667 --labels test/golden/eval/wrong.txt --device iss | grep top-1
# RUN: heddle eval test/models/digits --data test/golden/eval/images --scale 0.0666666667 --labels test/golden/eval/labels.txt --images 2 --json - | grep -E 'top|samples'
#= test/models/digits/model.onnx on cpu, 4 samples of test/golden/eval/images
#= top-1 100.00 %: the label is first 4 times
#= top-5 100.00 %: among five 4 times
#= top-1 0.00 %: the label is first 0 times
#=   "samples": 2,
#=   "top1": 1,
#=   "top5": 1,
