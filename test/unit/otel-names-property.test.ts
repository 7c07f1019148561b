// Shortened span names: what the rule over all of a name gives, from its beginning alone.
// again: property
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shortDisplayName, shortOpName } from '../../services/ingest/otel/names.ts'
import { runs } from '../fixtures/runs.ts'

const delimiter = /[,;| /?.]/

/** The rule (specification: OTLP, 2.1) over the whole name. */
function byTheRule(name: string, max: number, suffix: string, tailOf: (delimiters: string) => string): string {
  const points = [...name]
  if (points.length <= max) return name
  const groups: { before: string[]; text: string[] }[] = []
  for (const [i, point] of points.entries()) {
    const isDelimiter = delimiter.test(point)
    const starts = i === 0 || (isDelimiter && !delimiter.test(points[i - 1] as string))
    if (starts) groups.push({ before: [], text: [] })
    const group = groups.at(-1) as { before: string[]; text: string[] }
    if (isDelimiter) group.before.push(point)
    else group.text.push(point)
  }
  const [first = { before: [], text: [] }, ...others] = groups
  const startsWithText = first.before.length === 0
  const head = startsWithText ? first.text : first.before
  const rest = startsWithText ? others : [{ before: [], text: first.text }, ...others]
  if (rest.length === 0 || head.length > max - suffix.length)
    return points.slice(0, max - suffix.length).join('') + suffix
  let current = head
  for (const { before, text } of rest) {
    if (text.length === 0) break
    const tail = tailOf(before.join(''))
    if (current.length + before.length + text.length >= max - [...tail].length) return current.join('') + tail
    current = [...current, ...before, ...text]
  }
  return current.join('')
}

const piece = fc.tuple(
  fc.constantFrom('a', 'é', '😀', '\ud83d', '.', '..', '/', ' ', 'ab.', '.😀', 'a/'),
  fc.oneof(fc.nat(6), fc.nat(140), fc.nat(1100)),
)
const names = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.map(([unit, n]) => unit.repeat(n)).join(''))

describe('shortened names', () => {
  it('of ops are what the rule over the whole name gives', () => {
    fc.assert(
      fc.property(names, (name) => {
        const short = shortOpName(name)
        const suffix = short.slice(-5)
        expect(short).toBe(byTheRule(name, 128, suffix, () => suffix))
        expect([...short].length).toBeLessThanOrEqual(128)
      }),
      { numRuns: runs(300, 3000) },
    )
  })

  it('for display, except that a run of delimiters which does not fit is left out', () => {
    const tailOf = (between: string) => ('...'.startsWith(between) ? '...' : `${between}...`)
    fc.assert(
      fc.property(names, (name) => {
        const short = shortDisplayName(name)
        const expected = byTheRule(name, 1024, '...', tailOf)
        if ([...expected].length <= 1024) expect(short).toBe(expected)
        else expect(short).toBe(`${expected.replace(/[,;| /?.]+$/, '')}...`)
        expect([...short].length).toBeLessThanOrEqual(1024)
      }),
      { numRuns: runs(300, 3000) },
    )
  })

  it('of millions of parts take no memory', async () => {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(workerData).then(({ shortOpName, shortDisplayName }) => {
        const name = '.a'.repeat(1_500_000)
        parentPort.postMessage([shortOpName(name).length, shortDisplayName(name).length])
      })`
    const names = new URL('../../services/ingest/otel/names.ts', import.meta.url).href
    const worker = new Worker(code, { eval: true, workerData: names, resourceLimits: { maxOldGenerationSizeMb: 64 } })
    const lengths = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
    expect(lengths).toEqual([127, 1023])
  })
})
