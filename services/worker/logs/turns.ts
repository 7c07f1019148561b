// Calls of coding agents' records that name no prompt lie below the last prompt before them, whichever arrives first: what
// lies elsewhere is appended as the same call with another parent and a newer clock.
import type { Log } from '../../core/log/log.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import { appendCalls, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import { halves, splitBatch } from '../split/split-batch.ts'
import { statement } from '../statements.ts'
import type { Look } from './look.ts'
import { readSpans } from './read-spans.ts'
import { spanOf } from './span-rows.ts'

/** Records that one page of a look is about; calls that are read at once, and their bytes. */
const maxRecords = 10_000
const maxCalls = 1_000
const maxBytes = 16 * 2 ** 20
/** Moved calls that are remembered until they are in the tables. */
const maxMoved = 100_000

type Row = {
  project_id: string
  session: string
  at_ns: string
  id: string
  prompt: string
  before: string
  parent: string
  trace_id: string
  clock: string
  bytes: number
}

const background = { pool: 'background' } as const

/** A record's call that is there, and lies elsewhere than below the last prompt before it. */
const isDue = ({ clock, prompt, parent }: Row): boolean => clock !== '0' && prompt !== '' && parent !== prompt

const keyOf = ({ project_id: project, id }: { project_id: string; id: string }): string => `${project}\n${id}`

/**
 * Newer by the number of prompts: a look that knows more of them wins, whichever comes first. It need not stay older than
 * what is accepted later, since a record that is sent again says the same.
 */
const clockOf = ({ clock, before }: Row): bigint => BigInt(clock) + BigInt(before)

/** Few enough to be read at once. */
function* fewAtOnce(due: readonly Row[]): Generator<Row[]> {
  let some: Row[] = []
  let bytes = 0
  for (const one of due) {
    if (some.length > 0 && (some.length === maxCalls || bytes + Number(one.bytes) > maxBytes)) {
      yield some
      some = []
      bytes = 0
    }
    some.push(one)
    bytes += Number(one.bytes)
  }
  if (some.length > 0) yield some
}

/** @returns moves what is due below its prompts; resolves with how many calls */
export function createTurns(deps: {
  store: Pick<Store, 'rows'>
  log: Log
  onError(error: Error): void
}): (look: Look, signal: AbortSignal) => Promise<number> {
  const { store, log } = deps
  /** Clocks of the last rows that were appended: what is in the log already is not appended once more. */
  const moved = new Map<string, bigint>()

  const place = async (due: readonly Row[]): Promise<number> => {
    const spans = await readSpans(store, due, false, background)
    const of = new Map(due.map((one) => [keyOf(one), one]))
    const writer = createCallWriter(callSplitOf(log))
    const written: [key: string, clock: bigint][] = []
    for (const row of spans.values()) {
      const one = row === null ? undefined : of.get(keyOf(row))
      // What changed since it was found is due again by itself.
      if (row === null || one === undefined || row.clock !== one.clock) continue
      const clock = clockOf(one)
      written.push([keyOf(one), clock])
      writer.add({ kind: 'complete', ...spanOf(row), clock, displayName: null, parentId: one.prompt })
    }
    const count = writer.rowCount()
    await appendCalls(log, writer.take())
    log.flush('calls')
    if (moved.size + written.length > maxMoved) moved.clear()
    for (const [key, clock] of written) moved.set(key, clock)
    return count
  }

  /** Fewer at a time where they do not fit into memory; one that does not fit alone stays where it is. */
  const placeAll = async (all: readonly Row[]): Promise<number> => {
    let count = 0
    await splitBatch(all, async (due) => {
      try {
        count += await place(due)
        return []
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'memory') throw error
        if (due.length > 1) return halves(due)
        deps.onError(new Error(`the call ${due[0]?.id} is too large to be moved below its prompt`))
        return []
      }
    })
    return count
  }

  return async ({ seconds, slots }, signal) => {
    let count = 0
    let after = { project: '', session: '0', after_ns: '0', after: '' }
    while (!signal.aborted) {
      const params = { seconds, slots, limit: maxRecords, ...after }
      const rows = await store.rows<Row>(statement('log-turns-due', params), background)
      for (const some of fewAtOnce(rows.filter((one) => isDue(one) && moved.get(keyOf(one)) !== clockOf(one))))
        count += await placeAll(some)
      const last = rows.at(-1)
      if (last === undefined || rows.length < maxRecords) break
      after = { project: last.project_id, session: last.session, after_ns: last.at_ns, after: last.id }
    }
    return count
  }
}
