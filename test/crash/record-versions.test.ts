// tier: deep crash
// A start on a log that a process of another version wrote.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { encodeHead } from '../../services/core/log/record.ts'
import { segmentPath } from '../../services/core/log/segments/segment.ts'
import { post, startChildServer } from '../fixtures/child-server.ts'
import { recordOf, temporaryFolder } from '../fixtures/log.ts'

const project = 'acme/app'

const rowOf = (id: string) =>
  JSON.stringify({
    kind: 'complete',
    project_id: project,
    id,
    clock: 5,
    started_us: 1.7e15,
    ended_us: 1.7e15,
    trace_id: id,
    op_name: 'o',
    inputs: { id },
  })

/** A data folder whose log holds one record of another version. */
async function folderWith(version: number): Promise<string> {
  const dir = await temporaryFolder()
  const first = await startChildServer(dir)
  expect(await first.stop()).toBe(0)
  const { rows, ...record } = recordOf(['another'], { rows: Buffer.from(`${rowOf('another')}\n`) })
  const header = { ...record, offset: 1, version, highClock: 1n, appendedMs: Date.now(), groupIndex: 0 }
  await writeFile(
    segmentPath(join(dir, 'log', 'calls'), 1),
    Buffer.concat([encodeHead(header, rows), rows.subarray(1)]),
  )
  return dir
}

it('the process ends with code 1 and a clear line at records of a later build', async () => {
  await expect(startChildServer(await folderWith(2))).rejects.toThrow(
    /ended with 1: callhouse: Record calls=1 has row version 2; this build knows 1 and the one before it\. Upgrade before starting\.\n$/,
  )
})

it('records of the version before, which lack columns, are applied', async () => {
  const server = await startChildServer(await folderWith(0))
  onTestFinished(() => server.kill())
  const { text } = await post(server.url, '/calls/query_stats', { project_id: project })
  expect(JSON.parse(text).count).toBe(1)
})
