// tier: bars
// Cost of malicious OTLP senders: memory of the process, and the wait of somebody else for an answer.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bar } from '../fixtures/bar.ts'
import {
  attack,
  type OtlpTarget,
  sendLarge,
  slowSenders,
  somebodyElse,
  startOtlpTarget,
} from '../fixtures/otlp-attack.ts'

/** Until memory has grown to what such work takes. */
const warmRounds = 2
let target: OtlpTarget
beforeAll(async () => {
  target = await startOtlpTarget()
})
afterAll(() => target?.remove())

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${target.server.child.pid}/status`, 'utf8'))?.[1]) * 1024

it('an attack over every way at once', { timeout: 600_000 }, async () => {
  const end = Promise.withResolvers<void>()
  let longest = 0
  const others = somebodyElse(target, end.promise, (ms) => {
    longest = Math.max(longest, ms)
  })
  slowSenders(target, end.promise)
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, residentBytes())
  }, 20)
  /** Growth of memory beyond its size at the beginning. */
  const growthOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = residentBytes()
    peak = before
    await work()
    return peak - before
  }
  const attacked = async () => expect(await attack(target)).toEqual([])
  let [quiet, loud] = [0, 0]
  try {
    // Threads start and heaps grow with work on bodies of the largest size, well-meant ones too; that is done once.
    for (let n = 0; n < 6; n++) expect(await sendLarge(target)).toBe('200')
    for (let n = 0; n < warmRounds; n++) await attacked()
    const began = performance.now()
    loud = await growthOf(attacked)
    const tookMs = performance.now() - began
    // The engine's memory grows with the others' spans.
    quiet = await growthOf(() => new Promise((go) => setTimeout(go, tookMs)))
  } finally {
    end.resolve()
    clearInterval(watching)
  }
  await others
  bar('otlp-hostile/growth', (loud - quiet) / 2 ** 20)
  bar('otlp-hostile/longest-answer', longest)
})
