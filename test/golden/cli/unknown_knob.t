# RUN: heddle run test/models/digits --knob band
# EXIT: 1
#= heddle run: knob: got 'band', want name=value; heddle knobs lists the names
