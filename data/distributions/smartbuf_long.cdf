# Smartbuf, long flows: 1 to 10 MB.
# Source: Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.5.1, which gives the range. Chosen for tailcut: uniform.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1000000 0.000000
10000000 1.000000
