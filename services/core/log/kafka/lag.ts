// Estimates what is appended and not applied: bytes and age per partition, from own appends and observed ends.
export type PartitionLag = {
  /** An append of this process was acknowledged. */
  appended(lastOffset: number, records: number, bytes: number, atMs: number): void
  /** The end of the partition was seen; records of others count with the mean size of those that are known. */
  observed(end: number, atMs: number): void
  /** The position was seen; it does not go back by that. */
  committed(offset: number): void
  /** Records after the position are applied again. */
  wentBack(offset: number, atMs: number): void
  position(): number
  end(): number
  unappliedBytes(): number
  /** Latest possible append time of the oldest unapplied record; null if there is none. */
  oldestMs(): number | null
}

/** Records up to `end` that follow those of the entry before. */
type Entry = { first: number; end: number; bytes: number; guessedBytes: number; atMs: number }

/** Older entries are joined beyond this number: memory stays the same however long the lag. */
const maxEntries = 512

const defaultRecordBytes = 4096

export function createPartitionLag(): PartitionLag {
  let entries: Entry[] = []
  let end = 0
  let position = 0
  let knownRecords = 0
  let knownBytes = 0

  const meanBytes = (): number => (knownRecords === 0 ? defaultRecordBytes : knownBytes / knownRecords)

  function push(to: number, bytes: number, guessedBytes: number, atMs: number): void {
    entries.push({ first: Math.max(end, position) + 1, end: to, bytes, guessedBytes, atMs })
    end = to
    if (entries.length <= maxEntries) return
    const joined: Entry[] = []
    for (let i = 0; i < entries.length; i += 2) {
      const one = entries[i] as Entry
      const next = entries[i + 1]
      joined.push(
        next === undefined
          ? one
          : {
              ...one,
              end: next.end,
              bytes: one.bytes + next.bytes,
              guessedBytes: (one.guessedBytes + next.guessedBytes) / 2,
            },
      )
    }
    entries = joined
  }

  function observed(to: number, atMs: number): void {
    if (to <= end) return
    const records = to - Math.max(end, position)
    if (records <= 0) {
      end = to
      return
    }
    const guess = records * meanBytes()
    push(to, guess, guess / records, atMs)
  }

  return {
    appended(lastOffset, records, bytes, atMs) {
      if (lastOffset > end) {
        observed(lastOffset - records, atMs)
        knownRecords += records
        knownBytes += bytes
        if (lastOffset > position) push(lastOffset, bytes, 0, atMs)
        end = Math.max(end, lastOffset)
        return
      }
      // It was seen from outside first: the guess is corrected.
      const entry = entries.find((one) => one.first <= lastOffset && lastOffset <= one.end)
      if (entry !== undefined) entry.bytes += bytes - records * entry.guessedBytes
      knownRecords += records
      knownBytes += bytes
    },
    observed,
    committed(offset) {
      if (offset <= position) return
      position = offset
      while (entries[0] !== undefined && entries[0].end <= offset) entries.shift()
      const first = entries[0]
      if (first === undefined || first.first > offset) return
      // Within an entry the bytes are taken to be spread evenly.
      const share = (first.end - offset) / (first.end - first.first + 1)
      first.bytes *= share
      first.first = offset + 1
    },
    wentBack(offset, atMs) {
      if (offset >= position) return
      const bytes = (position - offset) * meanBytes()
      entries.unshift({ first: offset + 1, end: position, bytes, guessedBytes: meanBytes(), atMs })
      end = Math.max(end, position)
      position = offset
    },
    position: () => position,
    end: () => Math.max(end, position),
    unappliedBytes: () => Math.round(entries.reduce((sum, { bytes }) => sum + Math.max(0, bytes), 0)),
    oldestMs: () => entries[0]?.atMs ?? null,
  }
}
