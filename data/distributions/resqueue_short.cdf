# ResQueue, short flows: 1 to 6 KB, 80 % of them 1 KB; mean 1500 B.
# Source: Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.3.1. Chosen for tailcut: the other 20 % are uniform
# up to 6 KB, which gives the thesis's average of about 1500 B.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1000 0.000000
1000 0.800000
6000 1.000000
