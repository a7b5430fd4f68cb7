"""Rules across the settings of a spec: one small function per rule."""
