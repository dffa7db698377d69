# Web search: flow sizes of a production web-search cluster (Alizadeh et al., DCTCP, SIGCOMM 2010).
# Source: HKUST-SING/PIAS-NS2 scripts/CDF_dctcp.tcl (the same table in Soheil-ab/HyLine and NetSys/simulator), in packets; here x 1460 B.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
8760 0.000000
8760 0.150000
18980 0.200000
27740 0.300000
48180 0.400000
77380 0.530000
194180 0.600000
973820 0.700000
1946180 0.800000
4866180 0.900000
9733820 0.970000
29200000 1.000000
