"""The tour's last part: a network learns to read digits in the five regimes of N Table 2, and its gates are
watched. Each file is one picture, or what it is drawn from."""
