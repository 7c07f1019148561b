// tier: deep compat
// The published Python SDK asks for the stored bytes of a project, its retention, and what is not served.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Report = {
  before: number[]
  after: number[]
  only_files: number[]
  files: number
  retention: number | null
  scored: unknown[]
}

describe(`projects of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('tell their stored bytes', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('projects.py', ['compat/python-projects'], server)
    expect(report.before).toEqual([0, 0, 0, 0])
    expect(report.after.slice(0, 3).every((bytes) => bytes > 0)).toBe(true)
    expect(report.after[2]).toBe(3 * '{"i": 0}'.length)
    expect(report.files).toBeGreaterThan(0)
    expect([report.after[3], report.only_files]).toEqual([report.files, [0, 0, 0, report.files]])
    expect(report.retention).toBeNull()
    expect(report.scored).toEqual([501, expect.stringContaining('cannot be run over calls')])
  })
})
