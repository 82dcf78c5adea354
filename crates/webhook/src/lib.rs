//! Sends cauri's signed webhooks over HTTP, behind an address guard.
