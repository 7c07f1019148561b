// Waits of readers: a reader of a quiet project does not wait for the records of a busy one, and never for too little.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createFreshness } from '../../services/core/log/freshness.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { createProjectEnds } from '../../services/core/log/project-ends.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { defaults, recordOf, roomyFs } from '../fixtures/log.ts'

const of = (...projects: string[]) => ({ projects: new Map(projects.map((project) => [project, 1])) })

test('the end of a project is at least its last record and at most the end of the log', () => {
  const project = fc.constantFrom('a/1', 'a/2', 'a/3', 'a/4', 'a/5')
  const record = fc.option(fc.uniqueArray(project, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 10 })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (records, limit) => {
      const ends = createProjectEnds(3, limit)
      const last = new Map<string, number>()
      records.forEach((projects, at) => {
        const offset = 4 + at
        ends.note(offset, [projects ? of(...projects) : {}])
        for (const one of projects ?? ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) last.set(one, offset)
        for (const one of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'never/seen']) {
          expect(ends.of([one])).toBeGreaterThanOrEqual(last.get(one) ?? 3)
          expect(ends.of([one])).toBeLessThanOrEqual(offset)
        }
        expect(ends.of(['a/1', 'a/2'])).toBe(Math.max(ends.of(['a/1']), ends.of(['a/2'])))
      })
    }),
  )
})

test('with room for all projects each has its own end', () => {
  const ends = createProjectEnds(0)
  ends.note(1, [of('quiet/one')])
  ends.note(3, [of('busy/one')])
  // appends may resolve in another order
  ends.note(2, [of('busy/one', 'quiet/two')])
  expect(['quiet/one', 'quiet/two', 'busy/one', 'new/one'].map((one) => ends.of([one]))).toEqual([1, 2, 3, 0])
  ends.note(4, [{}])
  expect(['quiet/one', 'new/one'].map((one) => ends.of([one]))).toEqual([4, 4])
})

test('a read waits for its own project only', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'project-ends-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const log = await createEmbeddedLog({ dir, fs: roomyFs, ...defaults, sealAfterMs: 1_000_000 })
  onTestFinished(() => log.close())
  const progress = createProgress()
  const freshness = createFreshness({ log, progress, boundMs: 50 })
  const wait = (...projects: string[]) =>
    freshness.wait(
      {
        header: () => undefined,
        query: new URLSearchParams(),
        signal: new AbortController().signal,
        projects: () => projects as never,
      },
      ['calls'],
    )
  await log.append('calls', [{ ...recordOf(['a']), ...of('quiet/one') }])
  progress.applied({ topic: 'calls', partition: 0, offset: 1 })
  await log.append('calls', [{ ...recordOf(['b']), ...of('busy/one') }])
  expect(await wait('quiet/one')).toEqual({})
  const stale = { 'X-Callhouse-Stale': expect.stringMatching(/^\d+$/) }
  expect(await wait('busy/one')).toEqual(stale)
  expect(await wait('quiet/one', 'busy/one')).toEqual(stale)
  // who does not say which projects waits for all
  expect(await wait()).toEqual(stale)
  await log.append('calls', [recordOf(['c'])])
  progress.applied({ topic: 'calls', partition: 0, offset: 2 })
  expect(await wait('quiet/one')).toEqual(stale)
})
