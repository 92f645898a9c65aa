"""A module's graph, read into steps.

`read` turns a module into a `Graph`: the list of torch operations that its input passes, each with its
place in the user's own source. Every question about weights (listed paths, kernels) walks along these
steps, and there is no second reader.

What stands where: `reading` is the way in; `rehearsal`, `export`, `regions`, `translation` and `simplify`
make the graph; `audit`, `agreement`, `derivatives` and `diagnosis` see that it stands for the module;
`refusal`, `pinned` and `place` word what went wrong; `cache` and `fingerprint` keep it.
"""
