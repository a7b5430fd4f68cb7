"""What AWS gives: releases, jars and cores of clusters, tags of a deployment."""
