// A serial queue and a keyed lock run jobs one after the other.
import { describe, expect, it } from 'vitest'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import { createSerialQueue } from '../../services/core/concurrency/serial-queue.ts'

/** Notes when a job begins and ends. */
function jobs() {
  const seen: string[] = []
  const job =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    }
  return { seen, job }
}

describe('a serial queue', () => {
  it('runs one job after the other, also after one that failed', async () => {
    const { seen, job } = jobs()
    const queue = createSerialQueue()
    const outcomes = await Promise.allSettled([queue.run(job('a')), queue.run(job('b', true)), queue.run(job('c'))])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('is idle once the jobs that were given are done, and takes none after it was closed', async () => {
    const { seen, job } = jobs()
    const queue = createSerialQueue(() => new Error('no more'))
    queue.run(job('a', true)).catch(() => undefined)
    await queue.idle()
    expect(seen).toEqual(['a begins', 'a ends'])
    void queue.run(job('b'))
    await queue.close()
    expect(seen.at(-1)).toBe('b ends')
    await expect(queue.run(job('c'))).rejects.toThrow('no more')
  })

  it('gives a job nothing of the one before', async () => {
    const queue = createSerialQueue()
    const args: unknown[] = []
    await queue.run(async () => 'first')
    await queue.run((...given: unknown[]) => void args.push(...given))
    expect(args).toEqual([])
  })
})

it('a keyed lock runs jobs of one key in order and those of other keys beside them', async () => {
  const { seen, job } = jobs()
  const lock = createKeyedLock()
  await Promise.allSettled([lock.run('x', job('a', true)), lock.run('x', job('b')), lock.run('y', job('c'))])
  expect(seen.filter((line) => !line.startsWith('c'))).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  expect(seen.indexOf('c begins')).toBeLessThan(seen.indexOf('a ends'))
})
