# Superways, short flows as the public script draws them: 1 to 10 KiB, with a new draw for each comparison.
# Source: hrezae2/Superways-WWW-21, randomShort.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
1024 0.000000
1024 0.404040
2048 0.404040
2048 0.586458
3072 0.586458
3072 0.713040
4096 0.713040
4096 0.795020
5120 0.795020
5120 0.845214
6144 0.845214
6144 0.872062
7168 0.872062
7168 0.889684
10240 0.889684
10240 1.000000
