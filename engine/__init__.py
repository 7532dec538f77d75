"""Underhill's engine: Mixture-of-Experts inference with offloading. No Qt anywhere below here."""
