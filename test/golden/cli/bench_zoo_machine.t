# RUN: heddle bench zoo test/models/digits --machine tiny,huge
# EXIT: 1
#= heddle bench: machine 'huge': not tiny, base, big, nano, lean or k26, and no such file (No such file or directory); a machine file has lines key = value
