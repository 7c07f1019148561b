// tier: deep kafka
// Two workers over Kafka and a ClickHouse server share what is derived by hash slots; one that dies loses its slots.
import { randomUUID } from 'node:crypto'
import { createClient } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { slotCount } from '../../services/content/hash-slots.ts'
import { post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'

const names = Array.from({ length: 12 }, (_, n) => `team/share-${n}`)

it('a second worker derives a share of the projects, and the first one all of them after the second died', async () => {
  const installation = await createInstallation(await kafkaBrokers())
  const { url, user: username, password } = installation.bridge
  const database = createClient({ url, username, password })
  const read = async <T>(query: string): Promise<T[]> =>
    (await database.query({ query, format: 'JSONEachRow' })).json<T>()
  try {
    const ingest = await installation.start('ingest')
    await installation.start('worker')
    const other = await installation.start('worker')
    let sent = 0
    const send = async (name: string) => {
      const start = { id: randomUUID(), op_name: 'op', started_at: '2026-01-05T00:00:00Z', attributes: {}, inputs: {} }
      const { status } = await post(ingest.url, '/call/start', { start: { ...start, project_id: name } })
      expect(status).toBe(200)
    }
    const sendOne = async () => {
      await Promise.all(names.map(send))
      sent++
    }
    /** Resolves once the counters of every project have all of its calls. */
    const derived = () =>
      eventually(
        async () => {
          const rows = await read<{ calls: number }>(`SELECT toUInt32(sum(calls)) AS calls
            FROM callhouse.call_counts FINAL WHERE project_id LIKE 'team/share-%' GROUP BY project_id`)
          expect(rows.map(({ calls }) => calls)).toEqual(names.map(() => sent))
        },
        { withinMs: 60_000, everyMs: 200 },
      )
    // Until the partitions are shared one worker derives everything under the rollup's own name.
    await eventually(
      async () => {
        await sendOne()
        const [row] = await read<{ n: number }>(
          `SELECT toUInt32(uniqExact(name)) AS n FROM callhouse.rollups WHERE name LIKE 'call_counts/%'`,
        )
        expect(row?.n).toBe(slotCount)
      },
      { withinMs: 60_000, everyMs: 1_000 },
    )
    await derived()
    await other.kill()
    await sendOne()
    await derived()
  } finally {
    await database.close()
    await installation.remove()
  }
})
