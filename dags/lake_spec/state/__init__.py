"""What one run leaves and others read: reports, leases, requests, with their versions."""
