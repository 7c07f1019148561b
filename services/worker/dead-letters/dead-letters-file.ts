// Rows that the store refuses for good: kept with their reason, listed, shown and replayed into the log. Here in a file
// of the data folder; dead-letters-table.ts keeps them in the store.
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import { type DeadLetter, type DeadLetterSummary, type DeadLetters, idOf } from './dead-letters.ts'

type Line = DeadLetter | { replayed: string; at: string }

/** JSON text without the separators of lines that JSON leaves as they are and line readers split at. */
const oneLine = (line: Line): string =>
  JSON.stringify(line).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)

/** Opens `deadletters.jsonl` in the data folder; only summaries stay in memory. */
export async function openFileDeadLetters(dir: string): Promise<DeadLetters> {
  const path = join(dir, 'deadletters.jsonl')
  let file = await open(path, 'a+')
  const summaries = new Map<string, DeadLetterSummary>()
  const seen = new Set<string>()

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
    // Lines of earlier builds name no partition; their log had one.
    line.partition ??= 0
    const { row, ...rest } = line
    summaries.set(line.id, { ...rest, sizeBytes: Buffer.byteLength(row) })
    seen.add(idOf(line))
  }
  for await (const line of lines()) remember(line)

  const queue = createSerialQueue()
  const write = async (line: Line): Promise<void> => {
    await file.appendFile(`\n${oneLine(line)}\n`)
    await file.datasync()
    remember(line)
  }
  return {
    add: (letter) =>
      queue.run(async () => {
        const id = idOf(letter)
        if (!seen.has(id)) await write({ id, at: new Date().toISOString(), ...letter })
      }),
    list: async () => [...summaries.values()],
    async show(id) {
      if (!summaries.has(id)) return undefined
      for await (const line of lines()) if ('id' in line && line.id === id) return { ...line, ...summaries.get(id) }
      return undefined
    },
    markReplayed: (id) =>
      queue.run(async () => {
        if (summaries.has(id)) await write({ replayed: id, at: new Date().toISOString() })
      }),
    remove: (isGone) =>
      queue.run(async () => {
        const temporary = `${path}.tmp`
        const kept = await open(temporary, 'w')
        const removed: DeadLetterSummary[] = []
        try {
          for await (const line of lines()) {
            const summary = 'id' in line ? summaries.get(line.id) : undefined
            if ('id' in line && summary !== undefined && isGone(line)) removed.push(summary)
            else await kept.write(`${oneLine(line)}\n`)
          }
          if (removed.length === 0) return removed
          await kept.datasync()
        } finally {
          await kept.close()
        }
        await rename(temporary, path)
        await file.close()
        file = await open(path, 'a+')
        const folder = await open(dir, 'r')
        await folder.sync().finally(() => folder.close())
        for (const { id } of removed) {
          summaries.delete(id)
          seen.delete(id)
        }
        return removed
      }),
    async close() {
      await queue.close()
      await file.close()
    },
  }
}
