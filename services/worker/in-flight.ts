// The mark that tells, after a crash, which batch the engine was working on and how often that has ended in a crash.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Batch } from '../core/log/log.ts'
import type { TopicName } from '../core/topics.ts'

type Mark = { topic: TopicName; partition: number; firstOffset: number; attempts: number }

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
      return JSON.parse(readFileSync(path, 'utf8')) as Mark
    } catch {
      return undefined
    }
  }
  return {
    begin(batch) {
      const path = pathOf(batch)
      const before = read(path)
      const attempts = before && before.firstOffset === batch.firstOffset ? before.attempts : 0
      const mark: Mark = {
        topic: batch.topic,
        partition: batch.partition,
        firstOffset: batch.firstOffset,
        attempts: attempts + 1,
      }
      // Whole or not at all: a mark that is cut short would forget the starts before.
      writeFileSync(`${path}.new`, JSON.stringify(mark))
      renameSync(`${path}.new`, path)
      return attempts
    },
    end(batch) {
      rmSync(pathOf(batch), { force: true })
    },
  }
}
