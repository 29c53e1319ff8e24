"""The engines that come with the project, and engines from a file, by the spec that names them."""
