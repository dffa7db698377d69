# Web search, rounded to bytes: the table that ns-3 scripts use (Alizadeh et al., DCTCP, SIGCOMM 2010).
# Source: alibaba-edu/High-Precision-Congestion-Control traffic_gen/WebSearch_distribution.txt, in percent; here in 0..1.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
0 0.000000
10000 0.150000
20000 0.200000
30000 0.300000
50000 0.400000
80000 0.530000
200000 0.600000
1000000 0.700000
2000000 0.800000
5000000 0.900000
10000000 0.970000
30000000 1.000000
