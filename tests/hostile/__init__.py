"""Statements of other engines and people on published tables, and what is left of these.

`world` makes the lake and puts it back, `attacks` says what is done to it, `engines` are
the programs that do it, `product` runs stages and reads as Hudi, `verdict` judges.
"""
