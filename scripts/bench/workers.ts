// `npm run bench workers`: how long one, two and three workers over Kafka need until counters, statistics and field index
// hold a backlog of small calls, of many projects and of one, and how evenly the workers share it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient as connect } from '@clickhouse/client'
import { startBroker } from '../../test/fixtures/kafka-broker.ts'
import { cpuSecondsOf, createClient, median, sendAll } from './process.ts'
import { type Roles, startRoles } from './roles.ts'
import { createSmallCalls } from './sustained.ts'

const perRequest = 200
const warmUp = 20
const manyProjects = 48
const rollups = ['call_counts', 'call_stats', 'payload_leaves']

/** Dirty buckets past what each rollup covers of their projects, and calls that are applied. */
const stateQuery = `WITH
  (SELECT CAST((groupArray(place), groupArray(p)), 'Map(String, UInt64)') FROM
    (SELECT concat(name, ' ', toString(partition)) AS place, max(position) AS p FROM callhouse.rollups GROUP BY place)) AS covered
  SELECT (SELECT toUInt32(count()) FROM callhouse.calls) AS calls, toUInt32(countIf(arrayExists(name ->
    position > greatest(covered[concat(name, ' ', toString(partition))],
      covered[concat(name, '/', toString(CRC32(project_id) % 64), ' ', toString(partition))]), ${JSON.stringify(rollups).replaceAll('"', "'")}))) AS dirty
  FROM callhouse.call_marks`

type Measured = { seconds: number; workers: number[]; engine: number }

async function untilDerived({ bridge }: Roles, calls: number): Promise<void> {
  const database = connect({ url: bridge.url, username: bridge.user, password: bridge.password })
  let row: { calls: number; dirty: number } | undefined
  try {
    // Dirty buckets are written after the rows.
    for (let isMarked = false; ; isMarked ||= (row?.calls ?? 0) >= calls && (row?.dirty ?? 0) > 0) {
      const answer = await database.query({ query: stateQuery, format: 'JSONEachRow' })
      ;[row] = await answer.json<{ calls: number; dirty: number }>()
      if (isMarked && row?.dirty === 0) return
      await sleep(100)
    }
  } finally {
    await database.close()
  }
}

/** The workers stand still while the calls are appended. */
async function measure(
  workers: number,
  projects: number,
  calls: number,
  broker: string,
  dir: string,
): Promise<Measured> {
  const roles = await startRoles(workers, broker, dir)
  try {
    const { ingest, applying } = roles
    const post = createClient(ingest.port, 6)
    const send = (body: Buffer | string) => post('/call/upsert_batch', body)
    const next = createSmallCalls((call) => `acme/small-${call % projects}`)
    const bodies = (count: number) => Array.from({ length: count }, () => Buffer.from(next()))
    await sendAll(bodies(warmUp), send, 2)
    await untilDerived(roles, warmUp * perRequest)
    for (const { child } of applying) child.kill('SIGSTOP')
    await sendAll(bodies(calls / perRequest), send, 4)
    const [before, engineBefore] = [applying.map((server) => server.cpuSeconds()), cpuSecondsOf(roles.bridge.pid())]
    const beganMs = performance.now()
    for (const { child } of applying) child.kill('SIGCONT')
    await untilDerived(roles, warmUp * perRequest + calls)
    return {
      seconds: (performance.now() - beganMs) / 1000,
      workers: applying.map((server, n) => server.cpuSeconds() - (before[n] as number)),
      engine: cpuSecondsOf(roles.bridge.pid()) - engineBefore,
    }
  } finally {
    await roles.remove()
  }
}

/** @param calls of each backlog */
export async function benchWorkers(calls: number, rounds: number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const broker = await startBroker()
  const found = new Map<string, Measured[]>()
  try {
    for (let round = 0; round < rounds; round++)
      for (const projects of [manyProjects, 1])
        for (const workers of round % 2 === 0 ? [1, 2, 3] : [3, 2, 1]) {
          const measured = await measure(workers, projects, calls, broker.address, work)
          const name = `${projects} ${workers}`
          found.set(name, [...(found.get(name) ?? []), measured])
          process.stderr.write(`${name}: ${JSON.stringify(measured)}\n`)
        }
  } finally {
    await broker.dispose()
    rmSync(work, { recursive: true, force: true })
  }
  process.stdout.write(
    '| projects | workers | s until derived | us per call: workers, engine | busiest worker / mean |\n|---|---|---|---|---|\n',
  )
  for (const [name, all] of found) {
    const [projects, workers] = name.split(' ')
    const of = (value: (one: Measured) => number) => median(all.map(value))
    const sum = (one: Measured) => one.workers.reduce((total, seconds) => total + seconds, 0)
    const cells = [
      projects,
      workers,
      of(({ seconds }) => seconds).toFixed(1),
      `${of((one) => (sum(one) / calls) * 1e6).toFixed(0)}, ${of(({ engine }) => (engine / calls) * 1e6).toFixed(0)}`,
      of((one) => (Math.max(...one.workers) / sum(one)) * one.workers.length).toFixed(2),
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}
