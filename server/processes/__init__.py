"""Programs as processes of this machine, which never outlive the process that started them."""
