"""Changes of a database captured on this machine: Kafka, Kafka Connect, a connector.

Servers and connector run in a folder of their own, without the state directory's lock, so
that runs can read the topics meanwhile.
"""
