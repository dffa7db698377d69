# Hybrid of web search and data mining with equal bytes (Xie et al., Host-based scheduling (SPQ), Computer Networks 2018).
# Source: the rule of HKUST-SING/PIAS-NS2 spine_empirical_heter.tcl: web search on host pairs i < j, data mining on pairs i > j.
# This table is the marginal over flows, 0.818066 web search + 0.181934 data mining by the nominal means of that script; the rule
# itself is two traffics with the endpoints "ascending" and "descending".
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1460 0.000000
1460 0.090967
2920 0.109161
4380 0.127354
8760 0.140999
8760 0.263709
10220 0.274101
18980 0.309581
27740 0.391807
48180 0.474593
77380 0.582341
194180 0.645204
389820 0.675109
973820 0.738364
1946180 0.823464
3076220 0.858949
4866180 0.909235
9733820 0.966875
29200000 0.992920
97333820 0.998181
973333820 1.000000
