# RUN: heddle choose test/models/digits
# EXIT: 2
#= heddle choose: wants --db FILE with measured runs; heddle bench choose makes it; see heddle choose --help
