# SPDX-License-Identifier: Apache-2.0
from numpy import pad, roll  # noqa: F401
