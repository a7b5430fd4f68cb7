"""A world of things of others, in which the product's own commands and functions are played.

`scene` says what a scene is and plays it, the other modules have the scenes of one kind each,
`guard` says what a guard of the product is, `guards` and `guards_of_spark` have those that
are taken away, or made too strict: this world must notice each.
"""
