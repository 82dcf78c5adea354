//! The HTTP API of cauri as a tower service.
