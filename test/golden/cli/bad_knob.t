# RUN: heddle run test/models/digits --knob bands=0
# EXIT: 1
#= heddle run: knob bands: got '0', want a whole number from 1 to 64 bands
