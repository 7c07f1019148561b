// tier: deep compat
// The published Python SDK takes an annotation queue through its whole life.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Queue = {
  name: string
  description: string
  scorer_refs: string[]
  by: string
  changed: boolean
  deleted: boolean
}
type Report = {
  ids: [string, string, string]
  ref: string
  added: [number, number][]
  read: Queue
  listed: string[]
  found: boolean[]
  sorted: string[]
  items: unknown[][]
  op: boolean
  progress: [string, string][]
  refused: number
  feedback: [boolean, unknown][]
  unstarted: [string, number][]
  stats: [number, number][]
  renamed: Queue
  gone: Queue
  left: string[]
  kept: number
  missing: number
}

describe(`annotation queues of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('are made, filled, worked through and deleted', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('queues.py', ['compat/python-queues'], server)
    const [a, b, c] = report.ids
    expect(report.added).toEqual([
      [2, 0],
      [1, 2],
    ])
    const queue = { name: 'To review', description: 'Be kind', scorer_refs: [report.ref], by: 'tester' }
    expect(report.read).toEqual({ ...queue, changed: false, deleted: false })
    expect([report.listed, report.found, report.sorted]).toEqual([
      ['Another', 'To review'],
      [true],
      ['Another', 'To review'],
    ])
    expect(report.items).toEqual([
      [a, 'unstarted', 1, ['inputs.name', 'output'], true],
      [b, 'unstarted', 2, ['inputs.name', 'output'], true],
      [c, 'unstarted', 3, [], true],
    ])
    expect(report.op).toBe(true)
    expect(report.progress).toEqual([
      ['in_progress', 'tester'],
      ['completed', 'tester'],
      ['skipped', 'tester'],
    ])
    expect(report.refused).toBe(400)
    expect(report.feedback).toEqual([[true, { value: 5 }]])
    expect(report.unstarted).toEqual([[c, 3]])
    expect(report.stats).toEqual([
      [3, 2],
      [0, 0],
      [0, 0],
    ])
    const renamed = { ...queue, name: 'Reviewed', description: '', changed: true }
    expect(report.renamed).toEqual({ ...renamed, deleted: false })
    expect(report.gone).toEqual({ ...renamed, deleted: true })
    expect([report.left, report.kept, report.missing]).toEqual([['Another'], 3, 404])
  })
})
