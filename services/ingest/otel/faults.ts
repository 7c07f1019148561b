// Faults of an item that are no reason to lose it: it is kept, corrected or cut, reported to its sender and counted.

/**
 * `depth`: a value nests deeper than is read, `key`: a key has more parts than are told apart, `type`: a field has a value
 * of another type, `time`: a time is none, or none that the other one allows.
 */
export type FaultKind = 'depth' | 'key' | 'type' | 'time'

/** The first fault of each kind, in words. */
export type Faults = Map<FaultKind, string>

const maxDetail = 120

/** @param detail what of the item it is; only of the first fault of a kind */
export function withFault(faults: Faults | null, kind: FaultKind, detail: string): Faults {
  const known = faults ?? new Map<FaultKind, string>()
  if (!known.has(kind)) known.set(kind, detail.slice(0, maxDetail))
  return known
}
