# RUN: heddle run test/models/digits --devices golden,iss,cpu --set clock_mhz=300 --outputs build/devices_share.npz --json build/devices_share.json > /dev/null
# RUN: heddle run test/models/digits --device golden --outputs build/devices_one.npz > /dev/null
# RUN: cmp build/devices_share.npz build/devices_one.npz
# RUN: python3 -c "import json; [print(p['device'], p['nodes'], p['in_bytes'], p['out_bytes'], p['why'], sep='; ') for p in json.load(open('build/devices_share.json'))['parts']]"
# RUN: rm -f build/devices_share.npz build/devices_share.json build/devices_one.npz
#= golden; 1; 256; 64; golden 1.1 us, iss cannot run 1 of 1, cpu 1.1 us
#= iss; 7; 64; 10; golden 434.4 us, iss 7.2 us, cpu 19.3 us
#= golden; 1; 10; 40; golden 0.6 us, iss cannot run 1 of 1, cpu 1.0 us
