# RUN: heddle opt test/golden/import/models/small.prototxt
