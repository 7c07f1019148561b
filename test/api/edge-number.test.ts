// Numbers of edges: processes that share a log differ in the low bits of their accept clocks.
import { expect, it } from 'vitest'
import { edgeNumberOf } from '../../services/engines.ts'

it('is what is set, 0 for a process alone, and another one for each of several', () => {
  const kafkaBrokers = ['127.0.0.1:9092']
  expect(edgeNumberOf({ edgeNumber: 7, kafkaBrokers })).toBe(7)
  expect(edgeNumberOf({ edgeNumber: 0, kafkaBrokers: [] })).toBe(0)
  const drawn = Array.from({ length: 200 }, () => edgeNumberOf({ edgeNumber: 0, kafkaBrokers }))
  expect(drawn.every((number) => number >= 1 && number <= 1023)).toBe(true)
  expect(new Set(drawn).size).toBeGreaterThan(100)
})
