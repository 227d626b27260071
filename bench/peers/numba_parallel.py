# SPDX-License-Identifier: Apache-2.0
"""numba_fused with its rows on all threads by prange, which starts and joins them in every step."""
import numba_fused


class Peer(numba_fused.Peer):
    parallel = True
