# RUN: heddle opt test/golden/import/models/open.prototxt
# EXIT: 1
