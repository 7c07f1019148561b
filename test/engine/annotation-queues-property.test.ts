// The order property of annotation queues: whatever the order, batching, redelivery and merges, the answers are the same.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnnotationQueue, AnnotationQueueItem } from '../../schemas/annotation-queues.ts'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { formatTimestamp } from '../../services/core/clock/timestamps.ts'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import { parseProjectId } from '../../services/core/ids.ts'
import type { RecordInput } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import {
  itemsAddedRecords,
  type ProgressState,
  progressedRecord,
  type QueueEvent,
  queueCreatedRecord,
  queueDeletedRecord,
  queueUpdatedRecord,
} from '../../services/events/annotation-queues.ts'
import { topics } from '../../services/events/registry.ts'
import { createAnnotationQueueRoutes } from '../../services/query/annotation-queues/routes.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

type Fact =
  | { kind: 'created'; clock: bigint }
  | { kind: 'deleted'; clock: bigint }
  | { kind: 'updated'; clock: bigint; values: { name?: string; description?: string; scorerRefs?: string[] } }
  | { kind: 'added'; clock: bigint; call: string; itemId: string }
  | { kind: 'moved'; clock: bigint; call: string; annotator: string; state: ProgressState }
type History = { project: string; queueId: string; facts: Fact[] }

const calls = ['c0', 'c1', 'c2', 'c3']
const annotators = ['u0', 'u1', 'u2']
const states = ['in_progress', 'completed', 'skipped'] as const

function createHistory(random: Random, n: number): History {
  const clocks = new Set<number>()
  // accept timestamps of several edges: no two are the same, and any may be ahead
  const clock = (): bigint => {
    let us = 0
    do us = 1.7e15 + random.below(3600e6)
    while (clocks.has(us))
    clocks.add(us)
    return BigInt(us) << 10n
  }
  const fact = (k: number): Fact => {
    const call = random.pick(calls)
    const kind = random.pick(['updated', 'added', 'added', 'moved', 'moved', 'moved'] as const)
    if (kind === 'added') return { kind, clock: clock(), call, itemId: `item-${n}-${k}` }
    if (kind === 'moved')
      return { kind, clock: clock(), call, annotator: random.pick(annotators), state: random.pick(states) }
    return {
      kind,
      clock: clock(),
      values: {
        ...(random.chance(0.5) && { name: `name ${k}` }),
        ...(random.chance(0.4) && { description: `text ${k}` }),
        ...(random.chance(0.4) && { scorerRefs: [`ref ${k}`] }),
      },
    }
  }
  const facts: Fact[] = [{ kind: 'created', clock: clock() }]
  for (let k = 0, count = 4 + random.below(20); k < count; k++) facts.push(fact(k))
  if (random.chance(0.3)) facts.push({ kind: 'deleted', clock: clock() })
  return { project: `order/p${n % 3}`, queueId: `queue-${n}`, facts }
}

const startedUs = (call: string): number => 1.6e15 + calls.indexOf(call)

function recordsOf({ project, queueId }: History, fact: Fact): RecordInput[] {
  const userId = fact.kind === 'moved' ? fact.annotator : 'maker'
  const event: QueueEvent = { projectId: parseProjectId(project), queueId, clock: fact.clock, userId }
  switch (fact.kind) {
    case 'created':
      return [queueCreatedRecord(event, { name: 'first', description: '', scorerRefs: [] })]
    case 'deleted':
      return [queueDeletedRecord(event)]
    case 'updated':
      return [queueUpdatedRecord(event, fact.values)]
    case 'added': {
      const { call, itemId } = fact
      const added = { itemId, callId: call, startedUs: startedUs(call), endedUs: 0, opName: 'op', traceId: 't' }
      return itemsAddedRecords(event, [itemId], [added])
    }
    case 'moved':
      return [progressedRecord(event, fact.call, fact.state)]
  }
}

const byClock = (a: { clock: bigint }, b: { clock: bigint }): number => (a.clock < b.clock ? -1 : 1)
const timeOf = (clock: bigint): string => formatTimestamp(Number(clock / 1024n))
const ofKind = <Kind extends Fact['kind']>(facts: readonly Fact[], kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.kind === kind).toSorted(byClock)

/** The expected answers, from the facts alone. */
function expected({ project, queueId, facts }: History) {
  const [created] = ofKind(facts, 'created') as [Fact]
  const values = { name: 'first', description: '', scorerRefs: [] as string[] }
  // an update may carry an earlier clock than the creation
  const updates = ofKind(facts, 'updated').filter((fact) => Object.keys(fact.values).length > 0)
  for (const fact of updates) if (fact.clock > created.clock) Object.assign(values, fact.values)
  const changed = [...updates, created].toSorted(byClock).at(-1) as Fact
  const queue: AnnotationQueue | undefined =
    ofKind(facts, 'deleted').length > 0
      ? undefined
      : {
          id: queueId,
          project_id: project,
          name: values.name,
          description: values.description,
          scorer_refs: values.scorerRefs,
          created_at: timeOf(created.clock),
          created_by: 'maker',
          updated_at: timeOf(changed.clock),
          deleted_at: null,
        }
  const added = ofKind(facts, 'added')
  const firsts = added.filter((fact, n) => added.findIndex(({ call }) => call === fact.call) === n)
  const moved = ofKind(facts, 'moved')
  const done = new Set<string>()
  const items = firsts.map(({ call, itemId, clock }, n): Partial<AnnotationQueueItem> => {
    const own = annotators.flatMap((annotator) => {
      const moves = moved.filter((fact) => fact.call === call && fact.annotator === annotator)
      return moves.find(({ state }) => state !== 'in_progress') ?? moves[0] ?? []
    })
    if (own.some(({ state }) => state !== 'in_progress')) done.add(call)
    const shown = own.toSorted(byClock).at(-1)
    return {
      id: itemId,
      call_id: call,
      created_at: timeOf(clock),
      call_started_at: formatTimestamp(startedUs(call)),
      display_fields: [itemId],
      annotation_state: shown?.state ?? 'unstarted',
      annotator_user_id: shown?.annotator ?? '',
      position_in_queue: n + 1,
    }
  })
  return { queue, items, done }
}

describe('annotation queues, in any order of arrival', () => {
  let store: Store
  let call: Call
  let remove: () => Promise<void>
  beforeAll(async () => {
    const opened = await createTestStore()
    store = opened.store
    remove = opened.remove
    const freshness = { wait: async () => ({}) }
    const log = {
      append: async (): Promise<never> => {
        throw new Error('nothing is written here')
      },
    }
    call = createCall(
      createAnnotationQueueRoutes({
        store,
        log,
        clock: createClock(),
        freshness,
        lock: createKeyedLock(),
        audit: noAudit,
        maskings: noMaskings,
      }),
    )
  })
  afterAll(() => remove())

  it.each(Array.from({ length: runs(1, 8) }, (_, n) => n + 1))(
    'annotation queues answer what the model answers (seed %i)',
    async (seed) => {
      const random = createRandom(seed)
      const all = Array.from({ length: runs(15, 40) }, (_, n) => createHistory(random, seed * 1000 + n))
      const records = all.flatMap((history) => history.facts.flatMap((fact) => recordsOf(history, fact)))
      // each record comes once, some again
      const sent = [...records, ...records.filter(() => random.chance(0.3))]
        .map((record) => ({ record, at: random.next() }))
        .sort((a, b) => a.at - b.at)
      while (sent.length > 0) {
        const batch = sent.splice(0, 1 + random.below(60))
        const source = { bytes: batch.map(({ record }) => record.rows) }
        const { rowsRead } = await store.insert(topics.annotation_queues, source)
        expect(rowsRead).toBe(batch.reduce((sum, { record }) => sum + record.rowCount, 0))
        if (!random.chance(0.2)) continue
        const table = random.pick(['annotation_queues', 'annotation_queue_items', 'annotation_queue_progress'])
        await store.command({ name: 'merge', sql: `OPTIMIZE TABLE callhouse.${table} FINAL`, params: {} })
      }

      const lists = new Map<string, AnnotationQueue[]>()
      for (const project_id of new Set(all.map(({ project }) => project))) {
        const { bytes } = await call('/annotation_queues/query', { json: { project_id } })
        const lines = bytes.toString().split('\n').filter(Boolean)
        lists.set(
          project_id,
          lines.map((line) => JSON.parse(line) as AnnotationQueue),
        )
      }
      for (const history of all) {
        const { project: project_id, queueId: queue_id } = history
        const { queue, items, done } = expected(history)
        expect(lists.get(project_id)?.find(({ id }) => id === queue_id)).toEqual(queue)
        const page = { json: { project_id, limit: null, include_position: true } }
        const answer = await call('/annotation_queues/{queue_id}/items/query', page, { params: { queue_id } })
        const { items: shown } = answer.json as { items: AnnotationQueueItem[] }
        expect(shown).toHaveLength(items.length)
        expect(shown).toMatchObject(items)
        const stats = await call('/annotation_queues/stats', { json: { project_id, queue_ids: [queue_id] } })
        const [counts] = (stats.json as { stats: { total_items: number; completed_items: number }[] }).stats
        expect(counts).toEqual({ queue_id, total_items: items.length, completed_items: done.size })
      }
    },
  )
})
