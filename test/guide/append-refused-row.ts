// Run by the guide while no server runs: appends a row that the store refuses, and a sound one, past the edge's checks.
import { join } from 'node:path'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { topics } from '../../services/events/registry.ts'

const [dataDir = '.callhouse'] = process.argv.slice(2)
const log = await createEmbeddedLog({
  dir: join(dataDir, 'log'),
  topics,
  maxUnappliedBytes: 2 ** 30,
  minFreeBytes: 0,
  retentionMs: 7 * 86_400_000,
})
const startedUs = Date.UTC(2026, 0, 5, 12) * 1000
const rowOf = (id: string, more: object) =>
  JSON.stringify({
    kind: 'complete',
    project_id: 'acme/demo',
    id,
    clock: Date.now() * 1024,
    started_us: startedUs,
    ended_us: startedUs,
    trace_id: id,
    op_name: 'greet',
    ...more,
    inputs: {},
    summary: {},
  })
const rows = [
  rowOf('0193a1b0-0000-7000-8000-000000000001', {}),
  rowOf('0193a1b0-0000-7000-8000-000000000002', { usage_model: ['m'], usage_input: ['many'] }),
]
await log.append('calls', [
  { rows: Buffer.from(`${rows.join('\n')}\n`), rowCount: 2, patchCount: 0, clock: 1n, key: 'acme/demo' },
])
await log.close()
console.log('appended two rows')
