// Rows that the store refuses for good: kept with their reason, listed, shown and replayed into the log. Here in a file
// of the data folder; dead-letters-table.ts keeps them in the store.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import { uuidv7 } from '../../core/ids.ts'

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

export type DeadLetters = {
  /** Durable before it resolves; the same row of the same record is kept once. */
  add(deadLetter: Omit<DeadLetter, 'id' | 'at'>): Promise<void>
  list(): Promise<DeadLetterSummary[]>
  show(id: string): Promise<DeadLetter | undefined>
  markReplayed(id: string): Promise<void>
  close(): Promise<void>
}

type Line = DeadLetter | { replayed: string; at: string }

/** JSON text without the separators of lines that JSON leaves as they are and line readers split at. */
const oneLine = (line: Line): string =>
  JSON.stringify(line).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)

/** Opens `deadletters.jsonl` in the data folder; only summaries stay in memory. */
export async function openDeadLetters(dir: string): Promise<DeadLetters> {
  const path = join(dir, 'deadletters.jsonl')
  const file = await open(path, 'a+')
  const summaries = new Map<string, DeadLetterSummary>()
  const seen = new Set<string>()
  const keyOf = (letter: Pick<DeadLetter, 'topic' | 'partition' | 'offset' | 'rowIndex'>) =>
    `${letter.topic} ${letter.partition} ${letter.offset} ${letter.rowIndex}`

  const lines = async function* (): AsyncGenerator<Line> {
    for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      try {
        yield JSON.parse(text) as Line
      } catch {
        // a torn last line was never acknowledged: its row is found again when its segment is redone
      }
    }
  }
  const remember = (line: Line): void => {
    if ('replayed' in line) {
      const summary = summaries.get(line.replayed)
      if (summary) summary.replayedAt = line.at
      return
    }
    const { row, ...rest } = line
    // Lines of earlier builds name no partition; their log had one.
    rest.partition ??= 0
    summaries.set(line.id, { ...rest, sizeBytes: Buffer.byteLength(row) })
    seen.add(keyOf(rest))
  }
  for await (const line of lines()) remember(line)

  const queue = createSerialQueue()
  const write = (line: Line): Promise<void> =>
    queue.run(async () => {
      await file.appendFile(`\n${oneLine(line)}\n`)
      await file.datasync()
      remember(line)
    })
  return {
    async add(letter) {
      if (!seen.has(keyOf(letter))) await write({ id: uuidv7(), at: new Date().toISOString(), ...letter })
    },
    list: async () => [...summaries.values()],
    async show(id) {
      if (!summaries.has(id)) return undefined
      for await (const line of lines()) if ('id' in line && line.id === id) return { ...line, ...summaries.get(id) }
      return undefined
    },
    async markReplayed(id) {
      await write({ replayed: id, at: new Date().toISOString() })
    },
    async close() {
      await queue.close()
      await file.close()
    },
  }
}
