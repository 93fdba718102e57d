# The stage without its file.
# RUN: heddle opt --stage layers --machine tiny test/golden/stages/residual.t
# EXIT: 2
#= heddle opt: --stage layers wants --layers FILE, as --dump layers prints it; see heddle opt --help
