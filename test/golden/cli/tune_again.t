# RUN: rm -f build/tune_again.db && heddle tune 8x16x8 --db build/tune_again.db --seconds 60 | tail -1 | sed 's/.*;//; s/[0-9][0-9]* schedules/N schedules/'
# RUN: heddle tune 8x16x8 --db build/tune_again.db --seconds 60 | tail -1 | sed 's/.*;//; s/[1-9][0-9]* known/N known/'
# RUN: rm -f build/tune_again.db
#=  N schedules measured, 0 known before
#=  0 schedules measured, N known before
