// Bytes that an edge has appended and nobody applied yet: each project gets back exactly what it took, once, and not
// too early.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createOwnAppends } from '../../services/core/log/kafka/own.ts'

const sum = (projects: ReadonlyMap<string, number>): number => [...projects.values()].reduce((all, one) => all + one, 0)

it('the count of own records gives back what lies before the position, and all of it in the end', () => {
  const step = fc.oneof(
    fc.record({ project: fc.constantFrom('a', 'b'), bytes: fc.integer({ min: 1, max: 9 }), ahead: fc.nat(3) }),
    fc.record({ back: fc.nat(1_500) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_500 }), (steps) => {
      const held = new Map<string, number>()
      const entries: { end: number; project: string; bytes: number }[] = []
      const own = createOwnAppends((bytes, projects) => {
        expect(bytes).toBe(sum(projects))
        for (const [project, less] of projects) held.set(project, (held.get(project) ?? 0) - less)
      })
      let [end, position] = [0, 0]
      for (const one of steps) {
        if ('back' in one) {
          position = Math.max(position, end - one.back)
          own.committed(position)
        } else {
          end += 1 + one.ahead
          held.set(one.project, (held.get(one.project) ?? 0) + one.bytes)
          entries.push({ end, project: one.project, bytes: one.bytes })
          own.appended(end, one.bytes, new Map([[one.project, one.bytes]]))
        }
        for (const project of ['a', 'b']) {
          const waiting = entries.filter((entry) => entry.project === project && entry.end > position)
          const least = waiting.reduce((all, { bytes }) => all + bytes, 0)
          expect(held.get(project) ?? 0).toBeGreaterThanOrEqual(least)
        }
      }
      own.committed(end)
      expect([...held.values()].every((left) => left === 0)).toBe(true)
      // Applied before the acknowledgement was seen.
      own.appended(end, 5, new Map([['c', 5]]))
      expect(held.get('c')).toBe(-5)
    }),
    { numRuns: 20 },
  )
})
