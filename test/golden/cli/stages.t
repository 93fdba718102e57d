# RUN: python3 scripts/stages.py heddle
