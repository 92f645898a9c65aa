"""The slow, obvious versions that every fast path is checked against, one file a subject.

Nothing here imports Penstock: what is computed twice must not be computed by the same lines.

* `wiring`: a network as scalar units and weighted edges, laid by loops over outputs, channels and positions;
* `paths`: its paths, listed one by one, with their features, values and activities;
* `kernels`: Jacobians and tangent kernels by a loop over `torch.autograd.grad`;
* `onepass`: what all paths of a residual network add up to, by loops over layers and positions;
* `decoupled`: the gates of one network in another, with torch's own functions replaced call by call;
* `switching`: the instants at which gates flip along a line of weights, by looking at 100,000 points of it.
"""
