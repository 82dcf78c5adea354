//! What a command does to several things, purely.
