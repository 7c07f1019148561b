// A pause ends at its time or when its work does, and a time that has just passed is no fault of anybody's.
import { afterEach, expect, it } from 'vitest'
import { pause } from '../../services/core/concurrency/pause.ts'

const warnings: string[] = []
const listen = (warning: Error): unknown => warnings.push(warning.name)
process.on('warning', listen)
afterEach(() => void process.off('warning', listen))

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('a pause until a time that has passed ends at once, without a warning of the runtime', async () => {
  await pause(-0.003, new AbortController().signal)
  await nextTurn()
  expect(warnings).toEqual([])
})

it('a pause ends with its work, before or while it lasts', async () => {
  const work = new AbortController()
  const during = pause(600_000, work.signal)
  work.abort()
  await during
  await pause(600_000, work.signal)
})
