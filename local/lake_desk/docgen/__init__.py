"""Files generated from the model: JSON Schemas and the reference pages."""
