"""The program as its installers lay it down: which release starts, and the packages of its engine. Knows no Qt.

Nothing here runs in a checkout or where pip installed Underhill: there the engine's packages are beside the window's.
"""
