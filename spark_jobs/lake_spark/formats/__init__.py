"""What landing files hold: their formats, their columns, and what wraps their rows."""
