// Calls of coding agents' records that name no prompt lie below the last prompt before them, whichever arrives first: what
// lies elsewhere is appended as the same call with another parent and a newer clock.
import type { Log } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { appendCalls, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import { workInBatches } from './call-batches.ts'
import type { Look } from './look.ts'
import { readSpans } from './read-spans.ts'
import { spanOf } from './span-rows.ts'

/** Records that one page of a look is about. */
const maxRecords = 10_000
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
      // A row that changed since it was found is due again by itself.
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

  /** It stays where it is. */
  const onTooLarge = ({ id }: Row): void =>
    deps.onError(new Error(`the call ${id} is too large to be moved below its prompt`))

  return async ({ seconds, slots }, signal) => {
    let count = 0
    let after = { project: '', session: '0', after_ns: '0', after: '' }
    while (!signal.aborted) {
      const params = { seconds, slots, limit: maxRecords, ...after }
      const rows = await store.rows<Row>(statement('log-turns-due', params), background)
      const due = rows.filter((one) => isDue(one) && moved.get(keyOf(one)) !== clockOf(one))
      count += await workInBatches(due, place, onTooLarge)
      const last = rows.at(-1)
      if (last === undefined || rows.length < maxRecords) break
      after = { project: last.project_id, session: last.session, after_ns: last.at_ns, after: last.id }
    }
    return count
  }
}
