"""A laboratory for metrics: which properties they have, and what perturbations of one's own data do to them."""
