# Superways, short flows: 1 to 10 KB, about 70 % of them 1 KB.
# Source: Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.4.2. Chosen for tailcut: the other 30 % are uniform
# up to 10 KB.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1000 0.000000
1000 0.700000
10000 1.000000
