"""Questions about all paths at once, by one pass of the module and without listing any.

The module runs as it is, under a watch. Beside every signal a *shadow* is carried: for each of its entries,
how many open paths lead to it, or what their values add up to. Above, the watch handles gates; below it,
every operation of torch that reads a signal is followed by its counterpart on the shadows (`rules`), with
|w|^p, or 1, in the place of a weight w. Nothing is exported, so this works wherever a watch does.
"""
