# Data mining: flow sizes of a data-mining cluster (Greenberg et al., VL2, SIGCOMM 2009).
# Source: HKUST-SING/PIAS-NS2 scripts/CDF_vl2.tcl (the same table in NetSys/simulator), in packets; here x 1460 B.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1460 0.000000
1460 0.500000
2920 0.600000
4380 0.700000
10220 0.800000
389820 0.900000
3076220 0.950000
97333820 0.990000
973333820 1.000000
