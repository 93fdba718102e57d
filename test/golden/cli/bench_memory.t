# RUN: heddle bench memory test/models/digits
#= network  naive bytes  planned  bound  over bound  under naive
#= digits          4746     3072   3072       1.000         1.54
