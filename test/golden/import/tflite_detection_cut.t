# Options that are no map.
# RUN: heddle opt test/golden/import/models/detection_cut.tflite
# EXIT: 1
#= heddle opt: TFLite_Detection_PostProcess 'boxes': its options have no number 'max_detections'
#=   while importing test/golden/import/models/detection_cut.tflite
