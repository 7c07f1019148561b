// Labels whose events come again or out of order end the same.
import { describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { labelRecord } from '../../services/events/object-labels.ts'
import { objectContent, objectDeletedRecord, objectRecord } from '../../services/events/objects.ts'
import { labelsOf } from '../../services/query/objects/labels.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createTestStore } from '../fixtures/store.ts'

describe('events of labels', () => {
  it('converge when they come again and in any order', async () => {
    const { store, remove } = await createTestStore()
    const clock = createClock()
    const projectId = 'e/p' as ProjectId
    const content = [1, 2].map((n) => objectContent(`{"n":${n}}`))
    const shared = { projectId, objectId: 'x', kind: 'object' as const }
    const object = (i: number) =>
      objectRecord({
        ...shared,
        ...(content[i] as (typeof content)[0]),
        clock: clock.next(),
        userId: '',
        baseClass: '',
        leafClass: '',
        refs: [],
      })
    const digest = (i: number) => (content[i] as (typeof content)[0]).digest
    const label = (kind: 'tag' | 'alias', i: number | null, isSet: boolean, ...labels: string[]) =>
      labelRecord({
        projectId,
        objectId: 'x',
        kind,
        labels,
        digest: i === null ? '' : digest(i),
        isSet,
        clock: clock.next(),
      })
    const objects = [object(0), object(1)]
    const early = [label('tag', 1, true, 'before deletion'), label('alias', 1, true, 'early')]
    objects.push(objectDeletedRecord({ ...shared, digest: digest(1), clock: clock.next(), userId: '' }), object(1))
    const labels = [
      ...early,
      label('tag', 0, true, 'a', 'b'),
      label('tag', 0, false, 'a'),
      label('tag', 1, true, 'b'),
      label('alias', 0, true, 'prod', 'old'),
      label('alias', 1, true, 'prod'),
      label('alias', null, false, 'old'),
    ]
    const orders = [
      labels,
      labels.toReversed(),
      [...labels, ...labels],
      [...labels.slice(3), ...labels, ...labels.slice(0, 4)],
    ]
    try {
      for (const order of orders) {
        const log = createMemoryLog(store)
        for (const record of [...objects, ...objects.toReversed()]) await log.append('objects', [record])
        for (const record of order) await log.append('object_labels', [record])
        const found = await labelsOf(store, projectId, ['x'], {})
        expect(found.of('x', digest(0), false)).toEqual({ tags: ['b'], aliases: [] })
        expect(found.of('x', digest(1), true)).toEqual({ tags: ['b'], aliases: ['latest', 'prod'] })
        for (const table of ['objects', 'object_events', 'object_labels'])
          await store.command({ name: 'test.truncate', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
      }
    } finally {
      await remove()
    }
  })
})
