// Builds the field index in the background, from the payloads of dirty minutes; see ADR 0011.
import { setImmediate } from 'node:timers/promises'
import { fieldIndexRollup } from '../../content/field-paths.ts'
import { statement } from '../../core/store/statements.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import { type Budget, unlimited } from '../budget.ts'
import type { Rollup } from '../rollups/rollup-table.ts'
import { createGatheredFieldValues, type GatheredFieldValues, type Positions, writtenBytes } from './gathered.ts'
import { createFieldValueGroups, type FieldValueGroups, type Root, roots } from './groups.ts'
import type { PayloadKey } from './row-group.ts'
import { maxPayloadBytes } from './row-values.ts'
import { decodePayloadRows, type PayloadRow } from './rows.ts'

/** Rows that are read at once: a statement costs as much as thousands of small rows, and large ones fill the memory. */
const pageRows = { min: 1_000, max: 8_000 }
const pageBytes = 8 * 2 ** 20
/** Rows that are scanned before the event loop is yielded to requests. */
const rowsBetweenYields = 50
/** First page: indexed rows are looked up for the whole of it, so it should not be large where others are not. */
const firstPageUs = 3_600_000_000
const longestPageUs = 31 * 86_400_000_000
/** Values that wait are written before long lest readers look for them in many payloads. */
const soonBytes = 2 ** 20
const aside = { background: true }
const nowhere: Positions = { partitions: [], covered: [], upTo: [] }

const parts = ['both', 'start', 'end'] as const

export type FieldIndex = {
  /** Indexes the payloads of dirty minutes; a run leaves out what an earlier one wrote. */
  rollup: Rollup & Required<Pick<Rollup, 'derive'>>
  /** Values of batches that need not be read back. */
  gathered: GatheredFieldValues
  stop(): void
}

type Span = { project_id: string; from_us: string; before_us: string }
type Pace = { us: number; limit: number }

const rootsOf = (part: PayloadKey['part']): readonly Root[] =>
  part === 'both' ? roots : part === 'start' ? roots.slice(0, 2) : roots.slice(2)

function addRow(groups: FieldValueGroups, projectId: string, row: PayloadRow): void {
  const part = parts[row.side] ?? 'both'
  groups.addRow({ projectId, part, us: row.us, clock: row.clock })
  for (const root of rootsOf(part))
    if (row.isLeftOut) groups.addOpaque(root)
    else groups.addDocument(root, row[root])
}

/**
 * @param deps.budget runs each page of rows
 * @param deps.lateness of the rollup, as a job of the budget says it
 * @param deps.isSoleDeriver whether this process derives all projects, from what it applies itself too
 */
export function createFieldIndex(deps: {
  store: Store
  budget?: Budget
  lateness?: () => number
  isSoleDeriver?: () => boolean
}): FieldIndex {
  const { store, budget = unlimited, lateness = () => 0, isSoleDeriver = () => false } = deps
  const gathered = createGatheredFieldValues(isSoleDeriver)
  let isStopping = false
  let lastGroup = 0

  const write = async (groups: FieldValueGroups): Promise<void> => {
    if (groups.bytes() === 0) return
    // Numbers of groups differ between runs of the process and grow.
    lastGroup = Math.max(lastGroup, Date.now() * 1_000)
    const { values, groups: rows, count } = groups.take(lastGroup)
    lastGroup += count
    if (values !== '') await store.command(statement('field-index-insert', { rows: values }), aside)
    await store.command(statement('field-index-insert-groups', { rows }), aside)
  }

  /** Adds the rows of an answer to the groups; returns their number and the last one. */
  const gather = async (projectId: string, answer: Buffer, groups: FieldValueGroups) => {
    let count = 0
    let last: PayloadRow | undefined
    for (const row of decodePayloadRows(answer)) {
      addRow(groups, projectId, row)
      last = row
      if (++count % rowsBetweenYields === 0) await setImmediate()
    }
    return { count, last }
  }

  /** A page of payload rows; null when it is too large and a smaller one may not be. */
  const read = (params: Record<string, unknown> & { limit: number }): Promise<Buffer | null> =>
    store.bytes(statement('field-index-payloads', params), 'RowBinary', { pool: 'background' }).catch((error) => {
      if (params.limit > pageRows.min && error instanceof StoreError && error.kind === 'memory') return null
      throw error
    })

  /** Writes all that was gathered until now; returns the positions that it lacks. */
  const writeGathered = async (positions: Positions): Promise<Positions> => {
    const { values, missing } = gathered.take(positions)
    for (const groups of values) await write(groups)
    return missing
  }

  /** @param pace how long pages are by now: after a delete there are many ranges in which nothing is to be indexed */
  const walk = async (span: Span, groups: FieldValueGroups, pace: Pace): Promise<void> => {
    const end = Number(span.before_us)
    let after = { us: Number(span.from_us), id: '', side: -1 }
    while (after.us < end && !isStopping) {
      const before = Math.min(end, after.us + pace.us)
      const { us, id, side } = after
      const { limit } = pace
      const params = { project: span.project_id, from: us, before, id, side, bytes: maxPayloadBytes, limit }
      const found = await budget.run(
        async () => {
          // Rows whose values are written are not read back.
          await writeGathered(nowhere)
          const answer = await read(params)
          if (answer === null) return null
          const { count, last } = await gather(span.project_id, answer, groups)
          if (groups.bytes() >= writtenBytes) await write(groups)
          return { count, last, bytes: answer.length }
        },
        { lateness },
      )
      if (found === null) {
        pace.limit = pageRows.min
        continue
      }
      const { count, last, bytes } = found
      if (last && count === limit) {
        after = last
        pace.us = Math.max(firstPageUs, pace.us / 2)
      } else {
        after = { us: before, id: '', side: -1 }
        if (count < limit / 4) pace.us = Math.min(pace.us * 2, longestPageUs)
      }
      if (count > 0)
        pace.limit = Math.max(pageRows.min, Math.min(pageRows.max, Math.floor((pageBytes / bytes) * count)))
    }
  }

  /** Reads back the payloads of minutes that are dirty since some positions. */
  const walkAll = async (range: Record<string, unknown>): Promise<void> => {
    const spans = await store.rows<Span>(statement('field-index-due', range), { pool: 'background' })
    const groups = createFieldValueGroups()
    const pace = { us: firstPageUs, limit: pageRows.min }
    for (const span of spans) {
      await walk(span, groups, pace)
      if (isStopping) break
    }
    await write(groups)
    if (isStopping) throw new Error('stopped before all payloads were indexed')
  }

  const derive = async (range: Record<string, unknown>): Promise<void> => {
    try {
      // Without a turn of the budget: these values fill the memory, and cost many times as much once they are read back.
      const missing = await writeGathered(range as Positions)
      if (missing.partitions.length > 0)
        await walkAll({ ...range, ...missing, minCovered: Math.min(...missing.covered) })
    } catch (error) {
      gathered.forget()
      throw error
    }
    gathered.drop(range as Positions)
  }

  return {
    rollup: {
      name: fieldIndexRollup,
      markAllStatement: 'dirty-buckets-of-payloads',
      derive,
      forget: gathered.forget,
      isSlow: true,
      isMuchDue: () => gathered.bytes() >= soonBytes,
    },
    gathered,
    stop() {
      isStopping = true
    },
  }
}
