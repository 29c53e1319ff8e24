"""Child processes on this machine, such as bots, which never outlive the process that started them."""
