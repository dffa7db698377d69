# Slytherin, ICON and ResQueue, long flows: 1 MB each.
# Source: Rezaei, Malekpourshahraki, Vamanan, Slytherin, ICCCN 2018, section IV; Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.2.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1000000 0.000000
1000000 1.000000
