# Slytherin and ICON, short flows: uniform, 8 to 32 KB.
# Source: Rezaei, Malekpourshahraki, Vamanan, Slytherin, ICCCN 2018, section IV; Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.2.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
8000 0.000000
32000 1.000000
