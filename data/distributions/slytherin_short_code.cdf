# Slytherin and ICON, short flows as the public scripts draw them: 8, 16 or 32 KiB, with a new draw for each comparison.
# Source: hrezae2/IWQoS18 and hrezae2/ICON.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
8192 0.000000
8192 0.336735
16384 0.336735
16384 0.637566
32768 0.637566
32768 1.000000
