# PDQ, query aggregation: uniform, 2 to 198 KB, mean 100 KB.
# Source: Hong, Caesar, Godfrey, Finishing Flows Quickly with Preemptive Scheduling (PDQ), SIGCOMM 2012. The public slides
# do not give the range; it has not been checked against the paper's text.
# size_bytes cumulative_probability; linear between lines; equal sizes on two lines are an atom
2000 0.000000
198000 1.000000
