"""Questions of speed, one a file: each shows Penstock beside a peer, both measured in turns in one run.

`python -m benchmarks` answers all of them, `python -m benchmarks shared_counts` one. A machine is never quiet
and two are never alike, so what counts is the ratio. To ask a new question, add a file with a `bench` in it.
"""
