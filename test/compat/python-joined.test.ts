// tier: deep compat
// The published Python SDK reads calls through refs and by their feedback: get_calls with expand_columns, filters and sorts.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

/** Names of the calls that were found, and how many the count says. */
type Found = [names: string, count: number]
type Report = { expanded: { settings: unknown; example: unknown }[]; values: number[]; users: string[] } & Record<
  'deep' | 'row' | 'sorted' | 'unlisted' | 'feedback' | 'reaction' | 'best' | 'both',
  Found
>

describe(`calls of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('are read through refs and by feedback', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('joined.py', ['compat/python-joined'], server)
    expect(report).toMatchObject({
      expanded: [
        { settings: { size: 3, child: { temp: 0.7, label: 'warm' } }, example: { q: 'one', score: 10 } },
        { settings: { size: 1 }, example: { q: 'two', score: 2.5 } },
      ],
      deep: ['a', 1],
      row: ['b', 1],
      sorted: ['ba', 2],
      unlisted: ['', 0],
      values: [3, 1],
      feedback: ['b', 1],
      reaction: ['ab', 2],
      best: ['ba', 2],
      both: ['a', 1],
      users: ['tester', 'tester'],
    })
  })
})
