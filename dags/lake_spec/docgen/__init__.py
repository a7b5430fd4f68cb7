"""What is made from the model: JSON Schemas and the reference pages."""
