# RUN: heddle run test/models/digits --device iss --jobs 2
# EXIT: 2
#= heddle run: --jobs: of a run are processes of the RTL, want --device rtl; see heddle run --help
