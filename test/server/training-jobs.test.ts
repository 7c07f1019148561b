// Training jobs: what is accepted and stored, requests that ask for the same job, redelivery, rebuilds and exports.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { follow } from '../../services/cli/follow.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { type TrainingJobCreated, trainingJobRecord } from '../../services/events/training-jobs.ts'
import { readLines } from '../../services/operations/transfer/archive.ts'
import { jobOfKeyQuery } from '../../services/query/training-jobs/of-key.ts'
import { requestKeyOf } from '../../services/training-jobs/idempotency.ts'
import { createTrainingRoutes } from '../../services/training-jobs/routes.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createCall } from '../fixtures/route-call.ts'

const path = '/v1/preview/sft-training-jobs'
const model_id = '3F2504E0-4F89-41D3-9A0C-0305E82C3301'
const training_data_url = 'platform-artifact:///acme/tuning/examples:v3'
const job = { model_id, training_data_url }
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const dayUs = 24 * 3_600_000_000

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--keys', 'tester:test-key,other:other-key'])
})
afterAll(() => server.remove())

type Row = Record<string, string>

const jobs = async (where = '1'): Promise<Row[]> => {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  return store.rows<Row>({
    name: 'test.jobs',
    sql: `SELECT * FROM callhouse.training_jobs FINAL WHERE ${where} ORDER BY project_id, id`,
    params: {},
  })
}
const jobOf = async (id: string) => (await jobs(`id = '${id}'`))[0]

const send = async (body: unknown, headers: Record<string, string> = {}) => {
  const { status, text } = await post(server.now().url, path, body, headers)
  return { status, json: JSON.parse(text) }
}
const made = async (body: unknown, headers: Record<string, string> = {}): Promise<string> => {
  const { status, json } = await send(body, headers)
  expect(status, JSON.stringify(json)).toBe(200)
  expect(json).toEqual({ id: expect.stringMatching(uuid4) })
  return json.id
}
const keyed = (key: string, more: Record<string, string> = {}) => ({ 'idempotency-key': key, ...more })

describe('a job', () => {
  it('waits, with everything that was said about it', async () => {
    const id = await made(
      `{"model_id":"${model_id}","training_data_url":"${training_data_url}","surplus":1,"config":{"batch_size":"8",
        "learning_rate":1.0e-05,"assistant_turns":"all","big":12345678901234567890},"experimental_config":{"a":[1.0,
        "line\\n"]}}`,
    )
    expect(await jobOf(id)).toEqual({
      project_id: 'acme/tuning',
      id,
      age: expect.any(String),
      created_at: expect.any(String),
      created_by: 'tester',
      request_key: '',
      kind: 'sft',
      state: 'queued',
      training_data_url,
      model_id: model_id.toLowerCase(),
      config: '{"batch_size":8,"learning_rate":1.0e-05,"assistant_turns":"all","big":12345678901234567890}',
      experimental_config: '{"a":[1.0,"line\\n"]}',
    })
  })

  it('needs no configuration, and takes a key as Bearer', async () => {
    const id = await made({ ...job, config: null, experimental_config: null }, { authorization: 'Bearer other-key' })
    expect(await jobOf(id)).toMatchObject({ created_by: 'other', config: '', experimental_config: '' })
    const none = await made({ ...job, config: { batch_size: null } })
    expect(await jobOf(none)).toMatchObject({ config: '{"batch_size":null}' })
  })

  it.each<[string, string, Record<string, string>, string]>([
    ['its data', 'wandb-artifact:///one/two/name:latest', { 'openai-project': 'no/no' }, 'one/two'],
    ['a header', 'https://data.example/set.jsonl', { 'openai-project': 'acme/of-header' }, 'acme/of-header'],
    ['another header', 'http://data.example/set', { project_id: 'acme/of-id' }, 'acme/of-id'],
    ['the key', 'https://data.example/set.jsonl', {}, 'tester/inference'],
  ])('belongs to the project of %s', async (_, url, headers, project) => {
    expect(await jobOf(await made({ model_id, training_data_url: url }, headers))).toMatchObject({
      project_id: project,
    })
  })

  it('is refused in a project that is malformed, or not the caller’s', async () => {
    const elsewhere = { model_id, training_data_url: 'https://data.example/x' }
    expect((await send(elsewhere, { 'openai-project': 'acme' })).status).toBe(400)
    expect((await send(job, { authorization: basicAuth('unknown') })).status).toBe(401)
    const log = createMemoryLog()
    const unused = { store: { rows: async () => [] }, freshness: { wait: async () => ({}) }, jobOfKeyQuery }
    const call = createCall(createTrainingRoutes({ log, clock: createClock(), ...unused }))
    expect((await call(path, { json: job }, { may: (project) => project !== 'acme/tuning' })).status).toBe(403)
    expect(log.appends()).toBe(0)
  })

  it.each<[object, string[]]>([
    [{ training_data_url }, ['model_id']],
    [{ ...job, model_id: 'model' }, ['model_id']],
    [{ ...job, model_id: model_id.replaceAll('-', '') }, ['model_id']],
    [{ ...job, model_id: 7 }, ['model_id']],
    [{ model_id }, ['training_data_url']],
    [{ model_id, training_data_url: '' }, ['training_data_url']],
    [{ model_id, training_data_url: 'ftp://data.example/x' }, ['training_data_url']],
    [{ model_id, training_data_url: 'https://' }, ['training_data_url']],
    [{ model_id, training_data_url: 'wandb-artifact:///acme/tuning/examples' }, ['training_data_url']],
    [{ model_id, training_data_url: 'wandb-artifact://acme/tuning/examples:v1' }, ['training_data_url']],
    [{ ...job, config: [] }, ['config']],
    [{ ...job, config: { batch_size: 0 } }, ['config', 'batch_size']],
    [{ ...job, config: { batch_size: 1.5 } }, ['config', 'batch_size']],
    [{ ...job, config: { learning_rate: -1 } }, ['config', 'learning_rate']],
    [{ ...job, config: { learning_rate: 'fast' } }, ['config', 'learning_rate']],
    [{ ...job, experimental_config: 'x' }, ['experimental_config']],
  ])('%j is refused', async (body, loc) => {
    const { status, json } = await send(body)
    expect(status).toBe(422)
    expect(json.detail).toMatchObject([{ loc: ['body', ...loc] }])
  })

  it.each(['model', '', model_id.slice(1), `${model_id}0`])('the model %j is refused as no UUID', async (model) => {
    const { json } = await send({ ...job, model_id: model })
    expect(json.detail).toMatchObject([{ type: 'uuid_parsing', msg: 'Input should be a valid UUID' }])
  })
})

describe('Idempotency-Key', () => {
  it('stands for one job, also when requests race and after a restart', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => made(job, keyed('race'))))
    expect(new Set(ids).size).toBe(1)
    const [id] = ids as [string]
    const first = await jobOf(id)
    expect(await made({ ...job, config: { batch_size: 2 } }, keyed('race'))).toBe(id)
    await server.restart()
    expect(await made(job, keyed(' race '))).toBe(id)
    expect(await jobs(`request_key = '${requestKeyOf('tester', 'race')}'`)).toEqual([first])
  })

  it('is the caller’s own, in one project', async () => {
    const elsewhere = { ...job, training_data_url: training_data_url.replace('tuning', 'other') }
    const ids = [
      await made(job, keyed('own')),
      await made(job, keyed('own', { authorization: 'Bearer other-key' })),
      await made(elsewhere, keyed('own')),
      await made(job, keyed('OWN')),
      await made(job),
      await made(job, keyed('')),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    expect((await send(job, keyed('x'.repeat(256)))).status).toBe(400)
  })

  it('stands for a new job a day later', async () => {
    const nowUs = Date.now() * 1_000
    const old = (key: string, ageUs: number): [string, TrainingJobCreated] => [
      key,
      {
        projectId: 'acme/tuning' as ProjectId,
        id: `id-of-${key}`,
        userId: 'tester',
        config: '',
        modelId: model_id,
        trainingDataUrl: training_data_url,
        experimentalConfig: '',
        requestKey: requestKeyOf('tester', key),
        clock: BigInt(nowUs - ageUs) * 1024n,
      },
    ]
    const known = [old('yesterday', dayUs), old('today', dayUs - 600_000_000)]
    await server.now().log.append(
      'training_jobs',
      known.map(([, one]) => trainingJobRecord(one)),
    )
    expect((await send(job, keyed('today'))).json).toEqual({ id: 'id-of-today' })
    const [next, again] = await Promise.all([made(job, keyed('yesterday')), made(job, keyed('yesterday'))])
    expect(again).toBe(next)
    expect(await made(job, keyed('yesterday'))).toBe(next)
  })

  it('waits for what was written, whatever freshness is asked for, and does not guess', async () => {
    let isStale = false
    const wait = async ({ query }: { query: URLSearchParams }): Promise<Record<string, string>> => {
      expect([...query]).toEqual([])
      return isStale ? { 'X-Callhouse-Stale': '5' } : {}
    }
    const log = createMemoryLog()
    const deps = { log, clock: createClock(), store: { rows: async () => [] }, freshness: { wait }, jobOfKeyQuery }
    const [route] = createTrainingRoutes(deps) as [ReturnType<typeof createTrainingRoutes>[0]]
    const withKey = {
      ...route,
      handle: (context: Parameters<typeof route.handle>[0]) =>
        route.handle({
          ...context,
          header: (name) => ({ 'idempotency-key': 'k', 'x-callhouse-freshness': 'any' })[name],
          query: new URLSearchParams('freshness=any'),
        }),
    }
    const call = createCall([withKey])
    expect((await call(path, { json: job })).status).toBe(200)
    isStale = true
    const { status, headers } = await call(path, { json: job })
    expect([status, headers['Retry-After'], log.appends()]).toEqual([503, '1', 1])
  })
})

describe('what is stored', () => {
  const run = async (command: string, ...args: string[]) => {
    const ask = async (name: string, given: string[]) => {
      const reply = await askOverSocket(server.dataDir, { command: name, args: given })
      if (!reply?.ok) throw new Error(reply?.reason)
      return reply.result
    }
    await follow(ask, command, args, () => undefined)
  }

  it('of an id that is accepted more than once is what came first, in any order', async () => {
    const shared = {
      projectId: 'acme/again' as ProjectId,
      id: 'same',
      userId: '',
      requestKey: '',
      modelId: 'm',
      trainingDataUrl: 'u',
      experimentalConfig: '',
    }
    const first = trainingJobRecord({ ...shared, clock: 1_800_000_000_000_000n * 1024n, config: '{"n":1}' })
    const later = trainingJobRecord({ ...shared, clock: 1_800_000_000_000_001n * 1024n, config: '{"n":2}' })
    for (const record of [later, first, later, first, later]) {
      const [before] = await jobs("project_id = 'acme/again'")
      await server.now().log.append('training_jobs', [{ ...record, rows: Buffer.from(record.rows) }])
      const [now] = await jobs("project_id = 'acme/again'")
      expect(now?.config).toBe(record === first || before?.config === '{"n":1}' ? '{"n":1}' : '{"n":2}')
    }
    expect(await jobs("project_id = 'acme/again'")).toMatchObject([{ config: '{"n":1}' }])
  })

  it('goes with an export and changes nothing when it is imported again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'callhouse-training-'))
    try {
      const before = await jobs()
      expect(before.length).toBeGreaterThan(8)
      await run('move.export', join(folder, 'out'))
      const lines: unknown[] = []
      for await (const line of readLines(join(folder, 'out', 'training_jobs-000001.jsonl.zst')))
        lines.push(JSON.parse(line.toString()))
      expect(lines).toHaveLength(before.length)
      expect(lines).toContainEqual(
        expect.objectContaining({ event: 'training.job.created', kind: 'sft', project_id: 'acme/tuning' }),
      )
      await run('move.import', join(folder, 'out'))
      expect(await jobs()).toEqual(before)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
