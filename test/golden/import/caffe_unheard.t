# RUN: heddle opt test/golden/import/models/unheard.prototxt
# EXIT: 1
