"""The live panel: where every expert lives, at which precision, and what limits the speed."""
