// tier: deep kafka
// The order property over Kafka: histories of calls, applied by workers that come and go, then the same records anew in
// another order, grouping and number; both times every call is what the plain model says.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { bodyOf, createHistory, createModel, type History, historyRecord, type Op } from '../fixtures/call-histories.ts'
import { type ChildServer, post, postLines } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'
import { createQuietProject } from '../fixtures/quiet-project.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const projects = ['hist/a', 'hist/b'] as const
const partitions = 3
const historyCount = runs(50, 70)
const random = createRandom(20260112)
const model = createModel()
let installation: Installation

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers(), {
    CALLHOUSE_KAFKA_PARTITIONS: String(partitions),
    CALLHOUSE_KAFKA_SESSION_TIMEOUT_MS: '2000',
    // Calls without a root are none of it.
    CALLHOUSE_ORPHAN_SECONDS: '86400',
  })
})
afterAll(() => installation?.remove())

type Call = { id: string; trace_id: string }

async function compare(query: ChildServer): Promise<void> {
  for (const project of projects) {
    const shown = model.shown(project)
    const answer = await post(query.url, '/calls/stream_query', { project_id: project })
    expect([answer.status, answer.headers.get('x-callhouse-stale')]).toEqual([200, null])
    const lines = answer.text.split('\n').filter(Boolean)
    const calls = lines.map((line) => JSON.parse(line) as Call)
    expect(calls.map(({ id, trace_id }) => `${id} ${trace_id}`)).toEqual(
      shown.map(({ id, start }) => `${id} ${start.trace}`),
    )
    for (const [i, call] of shown.entries()) expect(calls[i]).toMatchObject(historyRecord(project, call))
    const roots = await postLines<Call>(query.url, '/calls/stream_query', {
      project_id: project,
      filter: { trace_roots_only: true },
      columns: ['id'],
    })
    expect(roots).toHaveLength(shown.filter(({ start }) => start.parent === null).length)
    const { text } = await post(query.url, '/calls/query_stats', { project_id: project })
    expect(JSON.parse(text)).toMatchObject({ count: shown.length })
  }
}

async function send(server: ChildServer, path: string, body: object): Promise<void> {
  const { status, text } = await post(server.url, path, body)
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
}

/** The next part of some histories, all starts and ends of them in one request. */
async function sendSome(ingest: ChildServer, query: ChildServer, open: History[]): Promise<void> {
  const chosen = new Set(Array.from({ length: 1 + random.below(25) }, () => random.pick(open)))
  const batch: object[] = []
  const batched: [project: string, op: Op][] = []
  for (const { project, ops } of chosen) {
    const op = ops.shift() as Op
    if (op.is === 'start') batch.push({ mode: 'start', req: { start: bodyOf(project, op) } })
    else if (op.is === 'end') batch.push({ mode: 'end', req: { end: bodyOf(project, op) } })
    else {
      if (op.is === 'complete') await send(ingest, `/v2/${project}/calls/complete`, { batch: [bodyOf(project, op)] })
      else if (op.is === 'rename')
        await send(ingest, '/call/update', { project_id: project, call_id: op.id, display_name: op.name })
      else await send(query, '/calls/delete', { project_id: project, call_ids: op.ids })
      model.apply(project, op)
      continue
    }
    batched.push([project, op])
  }
  if (batch.length > 0) await send(ingest, '/call/upsert_batch', { batch })
  for (const [project, op] of batched) model.apply(project, op)
}

/** Rows of all calls records, by partition. */
async function rowsOfLog(brokers: string[], topicPrefix: string): Promise<string[][]> {
  const log = await createKafkaLog(
    kafkaSettings(brokers, { topicPrefix, partitions, roles: { produce: false, consume: true } }),
  )
  const rows: string[][] = Array.from({ length: partitions }, () => [])
  const ends = (await log.end('calls')).map(({ offset }) => offset)
  const stop = new AbortController()
  for await (const { partition, lastOffset, source } of log.consume('calls', stop.signal)) {
    if ('file' in source) throw new Error('Kafka delivers bytes')
    const text = Buffer.concat(source.bytes).toString()
    rows[partition]?.push(...text.split('\n').filter(Boolean))
    await log.commit({ topic: 'calls', partition, offset: lastOffset })
    ends[partition] = lastOffset >= (ends[partition] as number) ? 0 : (ends[partition] as number)
    if (ends.every((end) => end === 0)) break
  }
  await log.close()
  return rows
}

function shuffled<T>(list: T[]): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const k = random.below(i + 1)
    ;[list[i], list[k]] = [list[k] as T, list[i] as T]
  }
  return list
}

it('calls are those of the model, while workers come and go', { timeout: limitMs(240_000) }, async () => {
  const ingest = await installation.start('ingest')
  const startWorker = (name: string) => installation.start('worker', { CALLHOUSE_WORKER_ID: name })
  const [first, query] = await Promise.all([startWorker('first'), installation.start('query')])
  const histories = Array.from({ length: historyCount }, (_, n) => createHistory(random, n + 1, [...projects]))
  const left = () => histories.filter(({ ops }) => ops.length > 0)
  const opsLeft = () => histories.reduce((sum, { ops }) => sum + ops.length, 0)
  const all = opsLeft()
  let second: Promise<ChildServer> | undefined
  let killed: Promise<void> | undefined
  const quiet = createQuietProject('hist/quiet')
  for (let round = 0; opsLeft() > 0; round++) {
    await sendSome(ingest, query, left())
    if (round % 5 === 0) await quiet.write(ingest.url, query.url)
    if (opsLeft() < all * 0.7) second ??= startWorker('second')
    if (opsLeft() < all * 0.3) killed ??= second?.then(() => first.kill())
  }
  await killed
  expect(model.shown('hist/a').length).toBeGreaterThan(historyCount / 2)
  await compare(query)
  await quiet.check(query.url)
})

it('tables are the same from the same rows in any order, grouping and number', {
  timeout: limitMs(240_000),
}, async () => {
  const brokers = await kafkaBrokers()
  const rows = await rowsOfLog(brokers, installation.env.CALLHOUSE_KAFKA_TOPIC_PREFIX as string)
  const name = `test-${randomBytes(6).toString('hex')}`
  const env = {
    CALLHOUSE_KAFKA_TOPIC_PREFIX: `${name}.`,
    CALLHOUSE_KAFKA_GROUP: name,
    CALLHOUSE_CLICKHOUSE_DATABASE: 'again',
  }
  const log = await createKafkaLog(
    kafkaSettings(brokers, {
      topicPrefix: `${name}.`,
      group: name,
      partitions,
      roles: { produce: true, consume: false },
    }),
  )
  const startWorker = (id: string) => installation.start('worker', { ...env, CALLHOUSE_WORKER_ID: id })
  const [first, query] = [await startWorker('first'), await installation.start('query', env)]
  const appendSome = async (share: number): Promise<void> => {
    for (const [partition, lines] of rows.entries()) {
      // Some come twice, at another place.
      const chosen = shuffled([...lines, ...lines.filter(() => random.chance(0.3))]).slice(0, lines.length * share)
      const appends: Promise<unknown>[] = []
      for (let at = 0; at < chosen.length; ) {
        const some = chosen.slice(at, at + 1 + random.below(30))
        at += some.length
        const patchCount = some.filter((line) => !line.startsWith('{"kind":"complete"')).length
        appends.push(
          log.append('calls', [
            {
              rows: Buffer.from(`${some.join('\n')}\n`),
              rowCount: some.length,
              patchCount,
              clock: 0n,
              key: String(partition),
            },
          ]),
        )
      }
      await Promise.all(appends)
    }
  }
  await appendSome(0.5)
  const second = startWorker('second')
  await appendSome(0.5)
  await second
  const killed = first.kill()
  // At last everything, so that each row came at least once.
  await appendSome(2)
  await killed
  await log.close()
  await compare(query)
})
