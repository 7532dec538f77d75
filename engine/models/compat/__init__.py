"""The compatibility backend: transformers' own modules for families without a lean file, our experts inside. Slower."""
