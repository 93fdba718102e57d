# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Loops: rounds move addresses by add; an inner loop stands in the body of an outer one; semaphores order
# load and store of each round. 4 rows of 3 bytes go to every 16th row, each byte three times.
#: arena 0x100 u8 1 2 3 4 5 6 7 8 9 10 11 12
#: dump 0x1000 64 u8
{ lx.load seg=1 src=0xff dst=0 run=1 n1=1 n2=1 n3=1 ; st.store seg=1 dst=0xffd src=0 run=1 n1=3 n2=1 n3=1 d1=1 }
seq.barrier
loop 4
  loop 3
    lx.load sig=4 src+=1 dst+=8
    st.store wait=4 dst+=3 src+=8
  end
  st.nop sig=7
  seq.nop wait=7 # the next row: 16 - 9 further
  { st.store word4+=7 run=1 }
end
seq.barrier
loop 1
  seq.halt
end
#= 0x1000 u8 1 1 1 2 2 2 3 3 3 9 10 11 12 3 3 3
#= 0x1010 u8 4 4 4 5 5 5 6 6 6 25 26 27 28 6 6 6
#= 0x1020 u8 7 7 7 8 8 8 9 9 9 41 42 43 44 9 9 9
#= 0x1030 u8 10 10 10 11 11 11 12 12 12 57 58 59 60 12 12 12
