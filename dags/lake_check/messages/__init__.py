"""Ids of messages: those of reading and of products, and how they are found in causes."""
