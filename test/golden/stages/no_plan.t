# RUN: heddle opt --stage plan --machine tiny test/golden/stages/residual.t
# EXIT: 2
#= heddle opt: --stage plan wants --plan FILE, as --dump plan prints it; see heddle opt --help
