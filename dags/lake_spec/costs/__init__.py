"""What runs cost: estimates before, the ledger after, prices."""
