"""The claims of the papers that are not built yet: id, place, kind, and what is claimed, in one sentence of
our own.

A claim that gets a file of its own leaves this list. Where a paper is wrong as printed, the sentence says
what is judged."""

import re
from collections.abc import Iterator

__all__ = ["CATALOGUE"]

# An id, a kind and a place; below it, indented, the sentence.
_TABLE = """
N1 limit, Proposition 1.1
    Under small gradient steps the error moves as ė = -K e, with K the neural tangent kernel.
N8 limit, Proposition 4.1
    In a deep gated network ė = -(K^v + K^f) e, and -K^v e where the gates are fixed.
N9 limit, Lemma B.1, Theorem B.1
    With gates independent of the weights, the mean of K^v is d σ^(2(d-1)) H.
N10 limit, Theorem B.2
    The variance of K^v falls as d_in² d³ / w.
N11 limit, Theorem 5.1
    As the width grows, K^v tends to d σ^(2(d-1)) H, at the rate w^(-1/2).
N13 limit, Corollary C.1
    Gates padded m times give the same limit as m grows, from a feature network of finite width.
N15 exact/limit, Section 5, Equation (2)
    The recursion (2) is the tangent kernel of infinitely wide ReLU networks, in two normalisations.
N18 figure, Figure 3, left
    Features frozen later in training make better value networks, up to past the CNTK.
N19 figure, Section 6.2
    Random features fall short of the CNTK, which falls short of learnt features and ReLU.
N20 figure, Figure 3, middle
    The label energy of the normalised path kernel, yᵀĤ⁻¹y, falls as a network trains.
N21 figure, Figure 3, right
    The value kernel K^v and the feature kernel K^f are of one scale during training.
N22 figure, Appendix D
    A memorisation network trains faster with depth up to 8 (w = 25) or 12 (w = 500), then slower.
N23 exact, Appendix D
    The ideal memorisation kernel has ρ_max = 1 + (n-1) μ^(d-1), and ρ_min = 1 - μ^(d-1) n-1 times.
N25 limit, Section 5
    With random gates the kernel of fixed gates tends to d Σ ⊙ Π Σ̂, which is neither form of the NTK.
N26 exact, Remark after Definition 3.2
    A deep linear and a ReLU network of the same weights have one value tangent kernel.
D2 exact, Lemma 2.1
    The path Gram matrix splits into input and path parts only in expectation: cross terms remain.
D4 limit, Theorem 2.3
    The mean of K_0 is d σ^(2(d-1)) (xᵀx ⊙ λ_0); its variance is larger than the printed bound.
D6 figure, Experiment 1, Figures 1-3
    The spectrum of K_0 follows the ideal one; depth speeds training up to 8 (w = 25) or 12 (w = 500)
    layers.
D8 figure, Experiment 2, Figure 4
    GaLU networks train faster with depth, and faster than ReLU, with a better spectrum.
D9 figure, Figure 5
    ReLU and GaLU both fit random labels and random pixels on MNIST; on true labels ReLU generalises
    better.
D10 figure, Figure 6
    The label energy of the path kernel falls as a ReLU network trains on two classes of MNIST.
D12 figure, Experiment 4
    A ReLU network generalises better than the frozen gates of its own start.
D14 figure, Experiment 6
    Training the gates alone, with the weights frozen, reaches 56 % on CIFAR-10.
D15 figure, Figure 8
    The label energy of the kernels is smaller where gates are learnt or adapt.
D16 figure, Experiment 7, Table 4
    Sharper soft gates do better, up to the accuracy of ReLU.
D17 exact, Section 3
    With soft gates K_t = K^w + K^a, and cross terms join where weights are shared.
D18 limit, Lemma 3.1
    The means over weights are d σ^(2(d-1)) (xᵀx) ⊙ λ for K^w and σ^(2d) (xᵀx) ⊙ δ for K^a.
D21 exact/limit, Lemma 4.1
    The mean Gram matrix of a pooled convolutional network sums over bundles and does not see rotations.
D22 figure, Experiment 8, Corollary 8.1
    In a deep linear network the mean of K_0 is d at every depth, and the error falls accordingly.
R1 exact, Equations (3)-(6)
    The gradient of a gated deep linear network is a sum over paths of correlations.
R2 exact, Equations (7)-(10)
    From a decoupled start the singular values evolve alone.
R3 exact/figure, Appendix A.1, Equations (18)-(23), Figure 3
    On XoR the closed form, the gated network and a ReLU network from small weights learn alike.
R4 exact, Appendix A.2, Equations (24)-(29)
    Contextual classification gives [½ ½] without gates, and [1 0] and [0 1] with them.
R5 figure, Section 4, Figure 4
    On routing tasks loss and singular values follow the reduction, and untrained routes come out right.
R6 exact, Section 4
    M B1² - B2² is conserved, so that hidden weights grow √M more; on any graph, likewise at each node.
R7 exact/figure, Equations (16)-(17), Figure 5b
    Paths that share more learn faster, in the ratio P^(1/4).
R8 figure, Figure 5c
    The error on untrained routes falls to that of trained ones near 40 % of routes.
R9 figure, Section 4.3, Figure 6
    Zero-shot transfer appears from small starts only; large starts learn a representation per domain.
R10 figure, Figures 7b-d, 8, 10
    Shared modules transfer over permuted and rotated MNIST, and over CIFAR features.
R11 figure, Figure 9
    With leaky ReLU inside the modules about 25 % of routes suffice.
R12 beyond, open question
    The gating that wins the race can be found from the data, and tells which one a ReLU network learns.
R13 figure, Section 4.2
    In one network with shared and dedicated paths, the most shared one carries the output.
R14 exact/figure, Section 3.1, Appendix A.2
    Stronger modes learn faster, and edges on more paths learn faster, on any graph.
L1 exact, Theorem 1, Equations (2)-(3)
    The gradient at every student node follows from the teacher's nodes by the β recursion.
L2 exact/limit, Theorem 2, Equation (6)
    Weights move as Ẇ = L* W* H* - L W H, exactly with the joint expectation.
L3 exact, Theorem 3
    BatchNorm conserves the norm of a node's weights; where it comes after the ReLU, the bias counts in.
L4 exact, Lemma 1
    BatchNorm's gradient has mean zero and is orthogonal to its input.
L5 exact, Theorem 4
    A student node that starts near a teacher node converges to it at a rate that the overlaps give.
L6 limit, Theorem 5
    Where the upper layer starts small, relevant nodes converge and irrelevant ones fade.
L7 limit, Assumptions 2, 3
    The activation overlaps are Lipschitz and small, measured and in closed form for Gaussian inputs.
L8 figure, Figures 7, 17-21
    Students specialise: correlation with the best teacher node rises, and BatchNorm helps.
L9 figure, Figure 8
    On CIFAR-10 students pass their teacher by about 1 %, and BatchNorm does not speed specialisation.
L10 figure, Figures 9, 22, 23
    Small teachers are learnt faster, and a fixed finite set stalls where nodes see few active examples.
L11 figure, Figure 10
    The matrices H* and β* become nearly diagonal in training.
L12 figure, Figures 6, 16
    The BatchNorm biases of trained VGG networks are mostly negative.
L13 figure, Figure 3
    Resetting the lucky weights of a lottery ticket retrains well, and redrawing them does not.
L14 beyond, Section 3.3
    Pruning by top-down modulation keeps more than pruning by the norm of weights.
L15 figure, Sections 1, 3.3, 3.4
    More students to a teacher node start nearer to it and end nearer; the others fade.
B1 figure, beyond the papers
    Examples that share active paths share meaning: flipped labels disagree with their path neighbors.
"""


def _entries(table: str) -> Iterator[tuple[str, str, str, str]]:
    """id, place, kind, sentence."""
    for entry in re.split(r"\n(?=\S)", table.strip()):
        head, *sentence = entry.split("\n")
        id, kind, place = re.split(r",? ", head, maxsplit=2)
        yield id, place, kind, " ".join(line.strip() for line in sentence)


CATALOGUE: tuple[tuple[str, str, str, str], ...] = tuple(_entries(_TABLE))
