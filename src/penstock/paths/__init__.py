"""Paths listed one by one, with their features, values and tangent kernel; and counted.

A path is a sequence of weights that leads from an input (or from the 1 before a bias) to an output. Its value
is the product of the weights, its activity the product of the gates on the way (N Section 2.1). The walk's
operations say how each continues paths; nothing here knows a layer.
"""
