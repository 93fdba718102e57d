# RUN: heddle query test/models/digits 'conv[kernel_shape="3,3"], .input'
#= name     op        layer    kernel_shape
#= image_q  quantize  image_q  
#= conv1    conv      conv1    3,3
#= res_a    conv      res_a    3,3
#= res_b    conv      res_b    3,3
#= down     conv      down     3,3
#= 5 of 38 operations
