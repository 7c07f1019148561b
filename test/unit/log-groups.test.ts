// Appends that wait for the disk: which of them share a write, and in which order.
import { expect, test } from 'vitest'
import { groupBytes, inFairOrder, type Waiting } from '../../services/core/log/segments/group.ts'
import { controlledFs, openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'
import { createRandom } from '../fixtures/random.ts'

test('appends that fit into one write keep their order', () => {
  const appends = [3, 1, 2].map((share) => ({
    sizeBytes: (groupBytes / 6) * share,
    projects: new Map([['p', share]]),
  }))
  expect(inFairOrder(appends)).toBe(appends)
})

test('of many appends the first write has those with little that waits and the oldest, and each project keeps its order', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = createRandom(seed)
    const appends: (Waiting & { project: string })[] = Array.from({ length: 5 + random.below(40) }, () => {
      const project = random.pick(['loud', 'loud', 'loud', 'louder', 'louder', 'other'])
      const sizeBytes = 1 + random.below(groupBytes / 2)
      return { sizeBytes, project, projects: new Map([[project, sizeBytes]]) }
    })
    const quiet = { sizeBytes: 1000, project: 'quiet', projects: new Map([['quiet', 1000]]) }
    appends.push(quiet)
    const ordered = inFairOrder(appends)
    expect(ordered).toHaveLength(appends.length)
    for (const name of ['loud', 'louder', 'other', 'quiet'])
      expect(ordered.filter(({ project }) => project === name)).toEqual(
        appends.filter(({ project }) => project === name),
      )
    let size = 0
    const firstWrite = ordered.filter((append) => {
      size += append.sizeBytes
      return size <= groupBytes
    })
    expect(firstWrite, `seed ${seed}`).toContain(quiet)
    expect(firstWrite, `seed ${seed}`).toContain(appends[0])
  }
})

test('a project with one append does not wait for the writes of all that another one has sent before', async () => {
  const control = controlledFs()
  const log = await openLog(await temporaryFolder(), { fs: control.fs })
  let release = (): void => {}
  control.hold = new Promise((resolve) => {
    release = resolve
  })
  const order: string[] = []
  const append = async (project: string, text: string): Promise<void> => {
    const record = recordOf([project], { text })
    await log.append('calls', [{ ...record, projects: new Map([[project, record.rows.length]]) }])
    order.push(project)
  }
  const text = 'y'.repeat(groupBytes / 4)
  const appends = Array.from({ length: 20 }, () => append('loud', text))
  appends.push(append('quiet', 'x'))
  release()
  control.hold = null
  await Promise.all(appends)
  expect(order.indexOf('quiet')).toBeLessThan(4)
  // No write was longer than it may be.
  expect(log.counters().groups).toBeGreaterThanOrEqual(6)
})
