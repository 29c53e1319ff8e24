"""Who is connected, what their messages lead to, and who plays whom."""
