"""What is pulled from servers is landed first; then it is as any landing file."""
