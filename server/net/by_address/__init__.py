"""What is counted by the address that it comes from: work, failed logins, and what other servers tell of them."""
