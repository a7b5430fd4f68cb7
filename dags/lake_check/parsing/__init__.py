"""From YAML files to the model, gathering every fault; and the model as JSON."""
