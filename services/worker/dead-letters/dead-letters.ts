// The port of dead letters: rows that the store refuses for good, kept with their reason, listed, shown and replayed into the
// log. The contract suite in test/engine runs against each driver.
import { createHash } from 'node:crypto'

/** One refused row. `row` is its JSON text as it stood in the log, without the record header. */
export type DeadLetter = {
  id: string
  topic: string
  partition: number
  /** Number of the record in the log, and of the row in the record, from 0. */
  offset: number
  rowIndex: number
  reason: string
  at: string
  row: string
  replayedAt?: string
}

export type DeadLetterSummary = Omit<DeadLetter, 'row'> & { sizeBytes: number }

/**
 * MUST: what was added is there after the next opening, its row as it was, whatever it holds.
 * MUST: the same row at the same place of the log is one letter, whoever finds it and however often; its times stay.
 * MUST: another row at that place is another letter: a log that was lost counts anew.
 * MUST: a letter that was replayed stays so.
 * MUST: nothing of a letter that was removed is left in the files once it resolves (a table: once its old files are gone).
 */
export type DeadLetters = {
  /** Durable before it resolves. */
  add(deadLetter: Omit<DeadLetter, 'id' | 'at'>): Promise<void>
  /** Those found first come first. */
  list(): Promise<DeadLetterSummary[]>
  show(id: string): Promise<DeadLetter | undefined>
  /** A missing letter stays away. */
  markReplayed(id: string): Promise<void>
  /** Removes letters for good, by what they hold. @returns those that were removed */
  remove(isGone: (letter: Pick<DeadLetter, 'topic' | 'row'>) => boolean): Promise<DeadLetterSummary[]>
  close(): Promise<void>
}

/** The same row at the same place of the log is one letter, whichever worker finds it and however often. */
export function idOf({ topic, partition, offset, rowIndex, row }: Omit<DeadLetter, 'id' | 'at'>): string {
  const hash = createHash('sha256').update(`${topic} ${partition} ${offset} ${rowIndex} `).update(row).digest('hex')
  return [0, 8, 12, 16, 20].map((from, i) => hash.slice(from, [8, 12, 16, 20, 32][i])).join('-')
}
