// The published Python SDK traces a program against the server, and a client of it reads everything back.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Seen = {
  op: string
  name: string
  display_name: string | null
  inputs: Record<string, unknown>
  output: unknown
  exception: string | null
  parent: string | null
  same_trace: boolean
  thread: string | null
  attributes: Record<string, unknown>
  status: string
  ended: boolean
  user: string | null
}
type Report = { calls: Seen[]; count: number; page: string[]; one: boolean; filtered: number; query: number }

describe(`Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  const trace = (project: string, env: Record<string, string> = {}): Promise<Report> =>
    runPython<Report>('program.py', [project], { url: server.url, home: server.home, env })

  const check = (report: Report): void => {
    const named = (name: string) => report.calls.filter((call) => call.name === name)
    expect(report.calls.every((call) => call.ended && call.same_trace && call.user === 'tester')).toBe(true)
    const [outer] = named('outer')
    expect(named('outer')).toHaveLength(1)
    expect(outer?.output).toEqual({ sum: 2, float: 1, big: JSON.parse('12345678901234567890'), text: 'héllo 😀' })
    expect(outer?.status).toBe('success')
    expect(
      named('add')
        .map((call) => call.parent)
        .sort(),
    ).toEqual(['later', null, null, null, 'outer'])
    const [failed] = named('fails')
    expect(failed?.status).toBe('error')
    expect(failed?.exception).toContain('boom')
    expect(named('later')[0]?.output).toBe(8)
    expect(named('stream')[0]?.output).toEqual([0, 1, 2])
    expect(named('add').find((call) => call.inputs.a === 7)?.thread).toBe('conversation-1')
    const renamed = named('add').find((call) => call.inputs.a === 8)
    expect(renamed?.display_name).toBe('renamed call')
    expect(renamed?.attributes).toEqual({ env: 'test', api_key: 'REDACTED' })
    expect(report.calls.some((call) => call.inputs.x === 50 || call.inputs.a === 50)).toBe(false)
    expect(report.count).toBe(report.calls.length)
    expect(report.page).toHaveLength(2)
    expect(report.one).toBe(true)
    expect(report.filtered).toBe(report.calls.filter((call) => call.parent === null).length)
    expect(report.query).toBe(1)
  }

  it('traces through the complete route and reads back', { timeout: 180_000 }, async () => {
    check(await trace('compat/python-complete'))
  })

  it('traces through starts and ends and reads back', { timeout: 180_000 }, async () => {
    check(await trace('compat/python-parts', { WEAVE_USE_CALLS_COMPLETE: 'false' }))
  })
})
