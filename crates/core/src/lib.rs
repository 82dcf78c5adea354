//! The pure heart of cauri: money, state machines, fees, signatures, decisions.
