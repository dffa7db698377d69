# Superways, long flows as the public script draws them: 100, 1000 or 10000 KiB.
# Source: hrezae2/Superways-WWW-21, randomLong. The script sets the load by a mean of 2350 KiB; the true one is 3150 KiB.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
102400 0.000000
102400 0.510204
1024000 0.510204
1024000 0.710121
10240000 0.710121
10240000 1.000000
