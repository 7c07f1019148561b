// The mark that tells, after a crash, which batches the engine was working on and how often that has ended in a crash.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Batch } from '../core/log/log.ts'
import type { TopicName } from '../core/topics.ts'

/** By first offset of a batch, how often it was begun. */
type Mark = { topic: TopicName; partition: number; attempts: Record<string, number> }

export type InFlight = {
  /** Notes that the batch is about to be applied; returns how often it was begun before without an end. */
  begin(batch: Batch): number
  end(batch: Batch): void
}

/** For a store that is not in this process: its end is an outage, never a crash of ours. */
export const noInFlight: InFlight = { begin: () => 0, end() {} }

/**
 * Marks are small files in `dir`, one per topic and partition, written without a sync: a crash of the process does not
 * lose what the kernel has, and a crash of the machine is not the engine's fault.
 */
export function createInFlight(dir: string): InFlight {
  const pathOf = (batch: Batch) => join(dir, `in-flight-${batch.topic}-${batch.partition}.json`)
  const read = (path: string): Mark | undefined => {
    if (!existsSync(path)) return undefined
    try {
      const mark = JSON.parse(readFileSync(path, 'utf8')) as Mark & { firstOffset?: number }
      // as it was written when one batch was under way at most
      if (typeof mark.attempts === 'number') return { ...mark, attempts: { [String(mark.firstOffset)]: mark.attempts } }
      return mark
    } catch {
      return undefined
    }
  }
  // Whole or not at all: a mark that is cut short would forget the starts before.
  const write = (path: string, mark: Mark): void => {
    writeFileSync(`${path}.new`, JSON.stringify(mark))
    renameSync(`${path}.new`, path)
  }
  return {
    begin(batch) {
      const path = pathOf(batch)
      const { topic, partition, firstOffset } = batch
      const others = read(path)?.attempts ?? {}
      const before = others[firstOffset] ?? 0
      write(path, { topic, partition, attempts: { ...others, [firstOffset]: before + 1 } })
      return before
    },
    end(batch) {
      const path = pathOf(batch)
      const { topic, partition, firstOffset } = batch
      const { [firstOffset]: _, ...attempts } = read(path)?.attempts ?? {}
      if (Object.keys(attempts).length > 0) write(path, { topic, partition, attempts })
      else rmSync(path, { force: true })
    },
  }
}
