// Notes on disk which batch the engine is applying, and after crashes how often that batch ended the process.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Batch } from '../../core/log/log.ts'

type Mark = { topic: string; partition: number; firstOffset: number; attempts: number }

/** Findings about rows of a batch, by a digest of the rows; the newest finding counts. */
export type ProbeResults = {
  count(): number
  get(digest: string): string | undefined
  put(digest: string, finding: string): void
}

export type InFlight = {
  /** Notes that the batch is about to be applied; returns how often it was begun before without an end. */
  begin(batch: Batch): number
  /** Findings of child processes about the batch in this start and those before, by the same build. */
  findings(batch: Batch): ProbeResults
  /** Progress of groups of its rows that are applied one by one, in the same form. */
  steps(batch: Batch): ProbeResults
  /** It is applied. */
  end(batch: Batch): void
  /** The process ends in order before it is applied: this start was no crash, and those before still count. */
  leave(batch: Batch): void
}

const nothing: ProbeResults = { count: () => 0, get: () => undefined, put() {} }

/** For a store that is not in this process: its end is an outage, never a crash of ours. */
export const noInFlight: InFlight = {
  begin: () => 0,
  findings: () => nothing,
  steps: () => nothing,
  end() {},
  leave() {},
}

/**
 * Notes are small files in `dir`, one per topic and partition, written without a sync: a crash of the process does not
 * lose what the kernel has, and a crash of the machine is not the engine's fault.
 * @param build findings of another build say nothing
 */
export function createInFlight(dir: string, build = ''): InFlight {
  const nameOf = (batch: Batch) => `${batch.topic}-${batch.partition}`
  const pathOf = (batch: Batch) => join(dir, `in-flight-${nameOf(batch)}.json`)
  const kinds = ['findings', 'steps'] as const
  const listPathOf = (batch: Batch, kind: (typeof kinds)[number]) => join(dir, `in-flight-${nameOf(batch)}.${kind}`)
  const read = (path: string): Mark | undefined => {
    if (!existsSync(path)) return undefined
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Mark
    } catch {
      return undefined
    }
  }
  const attemptsOf = (batch: Batch): number => {
    const before = read(pathOf(batch))
    return before && before.firstOffset === batch.firstOffset ? before.attempts : 0
  }
  const write = (batch: Batch, attempts: number): void => {
    const path = pathOf(batch)
    const mark: Mark = { topic: batch.topic, partition: batch.partition, firstOffset: batch.firstOffset, attempts }
    // Whole or not at all: a note that is cut short would forget the starts before.
    writeFileSync(`${path}.new`, JSON.stringify(mark))
    renameSync(`${path}.new`, path)
  }
  const end = (batch: Batch): void => {
    rmSync(pathOf(batch), { force: true })
    for (const kind of kinds) rmSync(listPathOf(batch, kind), { force: true })
  }
  const listOf = (batch: Batch, kind: (typeof kinds)[number]): ProbeResults => {
    const path = listPathOf(batch, kind)
    const [head, ...lines] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
    if (head !== build) writeFileSync(path, `${build}\n`)
    // A last line that is cut short names no digest that is ever asked for.
    const known = new Map(
      head === build ? lines.filter(Boolean).map((line) => line.split(' ') as [string, string]) : [],
    )
    return {
      count: () => known.size,
      get: (digest) => known.get(digest),
      put(digest, finding) {
        known.set(digest, finding)
        appendFileSync(path, `${digest} ${finding}\n`)
      },
    }
  }
  return {
    begin(batch) {
      const attempts = attemptsOf(batch)
      write(batch, attempts + 1)
      return attempts
    },
    findings: (batch) => listOf(batch, 'findings'),
    steps: (batch) => listOf(batch, 'steps'),
    end,
    leave(batch) {
      const attempts = attemptsOf(batch) - 1
      if (attempts > 0) write(batch, attempts)
      else end(batch)
    },
  }
}
