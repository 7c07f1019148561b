// Holds the field values of batches that went in as they are until they are written: reading their payloads back from
// the tables costs many times as much. Values that were not gathered, or are forgotten, are read back.
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import { batchMembers } from '../../core/log/combined-batch.ts'
import type { Batch } from '../../core/log/log.ts'
import { textOfBytes } from '../../events/segment-rows.ts'
import { createFieldValueGroups, type FieldValueGroups } from './groups.ts'
import { addRowValues } from './row-values.ts'

/** Positions of some partitions that a rollup lacks: `covered < position <= upTo` of each. */
export type Positions = { partitions: number[]; covered: number[]; upTo: number[] }

/** A row of a new call, and what it begins with; the project as bytes of UTF-8, one per character. */
type GatheredRow = { project: string; startedUs: number; clock: string; isFinished: boolean; text: Buffer }

export type GatheredFieldValues = {
  /** The field values of a batch's calls; null when they are not gathered. */
  read(calls: readonly GatheredRow[]): Promise<FieldValueGroups | null>
  /** The calls of the whole batch, and nothing else of it, are in the tables. */
  hold(batch: Batch, values: FieldValueGroups): void
  /** The batch's positions are committed: from now on `take` returns its values. */
  committed(batch: Batch): void
  /** Returns all values, and the positions among these whose calls were not gathered. */
  take(positions: Positions): { values: FieldValueGroups[]; missing: Positions }
  /** Nothing up to these positions is asked for again. */
  drop(positions: Positions): void
  /** The tables may not be those of before, or lack what was taken. */
  forget(): void
  /** About how many bytes are to be written. */
  bytes(): number
}

/** Field values that are written at once: few large groups are read faster than many small ones. */
export const writtenBytes = 2 * 2 ** 20
/** While more waits nothing is gathered. */
const maxBytes = 64 * 2 ** 20

/** Positions of one partition, `after < position <= to`. */
type Span = { after: number; to: number }

/** The positions of a span that are in none of the others, which are in order. */
function without({ after, to }: Span, others: readonly Span[]): Span[] {
  const rest: Span[] = []
  let from = after
  for (const other of others) {
    if (other.to <= from) continue
    if (other.after >= to) break
    if (other.after > from) rest.push({ after: from, to: other.after })
    from = other.to
  }
  if (from < to) rest.push({ after: from, to })
  return rest
}

/** @param isSoleDeriver whether this process derives all projects: others would read the same payloads back */
export function createGatheredFieldValues(isSoleDeriver: () => boolean): GatheredFieldValues {
  const held = new WeakMap<Batch, FieldValueGroups>()
  let spans = new Map<number, Span[]>()
  let waiting: FieldValueGroups[] = []

  const bytes = () => waiting.reduce((sum, groups) => sum + groups.bytes(), 0)

  const cover = (partition: number, span: Span): void => {
    const all = spans.get(partition) ?? []
    const last = all.at(-1)
    if (last && last.to >= span.after) last.to = Math.max(last.to, span.to)
    else all.push(span)
    spans.set(partition, all)
  }

  return {
    bytes,
    async read(calls) {
      if (!isSoleDeriver() || bytes() > maxBytes) return null
      let project = ''
      let projectId = ''
      const values = createFieldValueGroups()
      let isWhole = true
      await forEachYielding(calls, (call) => {
        const { startedUs, clock, isFinished, text } = call
        if (!isWhole) return
        if (call.project !== project) {
          project = call.project
          projectId = textOfBytes(project)
        }
        values.addRow({ projectId, part: isFinished ? 'both' : 'start', us: startedUs, clock })
        isWhole = addRowValues(values, text, isFinished)
      })
      return isWhole ? values : null
    },
    hold: (batch, values) => void held.set(batch, values),
    committed(batch) {
      const values = held.get(batch)
      if (values === undefined) return
      held.delete(batch)
      for (const { partition, firstOffset, lastOffset } of batchMembers(batch))
        cover(partition, { after: firstOffset - 1, to: lastOffset })
      const last = waiting.at(-1)
      if (last && last.bytes() < writtenBytes) last.absorb(values)
      else waiting.push(values)
    },
    take({ partitions, covered, upTo }) {
      const values = waiting
      waiting = []
      const missing: Positions = { partitions: [], covered: [], upTo: [] }
      for (const [n, partition] of partitions.entries())
        for (const { after, to } of without(
          { after: covered[n] as number, to: upTo[n] as number },
          spans.get(partition) ?? [],
        )) {
          missing.partitions.push(partition)
          missing.covered.push(after)
          missing.upTo.push(to)
        }
      return { values, missing }
    },
    drop({ partitions, upTo }) {
      for (const [n, partition] of partitions.entries()) {
        const rest = (spans.get(partition) ?? []).filter(({ to }) => to > (upTo[n] as number))
        spans.set(partition, rest)
      }
    },
    forget() {
      spans = new Map()
      waiting = []
    },
  }
}
