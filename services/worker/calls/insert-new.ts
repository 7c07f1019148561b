// Takes a batch of calls that nothing is stored of into the tables without a merge: what most batches are.
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import { batchMembers } from '../../core/log/combined-batch.ts'
import type { Batch } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Query, Store } from '../../core/store/store.ts'
import type { GatheredFieldValues } from '../../derived/field-index/gathered.ts'
import type { FieldValueGroups } from '../../derived/field-index/groups.ts'
import { callsTopic } from '../../events/calls.ts'
import { type SegmentRow, sourceOf, textOfBytes, withSourceRows } from '../../events/segment-rows.ts'
import { newCallsLandings } from '../../tables/calls.ts'
import { isRefusal } from '../split/cuts.ts'
import { type CallRow, keyOfTexts, type RowsByCall, rowsByCall } from './call-rows.ts'
import type { KnownCalls } from './known-calls.ts'
import type { Marking } from './materializer.ts'
import { lookupRows } from './merge-fragments.ts'
import type { SpansOfRows } from './spans.ts'

export type NewCallsInsert = {
  /**
   * Inserts the rows if each of them begins a call that is new, and marks their minutes as dirty.
   * @param some only these of the batch's rows; absent: all
   * @returns whether it did
   */
  insert(batch: Batch, some: SegmentRow[] | undefined, marking: Marking): Promise<boolean>
  /** Whether all calls of a batch that was not inserted here, as far as they need further steps, are joined. */
  isJoined(batch: Batch): boolean
  /** Spans of a batch whose rows `insert` has seen last. */
  spansOf(batch: Batch): SpansOfRows | undefined
  /** Rows that are about to be inserted in another way. @returns their spans */
  note(rows: readonly SegmentRow[]): Promise<SpansOfRows>
}

export type NewCallsDeps = {
  /** Projects whose calls need further steps; null = any may. */
  joined?: (() => readonly string[] | null) | undefined
  /** Whether a row of such a project holds what the steps would find. */
  isJoined?: ((project: string, id: string, clock: string) => boolean) | undefined
  /** Absent where other processes write the tables too: each call is looked up there. */
  known?: KnownCalls | undefined
  /** Takes the field values of the calls meanwhile. */
  gathered?: Pick<GatheredFieldValues, 'read' | 'hold'> | undefined
}

export function createNewCallsInsert(
  store: Store,
  { joined = () => [], isJoined = () => false, known, gathered }: NewCallsDeps,
): NewCallsInsert {
  const joinedBatches = new WeakSet<Batch>()
  const spansOfBatches = new WeakMap<Batch, SpansOfRows>()

  /** Whether nothing is stored of any of the calls, no fragment either. */
  const areNew = async (suspects: readonly CallRow[]): Promise<boolean> => {
    if (suspects.length === 0) return true
    if (suspects.length > lookupRows) return false
    const params = {
      projects: suspects.map(({ project }) => textOfBytes(project)),
      ids: suspects.map(({ id }) => textOfBytes(id)),
    }
    const stored = await store.rows<{ project_id: string; id: string }>(statement('calls-known', params), {
      pool: 'background',
    })
    const keys = new Set(suspects.map(({ key }) => key))
    return !stored.some(({ project_id, id }) => keys.has(keyOfTexts(project_id, id)))
  }

  /** Adds all calls and traces to the known ones; returns the keys of those of which something may be stored, undefined for all. */
  const note = async ({ calls, isUnsure, spans }: RowsByCall): Promise<Set<string> | undefined> => {
    if (known === undefined) return undefined
    const found = new Set<string>()
    await forEachYielding(calls.keys(), (key) => {
      if (known.add(key)) found.add(key)
    })
    const newTraces = new Set<string>()
    await forEachYielding(new Set([...spans.mixed, ...spans.traces.keys()]), (key) => {
      if (!known.add(key)) newTraces.add(key)
    })
    if (isUnsure) known.disable('unknown row')
    // Looked at when all were asked for: fingerprints that were forgotten meanwhile prove nothing.
    if (!known.isComplete()) return undefined
    spans.newTraces = newTraces
    spans.storedCalls = found
    return found
  }

  /** The calls of the rows; undefined when some of the rows begin none, or need further steps. */
  const callsOf = (batch: Batch, { calls, rowCount }: RowsByCall): CallRow[] | undefined => {
    const found = [...calls.values()].filter((one) => one !== null)
    if (found.length !== rowCount) return undefined
    const needing = joined()
    if (needing === null) return undefined
    const projects = new Set(needing)
    const needy = projects.size > 0 ? found.filter(({ project }) => projects.has(textOfBytes(project))) : []
    if (needy.length === 0) return found
    if (needy.every(({ project, id, clock }) => isJoined(textOfBytes(project), textOfBytes(id), clock)))
      joinedBatches.add(batch)
    return undefined
  }

  /** @returns null where they are read back, as what else is marked under the positions of the batch is */
  const gather = async (calls: readonly CallRow[], { isAlone }: Marking): Promise<FieldValueGroups | null> =>
    isAlone && gathered ? gathered.read(calls) : null

  const hold = (batch: Batch, values: FieldValueGroups | null): void => {
    if (values) gathered?.hold(batch, values)
  }

  /** @param source of all the rows */
  const insertRows = async (
    batch: Batch,
    rows: Iterable<SegmentRow>,
    source: Batch['source'],
    marking: Marking,
  ): Promise<boolean> => {
    const byCall = await rowsByCall(rows)
    spansOfBatches.set(batch, byCall.spans)
    const calls = byCall.rowCount === 0 ? undefined : callsOf(batch, byCall)
    const stored = await note(byCall)
    if (calls === undefined) {
      if (!byCall.hasPayloads) hold(batch, await gather([], marking))
      return false
    }
    if (!(await areNew(stored ? calls.filter(({ key }) => stored.has(key)) : calls))) return false
    // Nobody covers its position before it is committed, so that a mark may come before its rows, or without them.
    const marked = store.command(await markDirty(batch, calls, marking), { beside: true })
    marked.catch(() => undefined)
    const inserting = store.insert({ ...callsTopic, landing: landingOf(calls, byCall) }, source)
    const gathering = gather(calls, marking)
    try {
      const [{ rowsRead }, values] = await Promise.all([inserting, gathering])
      if (rowsRead !== byCall.rowCount) return false
      hold(batch, values)
    } catch (error) {
      // The other way finds out which row it is.
      if (isRefusal(error)) return false
      throw error
    } finally {
      // Nothing may read the rows any more.
      await Promise.allSettled([marked, gathering])
    }
    await marked
    return true
  }

  return {
    insert: (batch, some, marking) =>
      some
        ? insertRows(batch, some, sourceOf(some), marking)
        : withSourceRows(batch, (rows) => insertRows(batch, rows, batch.source, marking)),
    isJoined: (batch) => joinedBatches.has(batch),
    spansOf: (batch) => spansOfBatches.get(batch),
    async note(rows) {
      const byCall = await rowsByCall(rows)
      await note(byCall)
      return byCall.spans
    },
  }
}

function landingOf(calls: readonly CallRow[], { mayBeBilled }: RowsByCall): string {
  const landings = newCallsLandings[calls.every(({ isFinished }) => isFinished) ? 'finished' : 'begun']
  return landings[mayBeBilled ? 'billed' : 'unbilled']
}

const secondUs = 1_000_000
const halfMinute = 30

/**
 * Marks the minutes or seconds in which the calls begin as dirty, each under the position of the partition
 * that it came from.
 */
async function markDirty(batch: Batch, calls: readonly CallRow[], { isBySecond }: Marking): Promise<Query> {
  const positions = new Map(batchMembers(batch).map(({ partition, lastOffset }) => [partition, lastOffset]))
  const minutes = new Map<string, { lead: string; halves: [number, number] }>()
  await forEachYielding(calls, ({ partition, project, startedUs }) => {
    const at = Math.floor(startedUs / secondUs)
    const second = at % 60
    const minute = at - second
    const key = `${partition} ${minute} ${project}`
    let marked = minutes.get(key)
    if (marked === undefined) {
      const lead = JSON.stringify([textOfBytes(project), partition, positions.get(partition), minute]).slice(0, -1)
      marked = { lead, halves: [0, 0] }
      minutes.set(key, marked)
    }
    marked.halves[second < halfMinute ? 0 : 1] |= 1 << (second % halfMinute)
  })
  const rows = Array.from(
    minutes.values(),
    ({ lead, halves: [first, last] }) =>
      `${lead},${!isBySecond ? 0 : BigInt(first) | (BigInt(last) << BigInt(halfMinute))}]`,
  )
  return statement('dirty-buckets-of-new', {}, { rows: rows.join('\n') })
}
