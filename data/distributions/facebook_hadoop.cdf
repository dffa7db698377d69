# Facebook Hadoop: flow sizes of a Hadoop cluster (Roy et al., SIGCOMM 2015).
# Source: alibaba-edu/High-Precision-Congestion-Control traffic_gen/FbHdp_distribution.txt, in percent; here in 0..1.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
0 0.000000
100 0.010000
200 0.020000
300 0.050000
350 0.150000
400 0.200000
500 0.300000
600 0.400000
700 0.500000
1000 0.600000
2000 0.670000
7000 0.700000
30000 0.720000
50000 0.820000
80000 0.870000
120000 0.900000
300000 0.950000
1000000 0.975000
2000000 0.990000
10000000 1.000000
