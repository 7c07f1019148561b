// tier: deep compat
// The published Python SDK publishes datasets, objects, ops and media, labels versions, and reads everything back.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Report = {
  first: Record<string, string>
  again: Record<string, string>
  small_rows: unknown[]
  large_count: number
  large_ok: boolean
  row_ref: string
  row_by_ref: unknown
  extended: number
  plain: unknown
  op: number
  settings: unknown[]
  notes: unknown[]
  versions: unknown[]
  deleted: string
}

describe(`Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('publishes and reads back datasets, objects, ops and refs', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('objects.py', ['compat/objects'], {
      url: server.url,
      home: server.home,
      // The SDK keeps answers on disk across servers: without it, every read reaches this one.
      env: { WEAVE_USE_SERVER_CACHE: 'false' },
    })
    const { first } = report
    expect(report.again).toEqual({ small: first.small, large: first.large, plain: first.plain })
    const row = (i: number) => ({ i, half: i / 2, text: `row ${i} é`, nested: { even: i % 2 === 0 } })
    expect(report.small_rows).toEqual(Array.from({ length: 10 }, (_, i) => row(i)))
    expect([report.large_count, report.large_ok]).toEqual([10_000, true])
    expect(report.row_ref).toMatch(/^weave:\/\/\/compat\/objects\/object\/small:\w{43}\/attr\/rows\/id\/\w{43}$/)
    expect(report.row_by_ref).toEqual(row(3))
    expect(report.extended).toBe(11)
    expect(report.plain).toEqual({ a: 1, b: [1, 2.5, null], c: 'héllo 😀' })
    expect(report.op).toBe(42)
    expect(report.settings).toEqual(['settings', 1, 'outer'])
    expect(report.notes).toEqual(['x', { y: 2 }])
    expect(report.versions).toEqual([
      [0, 0, false],
      [1, 1, true],
    ])
    expect(report.deleted).toContain('was deleted')
  })

  it('publishes and reads back images, audio and files', { timeout: 180_000 }, async () => {
    const report = await runPython<Record<string, unknown>>('media.py', ['compat/media', server.home], {
      url: server.url,
      home: server.home,
      env: { WEAVE_USE_SERVER_CACHE: 'false' },
    })
    const { first, again, ...read } = report
    expect(again).toEqual(first)
    expect(read).toEqual({
      image: [[64, 64], true],
      sound: [8000, true],
      text: true,
      large: true,
      rows: [
        [0, 8],
        [1, 9],
        [2, 10],
      ],
      call: [16, true],
    })
  })

  it('tags versions and names them by aliases', { timeout: 180_000 }, async () => {
    const report = await runPython<Record<string, unknown>>('labels.py', ['compat/labels'], {
      url: server.url,
      home: server.home,
      env: { WEAVE_USE_SERVER_CACHE: 'false' },
    })
    expect(report).toEqual({
      before: [['good one', 'reviewed'], ['old', 'production'], ['latest']],
      by_alias: { n: 1 },
      after: [
        [['reviewed'], []],
        [['reviewed'], ['latest', 'production']],
      ],
      listed: [['reviewed'], ['production']],
    })
  })
})
