"""reactrepro: ReAct evaluations that replay offline, to the byte, from recorded fixtures."""

__version__ = "0.1.0"
