//! The laws of cauri's ports as a test suite anyone can run.
