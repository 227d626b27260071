from numpy import pad, roll  # noqa: F401
