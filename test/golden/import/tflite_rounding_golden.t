# RUN: heddle test test/golden/import/rounding_cases --rounding tflite --device golden
#= ok   test/golden/import/rounding_cases/elem/test_data_set_0: max|diff| 0, tolerance exact; max|diff| 0, tolerance exact; max|diff| 0, tolerance exact
#= 1 passed, 0 failed, 0 skipped
