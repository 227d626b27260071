# SPDX-License-Identifier: Apache-2.0
"""Memory in which a store is seen by others when something orders it before their load, and perhaps not earlier.

Who stores and loads is a warp. Each keeps a vector clock: for every warp the epoch up to which it must see what
that one has stored (Flanagan and Freund, "FastTrack", PLDI 2009). A barrier, and an acquire that reads what was
released, join clocks; a barrier, a release and a fence begin a new epoch. Each word of memory keeps its last store
with warp and epoch, and the value before. A plain load of a word whose last store its warp need not see yet gets one
of the two, by the seed: stores arrive late, and in any order. Where all is ordered the seed makes no difference.

Relaxed, volatile, acquire and release accesses get the last store when the scopes of both span both warps; otherwise
they are plain ones.
Words are of 4 bytes: bytes of one word that several warps store are not told apart.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Optional

import numpy as np

Array = Any  # np.ndarray

PARAMETERS, SHARED, LOCAL = 0xf0000000, 0x01000000, 0xe0000000
SHARED_WINDOW = 0x01000000  # from one block of a cluster to the next
GLOBAL = 0x100000000
GUARD = 256  # bytes beside each array, which nothing may touch
POISON = 0xffffffff  # of what was not stored yet: a NaN
NOWHERE = -1
SCOPES = ("cta", "cluster", "gpu", "sys")


class MemoryFault(Exception):
    """An access that a device refuses."""


@dataclass
class Place:
    """Of each warp."""
    block: Array
    cluster: Array

    def spans(self, scope: str, a: int, b: int) -> bool:
        if scope == "cta":
            return bool(self.block[a] == self.block[b])
        return scope != "cluster" or bool(self.cluster[a] == self.cluster[b])


@dataclass
class Message:
    """What a strong store says besides its value: what is to be seen by who acquires it. `clock`: None, nothing."""
    warp: int
    scope: str
    clock: Optional[Array]


@dataclass
class Clocks:
    """Of all warps; the last column is the host, whose stores all see. `fenced`: what a relaxed store releases, by the
    fence before it; `read`: what the next fence acquires."""
    seen: Array
    fenced: dict[int, tuple[str, Array]] = field(default_factory=dict)
    read: dict[int, Array] = field(default_factory=dict)

    @staticmethod
    def of(warps: int) -> "Clocks":
        seen = np.zeros((warps, warps + 1), np.int64)
        seen[np.arange(warps), np.arange(warps)] = 1
        seen[:, warps] = np.iinfo(np.int64).max
        return Clocks(seen)

    def snapshot(self, warp: int) -> Array:
        """What `warp` sees; what it stores from now on is not part of it."""
        clock = self.seen[warp].copy()
        self.seen[warp, warp] += 1
        return clock

    def join(self, warp: int, clock: Array) -> None:
        np.maximum(self.seen[warp], clock, out=self.seen[warp])

    def meet(self, warps: Array) -> None:
        """A barrier: all see what each sees."""
        self.seen[warps] = self.seen[warps].max(axis=0)
        self.seen[warps, warps] += 1


class Memory:
    """Of a launch: parameters, arrays, the blocks' shared memory and the threads' local memory, as one
    array of words. `staleness`: how often a load that need not see a store does not."""

    def __init__(self, parameters: bytes, arrays: dict[int, Array], shared: tuple[int, int],
                 local: tuple[int, int], place: Place, staleness: float, random: np.random.Generator) -> None:
        """`arrays`: bytes by address. `shared`: blocks and bytes of each; `local`: threads and bytes of each."""
        self.place, self.staleness, self.random = place, staleness, random
        self.clocks = Clocks.of(len(place.block))
        self.messages: dict[int, Message] = {}
        self.arrays = arrays
        self.shared_bytes, self.local_bytes = -(-shared[1] // 16) * 16, local[1]
        end = max((at + len(data) for at, data in arrays.items()), default=GLOBAL) + GUARD - GLOBAL
        end = -(-end // 16) * 16
        self.parameters_at = end
        self.shared_at = self.parameters_at + -(-len(parameters) // 16) * 16 + GUARD
        self.local_at = self.shared_at + shared[0] * (self.shared_bytes + GUARD) + GUARD
        words = (self.local_at + local[0] * local[1] + GUARD) // 4
        self.value = np.full(words, POISON, np.uint32)
        self.old_value = np.full(words, POISON, np.uint32)
        # warp << 32 | epoch; the host's where nothing was stored by the kernel.
        self.host = np.int64(len(place.block)) << 32
        self.stamp = np.full(words, NOWHERE, np.int64)
        self.stamp_of_warp = np.arange(len(place.block), dtype=np.int64) << 32
        for at, data in arrays.items():
            self._open(at - GLOBAL, data)
        self._open(self.parameters_at, np.frombuffer(parameters, np.uint8))
        poison = np.full(self.shared_bytes, 0xff, np.uint8)
        for block in range(shared[0]):
            self._open(self.shared_at + block * (self.shared_bytes + GUARD), poison)
        self.stamp[self.local_at // 4:(self.local_at + local[0] * local[1]) // 4] = self.host

    def _open(self, at: int, data: Array) -> None:
        self.value.view(np.uint8)[at:at + len(data)] = data
        self.stamp[at // 4:-(-(at + len(data)) // 4)] = self.host

    def results(self) -> dict[int, Array]:
        """The arrays as a launch that ends leaves them."""
        data = self.value.view(np.uint8)
        return {at: data[at - GLOBAL:at - GLOBAL + len(old)].copy() for at, old in self.arrays.items()}

    def offsets(self, address: Array, space: str, first_block: Array, thread: Array) -> Array:
        """Where generic addresses lie in the array, in bytes. `first_block`: of the cluster of each thread."""
        address = address.astype(np.int64)
        if space == "":
            low = int(address.min())
            space = ("global" if low >= GLOBAL else "param" if low >= PARAMETERS else
                     "local" if low >= LOCAL else "shared")
            high = int(address.max())
            if (low >= GLOBAL) != (high >= GLOBAL) or (low >= LOCAL) != (high >= LOCAL):
                return self._mixed(address, first_block, thread)
        if space == "global":
            return address - GLOBAL
        if space == "param":
            return address - PARAMETERS + self.parameters_at
        if space == "local":
            return address - LOCAL + thread * self.local_bytes + self.local_at
        offset = address % SHARED_WINDOW
        if (offset >= self.shared_bytes).any():
            raise MemoryFault(f"shared memory has {self.shared_bytes} bytes, byte {int(offset.max())} is wanted")
        block = first_block + address // SHARED_WINDOW - SHARED // SHARED_WINDOW
        return offset + block * (self.shared_bytes + GUARD) + self.shared_at

    def _mixed(self, address: Array, first_block: Array, thread: Array) -> Array:
        result = np.empty_like(address)
        is_global, is_local = address >= GLOBAL, (address >= LOCAL) & (address < PARAMETERS)
        is_param = (address >= PARAMETERS) & (address < GLOBAL)
        for mask, space in ((is_global, "global"), (is_local, "local"), (is_param, "param"),
                            (address < LOCAL, "shared")):
            if mask.any():
                result[mask] = self.offsets(address[mask], space, first_block[mask], thread[mask])
        return result

    def _words(self, offset: Array, count: int) -> Array:
        """[access][word]"""
        if (offset & (4 * count - 1)).any() and count in (1, 2, 4):
            raise MemoryFault(f"an address is no multiple of {4 * count}")
        if offset.min() < 0 or offset.max() // 4 + count > len(self.value):
            raise MemoryFault("an address beyond all memory")
        first = offset >> 2
        return first[:, None] + np.arange(count) if count > 1 else first[:, None]

    def load(self, warp: Array, offset: Array, count: int) -> Array:
        """`count` words at each offset, which is a multiple of their bytes: [access][word]."""
        at = self._words(offset, count)
        stamp = self.stamp[at]
        if stamp.min() < 0:
            raise MemoryFault("a load from where nothing is")
        values = self.value[at]
        seen = self.clocks.seen[warp[:, None], stamp >> 32] >= (stamp & 0xffffffff)
        if not seen.all():
            stale = ~seen & (self.random.random(seen.shape) < self.staleness)
            values[stale] = self.old_value[at[stale]]
        return values

    def store(self, warp: Array, offset: Array, values: Array) -> None:
        """[access][word]"""
        at = self._words(offset, values.shape[1])
        before = self.stamp[at]
        if before.min() < 0:
            raise MemoryFault("a store to where nothing is")
        own = (self.stamp_of_warp[warp] | self.clocks.seen[warp, warp])[:, None]
        changed = before != own
        if changed.all():
            self.old_value[at] = self.value[at]
        elif changed.any():
            replaced = at[changed]
            self.old_value[replaced] = self.value[replaced]
        self.value[at] = values
        self.stamp[at] = np.broadcast_to(own, at.shape)

    def store_narrow(self, warp: Array, offset: Array, values: Array) -> None:
        """Parts of words: [access][byte]."""
        at = offset >> 2
        if offset.min() < 0 or at.max() >= len(self.stamp) or self.stamp[at].min() < 0:
            raise MemoryFault("a store to where nothing is")
        own = self.stamp_of_warp[warp] | self.clocks.seen[warp, warp]
        changed = at[self.stamp[at] != own]
        self.old_value[changed] = self.value[changed]
        self.value.view(np.uint8)[offset[:, None] + np.arange(values.shape[1])] = values
        self.stamp[at] = own

    def load_strong(self, warp: Array, offset: Array, count: int, scope: str, acquires: bool) -> Array:
        """Relaxed or acquire."""
        values = self.load(warp, offset, count)
        at = self._words(offset, count)
        for i, own in enumerate(warp.tolist()):
            words = at[i].tolist()
            writer = int(self.stamp[words[0]] >> 32)
            message = self.messages.get(words[0])
            reach = message.scope if message else None
            if writer != own and writer < len(self.place.block) and reach is not None and \
                    self.place.spans(min(scope, reach, key=SCOPES.index), writer, own):
                values[i] = self.value[words]
                if message and message.clock is not None and message.warp == writer:
                    if acquires:
                        self.clocks.join(own, message.clock)
                    before = self.clocks.read.get(own, message.clock)
                    self.clocks.read[own] = np.maximum(before, message.clock)
        return values

    def store_strong(self, warp: Array, offset: Array, values: Array, scope: str, releases: bool) -> None:
        """Relaxed or release. What the lanes of a warp have stored before is part of what each releases."""
        snapshots = {own: self.clocks.snapshot(own) for own in set(warp.tolist())} if releases else {}
        self.store(warp, offset, values)
        for own, word in zip(warp.tolist(), (offset >> 2).tolist()):
            fence_scope, clock = self.clocks.fenced.get(own, ("sys", None))
            if releases:
                clock = snapshots[own]
            elif clock is not None:
                scope = min(scope, fence_scope, key=SCOPES.index)
            self.messages[word] = Message(own, scope, clock)

    def fence(self, warps: Iterable[int], scope: str) -> None:
        """Of acquire and release."""
        for warp in warps:
            if warp in self.clocks.read:
                self.clocks.join(warp, self.clocks.read.pop(warp))
            self.clocks.fenced[warp] = (scope, self.clocks.snapshot(warp))
