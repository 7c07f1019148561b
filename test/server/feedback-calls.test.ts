// tier: deep slow
// Feedback in call records, and feedback in a whole server: restarts, purges, and events that come in any order.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import type { RecordInput } from '../../services/core/log/log.ts'
import { createdRecords, type FeedbackRow, purgedRecord, replacedRecord } from '../../services/events/feedback.ts'
import { topics } from '../../services/events/registry.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

type Row = Record<string, unknown>
type Line = { id: string; summary: { weave: Row & { feedback?: Row[] }; mine?: number } }

describe('with calls', () => {
  let server: LiveServer
  const project_id = 'e/calls'
  const ids = [1, 2, 3].map((n) => `0195aaaa-0000-7000-8000-00000000000${n}`) as [string, string, string]
  const refOf = (id: string) => `weave:///${project_id}/call/${id}`
  const give = async (id: string, more: Row): Promise<string> => {
    const item = { project_id, weave_ref: refOf(id), feedback_type: 'custom', payload: {}, ...more }
    return (await server.send<{ id: string }>('/feedback/create', item)).id
  }
  const list = (more: Row) =>
    server.list<Line>('/calls/stream_query', {
      project_id,
      sort_by: [{ field: 'started_at', direction: 'asc' }],
      ...more,
    })

  beforeAll(async () => {
    server = await startLiveServer(['--wire-prefix', 'wb', '--query-memory-bytes', String(64 * 2 ** 20)])
    const started_at = '2026-03-10T12:00:00Z'
    const summary = { mine: 1, weave: { feedback: 'stale', kept: true } }
    const batch = ids.map((id, n) => ({
      project_id,
      id,
      trace_id: id,
      op_name: 'op',
      started_at,
      ended_at: started_at,
      attributes: {},
      inputs: {},
      output: n,
      summary: n === 1 ? summary : {},
    }))
    await server.send(`/v2/${project_id}/calls/complete`, { batch })
  })
  afterAll(() => server.remove())

  it('stands in the summary, oldest first, just when it is asked for', async () => {
    const [one, two] = ids
    const payload = { n: 1.5, text: 'x' }
    const first = await give(one, { payload, creator: 'Ann' })
    const second = await give(one, { feedback_type: 'wandb.note.1', payload: { note: 'x' } })
    await give(two, {})
    await give(`${one}0`, {})
    await server.send('/feedback/create', { project_id: 'e/else', weave_ref: refOf(one), feedback_type: 'x', payload })

    const lines = await list({ include_feedback: true })
    expect(lines.map((line) => line.summary.weave.feedback?.length)).toEqual([2, 1, 0])
    expect(lines[0]?.summary.weave.feedback?.map(({ id }) => id)).toEqual([first, second])
    expect(lines[0]?.summary.weave.feedback?.[0]).toEqual({
      id: first,
      feedback_type: 'custom',
      weave_ref: refOf(one),
      payload,
      creator: 'Ann',
      created_at: expect.stringMatching(/Z$/),
      wb_user_id: 'tester',
      runnable_ref: null,
      call_ref: null,
      trigger_ref: null,
      annotation_ref: null,
      scorer_tags: [],
      scorer_tag_reasons: {},
      scorer_tag_confidences: {},
      scorer_ratings: {},
      scorer_rating_reasons: {},
      scorer_rating_confidences: {},
    })
    expect(lines[1]?.summary).toMatchObject({ mine: 1, weave: { kept: true, status: 'success' } })

    const without = await list({})
    expect(without.map((line) => line.summary.weave.feedback)).toEqual([undefined, 'stale', undefined])
    const narrow = await list({ include_feedback: true, columns: ['id'], limit: 1, offset: 1 })
    expect(narrow.map((line) => [line.id, line.summary.weave.feedback?.length])).toEqual([[two, 1]])
  })

  it('is purged, and stays so over a restart', async () => {
    const [, , three] = ids
    const kept = await give(three, { payload: { n: 1 } })
    const doomed = await give(three, { payload: { n: 2 } })
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: doomed }] } }
    expect(await server.send('/feedback/purge', { project_id, query })).toEqual({})
    const left = async () =>
      (await list({ include_feedback: true, filter: { call_ids: [three] } }))[0]?.summary.weave.feedback
    expect((await left())?.map(({ id }) => id)).toEqual([kept])
    await server.restart()
    expect((await left())?.map(({ id }) => id)).toEqual([kept])
    await server.send('/feedback/replace', {
      project_id,
      weave_ref: refOf(three),
      feedback_type: 'custom',
      payload: { n: 3 },
      feedback_id: kept,
    })
    expect((await left())?.map(({ payload }) => payload)).toEqual([{ n: 3 }])
  })

  it('of others is purged and replaced by who may delete, and the own by who annotates', async () => {
    const keys = openKeys({ dataDir: server.dataDir, configured: [] })
    const { text } = keys.create({ userId: 'ann', role: 'annotator', grants: [project_id] })
    const deleter = keys.create({ userId: 'dan', role: 'writer', grants: [project_id], actions: ['delete'] }).text
    const as = async (key: string, path: string, body: object) => {
      const headers = { authorization: basicAuth(key), 'content-type': 'application/json' }
      const answer = await fetch(server.now().url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as { id?: string; reason?: string } }
    }
    const [, , three] = ids
    const purge = (key: string, ...named: string[]) =>
      as(key, '/feedback/purge', {
        project_id,
        query: { $expr: { $in: [{ $getField: 'id' }, named.map((id) => ({ $literal: id }))] } },
      })
    const foreign = await give(three, { payload: { n: 4 } })
    const given = await as(text, '/feedback/create', {
      project_id,
      weave_ref: refOf(three),
      feedback_type: 'custom',
      payload: { n: 5 },
    })
    const own = given.body.id as string
    expect(await purge(text, own, foreign)).toMatchObject({
      status: 403,
      body: { reason: expect.stringContaining('feedback of others') },
    })
    const left = async () =>
      (await list({ include_feedback: true, filter: { call_ids: [three] } }))[0]?.summary.weave.feedback?.map(
        ({ id }) => id,
      )
    expect(await left()).toEqual(expect.arrayContaining([own, foreign]))
    const replaceAs = (key: string, feedback_id: string) =>
      as(key, '/feedback/replace', {
        project_id,
        weave_ref: refOf(three),
        feedback_type: 'custom',
        payload: { n: 6 },
        feedback_id,
      })
    expect(await replaceAs(text, foreign)).toMatchObject({
      status: 403,
      body: { reason: expect.stringContaining('feedback of others') },
    })
    expect(await left()).toEqual(expect.arrayContaining([own, foreign]))
    const replaced = await replaceAs(text, own)
    expect(replaced.status).toBe(200)
    expect(await left()).not.toContain(own)
    expect((await purge(text, replaced.body.id as string)).status).toBe(200)
    expect((await replaceAs(text, 'of nobody')).status).toBe(200)
    expect((await purge(deleter, foreign)).status).toBe(200)
    expect(await left()).not.toEqual(expect.arrayContaining([expect.stringMatching(`${own}|${foreign}`)]))
  })

  it('is neither shown nor counted once its call is deleted', async () => {
    const project_id = 'e/gone'
    const at = '2026-03-10T12:00:00Z'
    const calls = ids.map((id) => ({ project_id, id, trace_id: id, op_name: 'op', started_at: at, ended_at: at }))
    const batch = calls.map((one) => ({ ...one, attributes: {}, inputs: {}, output: 1, summary: {} }))
    await server.send(`/v2/${project_id}/calls/complete`, { batch })
    const refs = ids.map((id) => `weave:///${project_id}/call/${id}`) as [string, string, string]
    const others = [`weave:///${project_id}/object/o:v0`, refOf(ids[0])]
    for (const weave_ref of [...refs, `${refs[0]}/attr/x`, ...others])
      await server.send('/feedback/create', { project_id, weave_ref, feedback_type: 'custom', payload: {} })
    type Answer = { result: (Row & { weave_ref: string })[]; total_count: number }
    const query = (more: Row) => server.send<Answer>('/feedback/query', { project_id, fields: ['weave_ref'], ...more })
    const equals = (ref: string) => ({ query: { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: ref }] } } })
    const type = { query: { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'custom' }] } } }
    expect((await query({})).total_count).toBe(6)

    await server.send('/calls/delete', { project_id, call_ids: [ids[0], ids[2]] })
    // Also what is given to it later.
    await server.send('/feedback/create', { project_id, weave_ref: refs[0], feedback_type: 'custom', payload: {} })
    const left = [refs[1], ...others]
    const answer = await query({})
    expect(answer).toEqual({ result: left.map((weave_ref) => ({ weave_ref })), total_count: 3 })
    expect(await query(type)).toEqual(answer)
    expect(await query({ ...type, limit: 1, offset: 1 })).toEqual({ result: [answer.result[1]], total_count: 3 })
    expect(await query({ fields: ['count(*)'] })).toEqual({ result: [{ 'count(*)': 3 }], total_count: 3 })
    expect((await query(equals(refs[0]))).total_count).toBe(0)
    expect((await query(equals(refs[1]))).total_count).toBe(1)
    // The call of that id in the other project is not deleted.
    const there = await server.send<Answer>('/feedback/query', { project_id: 'e/calls', ...equals(refOf(ids[0])) })
    expect(there.total_count).toBe(2)
  })

  it('comes with its calls, however much they have together', async () => {
    const project_id = 'e/much'
    const at = '2026-03-10T12:00:00Z'
    const calls = ids.map((id) => ({ project_id, id, trace_id: id, op_name: 'op', started_at: at, ended_at: at }))
    const batch = calls.map((one) => ({ ...one, attributes: {}, inputs: {}, output: 1, summary: {} }))
    await server.send(`/v2/${project_id}/calls/complete`, { batch })
    const payload = { text: 'x'.repeat(1_000_000) }
    for (const id of ids) {
      const item = { project_id, weave_ref: `weave:///${project_id}/call/${id}`, feedback_type: 'custom', payload }
      await server.send('/feedback/batch/create', { batch: Array.from({ length: 15 }, () => item) })
    }
    const lines = await list({ project_id, include_feedback: true, columns: ['id'] })
    expect(lines.map(({ id, summary }) => [id, summary.weave.feedback?.length])).toEqual(ids.map((id) => [id, 15]))
  })
})

describe('events', () => {
  it('give the same rows in any order, any number of times, merged or not', { timeout: limitMs(60_000) }, async () => {
    const { store, remove } = await createTestStore()
    try {
      const events = fc.array(
        fc.record({
          kind: fc.constantFrom('create' as const, 'purge' as const, 'replace' as const),
          id: fc.constantFrom('a', 'b', 'c'),
          other: fc.constantFrom('a', 'b', 'c'),
        }),
        { minLength: 1, maxLength: 12 },
      )
      let run = 0
      await fc.assert(
        fc.asyncProperty(events, fc.infiniteStream(fc.nat()), fc.boolean(), async (history, chance, isMerged) => {
          const project_id = `e/run${run++}`
          const clock = createClock()
          const rowOf = (id: string): FeedbackRow => {
            const at = clock.next()
            const none = { creator: null, annotation_ref: null, runnable_ref: null, call_ref: null, trigger_ref: null }
            const scorer = { scorer_tag_reasons: {}, scorer_rating_reasons: {}, scorer_tag_confidences: {} }
            const spans = { span_agent_name: '', span_agent_version: '', span_conversation_id: '', span_trace_id: '' }
            return {
              project_id,
              id,
              clock: at,
              weave_ref: `ref-${id}`,
              user_id: 'u',
              feedback_type: 'x',
              ...none,
              queue_id: null,
              scorer_tags: [],
              ...scorer,
              scorer_ratings: {},
              scorer_rating_confidences: {},
              ...spans,
              scorer_trace_id: '',
              span_status_code: 'UNSET',
              payload: `{"at":"${at}"}`,
            }
          }
          const expected = new Map<string, string>()
          const records = history.map(({ kind, id, other }): RecordInput => {
            if (kind === 'purge') {
              expected.delete(id)
              return purgedRecord(project_id, [id], clock)
            }
            if (kind === 'create') {
              const row = rowOf(id)
              expected.set(id, row.payload)
              return createdRecords([row])[0] as RecordInput
            }
            const purgedAt = clock.next()
            const row = rowOf(other)
            expected.delete(id)
            expected.set(other, row.payload)
            return replacedRecord(id, purgedAt, row)
          })
          const delivered = [...records, ...records.filter(() => (chance.next().value as number) % 2 === 0)]
          const keyed = delivered.map((record) => ({ record, key: chance.next().value as number }))
          keyed.sort((a, b) => a.key - b.key)
          for (const { record } of keyed) await store.insert(topics.feedback, { bytes: [record.rows] })
          if (isMerged)
            await store.command({ name: 'test.merge', sql: 'OPTIMIZE TABLE callhouse.feedback FINAL', params: {} })
          const rows = await store.rows<{ id: string; payload: string }>({
            name: 'test.rows',
            sql: 'SELECT id, payload FROM callhouse.feedback FINAL WHERE project_id = {p:String} AND purged = 0 ORDER BY id',
            params: { p: project_id },
          })
          expect(rows).toEqual([...expected].sort().map(([id, payload]) => ({ id, payload })))
          // The ids of every row that is there are found through its ref.
          const byRef = await store.rows<{ id: string }>({
            name: 'test.refs',
            sql: 'SELECT DISTINCT id FROM callhouse.feedback_by_ref WHERE project_id = {p:String}',
            params: { p: project_id },
          })
          for (const { id } of rows) expect(byRef.map((row) => row.id)).toContain(id)
        }),
        { numRuns: runs(10, 100) },
      )
    } finally {
      await remove()
    }
  })
})
