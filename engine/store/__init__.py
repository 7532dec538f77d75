"""The on-disk expert store: format, writer, reader."""
