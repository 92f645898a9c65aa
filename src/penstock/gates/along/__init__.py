"""Along the line of weights between two steps of training: where on it does a gate flip?

With every gate held, a pre-activation is a polynomial in the place on that line, whose degree is at most
the number of weight layers below it; so a few looks inside a step say what happens in all of it (`search`).
`penstock.Switches` is what a reader calls.
"""
