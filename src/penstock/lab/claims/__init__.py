"""One file per table, figure or theorem of a paper: settings at each scale, the run, the judgement, the
picture.

To add a claim, add a file named after it (`n02_output_is_an_inner_product.py`) that holds one `claim =
Claim(...)`; the command, the tests and the table find it by listing this folder."""
