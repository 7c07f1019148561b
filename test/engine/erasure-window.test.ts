// tier: deep slow
// When what is deleted is removed: within the hours that are allowed, together with others, and never before it is hidden.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { clockOf, createClock } from '../../services/core/clock/clock.ts'
import type { Log } from '../../services/core/log/log.ts'
import { unlimited } from '../../services/derived/budget.ts'
import { erasureRecord } from '../../services/events/erasures.ts'
import { createdRecords, type FeedbackRow } from '../../services/events/feedback.ts'
import { topics } from '../../services/events/registry.ts'
import { createFeedbackReadRoutes } from '../../services/query/feedback/routes.ts'
import { createRequestErasure } from '../../services/query/request-erasure.ts'
import { createErasing, type Erasing } from '../../services/removal/erasures.ts'
import { createFileRemoval } from '../../services/removal/files.ts'
import { erasedTables } from '../../services/removal/places.ts'
import { dropOldReceipts } from '../../services/removal/retention.ts'
import { createRowRemoval } from '../../services/removal/rows.ts'
import { type CallWorld, complete, createCallWorld, project, start } from '../fixtures/call-world.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { heldProjects } from '../fixtures/held-projects.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { createCall } from '../fixtures/route-call.ts'

const hourMs = 3_600_000
const eraseHours = 72
let world: CallWorld
let erasing: Erasing
let isSettled = true
let rewrites = 0
/** Places of the log that cannot be written again. */
let damaged: string[] = []
/** Replaces what the engine says of files that are gone. */
let goneBefore: Promise<number> | undefined
let told = { overdue: 0, failed: 0 }
let errors: string[] = []
/** Events that are in the log and not in the tables; undefined = they come at once. */
let held: (() => Promise<unknown>)[] | undefined
const clock = createClock()
const log = {
  async append(topic: keyof typeof topics, records: { rows: Buffer }[]) {
    const insert = () => world.store.insert(topics[topic], { bytes: records.map(({ rows }) => rows) })
    if (held) held.push(insert)
    else await insert()
    return { topic, partition: 0, offset: 0 }
  },
  owns: () => true,
  async rewrite(topic: string) {
    rewrites++
    return topic === 'calls' ? damaged : []
  },
} as unknown as Log

beforeAll(async () => {
  world = await createCallWorld()
  // Files that are replaced stay for minutes otherwise.
  for (const table of erasedTables)
    await world.store.command({
      name: 'test',
      params: {},
      sql: `ALTER TABLE callhouse.${table} MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1,
        max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0`,
    })
})
afterAll(() => world?.remove())
beforeEach(async (context) => {
  isSettled = true
  const of = { store: world.store, budget: unlimited }
  const rows = createRowRemoval({ ...of, betweenDerivations: (job) => job(), recount: async () => {} })
  const removal = { ...rows, filesGoneBefore: (isWhole: boolean) => goneBefore ?? rows.filesGoneBefore(isWhole) }
  const blobs = { remove: () => Promise.reject(new Error('there are none')) }
  const fileRemoval = createFileRemoval({ ...of, log, blobs, removeRows: removal.remove, held: heldProjects() })
  erasing = createErasing({
    store: world.store,
    log,
    clock,
    eraseHours,
    logRetentionMs: hourMs,
    audit: noAudit,
    held: heldProjects(),
    removedProjects: () => new Map(),
    settled,
    removal,
    fileRemoval,
    deadLetters: { remove: async () => [] },
    onDone() {},
    onOpen(open) {
      told = open
    },
    onError: (error) => errors.push(error.message),
  })
  ;[rewrites, damaged, errors, goneBefore] = [0, [], [], undefined]
  context.onTestFinished(() => erasing.stop())
})

/** Waits for what is in the log, as a worker does. */
async function settled(): Promise<boolean> {
  for (const insert of held?.splice(0) ?? []) await insert()
  return isSettled
}

const askErasure = createRequestErasure({ log, clock, config: { eraseHours }, masterKey: () => undefined })
const erase = (calls: number) =>
  askErasure({ caller: { userId: 'ann' } } as never, project as never, { calls, selector: {} })
const stored = async (id: string): Promise<number> => {
  const sql = `SELECT toUInt32(uniqExact(id)) AS n FROM callhouse.calls WHERE id = {id:String}`
  const [row] = await world.store.rows<{ n: number }>({ name: 'test', sql, params: { id } })
  return row?.n ?? 0
}
const statusOf = async (id: string): Promise<string> => {
  const sql = `SELECT status FROM callhouse.erasures FINAL WHERE id = {id:String}`
  const [row] = await world.store.rows<{ status: string }>({ name: 'test', sql, params: { id } })
  return row?.status ?? 'none'
}
const deleted = async (id: string): Promise<void> => {
  const { status } = await world.ask('/calls/delete', { call_ids: [id] })
  expect(status).toBe(200)
}

it('a call of last week that was deleted just now waits for half of the hours, as any other', async () => {
  const part = { ...start('old'), clock: (BigInt(Date.now() - 7 * 24 * hourMs) * 1_000n) << 10n }
  await world.apply([part])
  await deleted('old')
  const { id } = await erase(1)
  const now = Date.now()
  await erasing.run(now + 2 * hourMs)
  await erasing.run(now + 35 * hourMs)
  expect([await stored('old'), await statusOf(id)]).toEqual([1, 'accepted'])
  await erasing.run(now + 37 * hourMs)
  expect([await stored('old'), await statusOf(id)]).toEqual([0, 'verifying'])
})

it('parts that come again keep no erasure open, and are removed within the hour', async () => {
  await world.apply([complete('again')])
  await deleted('again')
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  await erasing.run(now)
  expect(await statusOf(id)).toBe('verifying')
  await world.apply([complete('again')])
  rewrites = 0
  await erasing.run(now + 60_000)
  expect([rewrites, await stored('again')]).toEqual([0, 1])
  await erasing.run(now + 2 * hourMs)
  expect(await stored('again')).toBe(0)
})

it('a receipt says when what was asked for was hidden: once its deletes are in the tables, and never before', async () => {
  await world.apply([complete('hidden')])
  await deleted('hidden')
  isSettled = false
  const { id } = await erase(1)
  const hiddenAt = async (): Promise<number> => {
    const sql = `SELECT toFloat64(hidden_us) AS us FROM callhouse.erasures FINAL WHERE id = {id:String}`
    const [row] = await world.store.rows<{ us: number }>({ name: 'test', sql, params: { id } })
    return row?.us ?? -1
  }
  await erasing.run(Date.now() - 2 * hourMs)
  expect(await hiddenAt()).toBe(0)
  isSettled = true
  const before = Date.now()
  erasing.onAsked()
  await expectSoon(hiddenAt).toBeGreaterThanOrEqual(before * 1_000)
  expect(await statusOf(id)).toBe('accepted')
})

it('calls are removed once, however late the events of their erasure come into the tables', async () => {
  await world.apply([complete('once')])
  await deleted('once')
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  held = []
  await erasing.run(now)
  expect([rewrites > 0, await statusOf(id)]).toEqual([true, 'accepted'])
  rewrites = 0
  await erasing.run(now + 60_000)
  await settled()
  held = undefined
  const counts =
    'SELECT status, toUInt32(payload_rows) AS payloads FROM callhouse.erasures FINAL WHERE id = {id:String}'
  const found = await world.store.rows({ name: 'test', sql: counts, params: { id } })
  expect([rewrites, found]).toEqual([0, [{ status: 'verifying', payloads: 1 }]])
})

it('a receipt tells what was removed, however late the events of its erasure come into the tables', async () => {
  await world.apply([complete('counted')])
  await deleted('counted')
  held = []
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  // Read for the first time between the two looks of a run, which removes what it asks for.
  await erasing.run(now)
  // The next run reads it as it was asked for.
  await erasing.run(now + 60_000)
  await settled()
  held = undefined
  const sql = `SELECT toUInt32(payload_rows) AS payloads, toUInt32(first_ver > 0) AS first, toUInt32(hidden_us > 0) AS hidden
    FROM callhouse.erasures FINAL WHERE id = {id:String}`
  const rows = await world.store.rows({ name: 'test', sql, params: { id } })
  expect([await stored('counted'), rows]).toEqual([0, [{ payloads: 1, first: 1, hidden: 1 }]])
})

it('nothing is called done while deletes that were accepted are not in the tables', async () => {
  await world.apply([complete('late')])
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  isSettled = false
  for (const minute of [0, 1, 2]) await erasing.run(now + minute * 60_000)
  expect(await statusOf(id)).toBe('accepted')
  await deleted('late')
  isSettled = true
  await erasing.run(now + 3 * 60_000)
  expect([await stored('late'), await statusOf(id)]).toEqual([0, 'verifying'])
})

it('a call whose erasure is not known yet is left to it, so that its receipt tells of it', async () => {
  await world.apply([complete('known'), complete('asked for')])
  await deleted('known')
  await erase(1)
  const now = Date.now() + 37 * hourMs
  await world.apply([{ kind: 'delete', projectId: project, id: 'asked for', clock: clockOf(now) }])
  await erasing.run(now)
  expect([await stored('known'), await stored('asked for')]).toEqual([0, 1])
  // Deletes that nobody has asked for go with the next look.
  await erasing.run(now + 40 * hourMs)
  expect(await stored('asked for')).toBe(0)
})

it('receipts go once they are old enough, with what was known before them, and erasures that go on stay', async () => {
  const now = Date.now()
  const years = (n: number) => now + n * 366 * 24 * hourMs
  // Erasures of other tests are done sooner on a slower machine.
  await dropOldReceipts(world.store, 10, years(11))
  const done = await erase(1)
  await log.append('erasures', [erasureRecord({ ...done, status: 'done', doneUs: now * 1_000 }, clock.next())])
  const waiting = await erase(1)
  expect([await statusOf(done.id), await statusOf(waiting.id)]).toEqual(['done', 'accepted'])
  expect(await dropOldReceipts(world.store, 10, years(9))).toBe(0)
  expect(await dropOldReceipts(world.store, 10, years(11))).toBe(1)
  expect([await statusOf(done.id), await statusOf(waiting.id)]).toEqual(['none', 'accepted'])
})

const problemOf = async (id: string): Promise<string> => {
  const sql = `SELECT problem FROM callhouse.erasures FINAL WHERE id = {id:String}`
  const [row] = await world.store.rows<{ problem: string }>({ name: 'test', sql, params: { id } })
  return row?.problem ?? ''
}

it('a log that cannot be written again fails an erasure by name, and it is tried again each hour', async () => {
  await world.apply([complete('damaged')])
  await deleted('damaged')
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  damaged = ['log segment calls/1.jsonl is damaged at byte 5']
  await erasing.run(now)
  expect([await statusOf(id), await problemOf(id)]).toEqual([
    'failed',
    'what the kept log holds of it stays: log segment calls/1.jsonl is damaged at byte 5',
  ])
  expect(errors[0]).toContain('calls/1.jsonl')
  // Its own row is found again; all else is gone.
  const payloads = `SELECT toUInt32(count()) AS n FROM callhouse.payloads WHERE id = 'damaged'`
  expect(await world.store.rows({ name: 'test', sql: payloads, params: {} })).toEqual([{ n: 0 }])
  expect(await stored('damaged')).toBe(1)
  await erasing.run(now + 60_000)
  expect([told.failed > 0, told.overdue]).toEqual([true, 0])
  await erasing.run(now + 73 * hourMs)
  expect([told.failed > 0, told.overdue > 0]).toEqual([true, true])
  damaged = []
  rewrites = 0
  await erasing.run(now + 73 * hourMs + 60_000)
  await erasing.run(now + 75 * hourMs)
  expect([rewrites > 0, await stored('damaged'), await statusOf(id), await problemOf(id)]).toEqual([
    true,
    0,
    'verifying',
    '',
  ])
})

it('a receipt counts purged feedback once, though its rows merged before the round and the round came again', async () => {
  await world.apply([complete('said of')])
  const weave_ref = `weave:///${project}/call/said of`
  const items = ['said', 'kept'].map((id) => {
    const of = { id, clock: clock.next(), weave_ref, user_id: 'ann', feedback_type: 'note', payload: '{}' }
    return { project_id: project, creator: null, ...of } as FeedbackRow
  })
  await log.append('feedback', createdRecords(items))
  const config = { wirePrefix: 'platform', wireAliases: true, feedbackPrefix: 'wandb' }
  const freshness = { wait: async () => ({}) }
  const deps = { store: world.store, log, clock, freshness, config, throwIfHeld: async () => undefined, audit: noAudit }
  const call = createCall(createFeedbackReadRoutes(deps, askErasure))
  const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'said' }] } }
  const { headers } = await call('/feedback/purge', { json: { project_id: project, query } })
  const purge = headers['X-Callhouse-Erasure'] as string
  await deleted('said of')
  const { id } = await erase(1)
  await world.store.command({ name: 'test', sql: 'OPTIMIZE TABLE callhouse.feedback FINAL', params: {} })
  const now = Date.now() + 37 * hourMs
  damaged = ['log segment calls/1.jsonl is damaged at byte 5']
  await erasing.run(now)
  expect([await statusOf(purge), await statusOf(id)]).toEqual(['failed', 'failed'])
  damaged = []
  await erasing.run(now + 2 * hourMs)
  const sql = `SELECT status, toUInt32(feedback) AS feedback, toUInt32(first_ver > 0) AS first
    FROM callhouse.erasures FINAL WHERE id IN {ids:Array(String)} ORDER BY until_ver`
  const counted = await world.store.rows({ name: 'test', sql, params: { ids: [purge, id] } })
  const one = { status: 'verifying', feedback: 1, first: 1 }
  expect(counted).toEqual([one, one])
})

it('an erasure is done once its own files are gone, however many are asked for behind it', async () => {
  const ids: string[] = []
  const now = Date.now() + 37 * hourMs
  const times: number[] = []
  for (const name of ['first', 'behind it']) {
    await world.apply([complete(name)])
    await deleted(name)
    ids.push((await erase(1)).id)
    goneBefore = Promise.resolve(0)
    await erasing.run(now)
    times.push(Date.now())
    // Accept timestamps are of milliseconds.
    while (Date.now() <= (times.at(-1) as number)) await new Promise(setImmediate)
  }
  const statuses = () => Promise.all(ids.map(statusOf))
  expect(await statuses()).toEqual(['verifying', 'verifying'])
  goneBefore = Promise.resolve((times[0] as number) + 1)
  await erasing.run(now + 60_000)
  expect(await statuses()).toEqual(['done', 'verifying'])
  goneBefore = undefined
})

it('an erasure is not done while a table holds something that nothing leads to, and says so', async () => {
  await world.apply([complete('stray')])
  await deleted('stray')
  const { id } = await erase(1)
  const now = Date.now() + 37 * hourMs
  await erasing.run(now)
  expect(await statusOf(id)).toBe('verifying')
  const insert = `INSERT INTO callhouse.turns (project_id, thread_id, started_at, id) VALUES ('${project}', 't', now(), 'stray')`
  await world.store.command({ name: 'test', sql: insert, params: {} })
  const reaches = (status: string, ms: number) =>
    expectSoon(
      async () => {
        await erasing.run(ms)
        return statusOf(id)
      },
      { withinMs: 60_000, everyMs: 500 },
    ).toBe(status)
  await reaches('failed', now + 60_000)
  expect(await problemOf(id)).toBe('rows are left in turns')
  await reaches('done', now + 40 * hourMs)
  const left = `SELECT toUInt32(count()) AS n FROM callhouse.turns WHERE id = 'stray' SETTINGS apply_deleted_mask = 0`
  expect(await world.store.rows({ name: 'test', sql: left, params: {} })).toEqual([{ n: 0 }])
}, 120_000)
