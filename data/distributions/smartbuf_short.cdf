# Smartbuf, short flows: 1 to 32 KB.
# Source: Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.5.1, which gives the range. Chosen for tailcut: uniform.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1000 0.000000
32000 1.000000
