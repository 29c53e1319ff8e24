"""What people are shown of a search: its trace, the tree that it saw, and how much work it did beside others."""
