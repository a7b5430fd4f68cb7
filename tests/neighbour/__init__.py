"""A world of things of others, in which the product's own commands and functions are played.

`scene` says what a scene is and plays it, the other modules have the scenes of one kind each,
`guards` has ways to take a guard of the product away, which every such world must notice.
"""
