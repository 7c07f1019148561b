// Requests captured from published instrumentation libraries, and the rows that they become (`-u` at the end rewrites them).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Otel, payload, protobuf, type Row, startOtel } from '../fixtures/otel.ts'

const folder = join(import.meta.dirname, '../golden/otel')
const captured = readdirSync(folder).filter((name) =>
  /^(?!.*\.expected\.json$)(?!vectors\.json$).*\.(bin|json)$/.test(name),
)

let otel: Otel
beforeAll(async () => {
  // Times ahead of the clock are refused: the clock stands at the day of the captures.
  vi.useFakeTimers({ now: new Date('2026-11-29T00:00:00Z'), toFake: ['Date'] })
  otel = await startOtel()
})
afterAll(async () => {
  await otel.stop()
  vi.useRealTimers()
})

/** The parts of a row that do not depend on the moment of the request, payloads as values. */
function stable(row: Row): Row {
  const { clock: _, start_bytes: __, end_bytes: ___, ...rest } = row
  const payloads = ['attributes', 'inputs', 'output', 'summary', 'otel_dump'] as const
  return { ...rest, ...Object.fromEntries(payloads.map((name) => [name, payload(row, name)])) }
}

it('finds captured requests', () => {
  expect(captured.length).toBeGreaterThanOrEqual(9)
})

it.each(captured)('%s', async (name) => {
  const body = readFileSync(join(folder, name))
  const answer = await otel.post(body, name.endsWith('.json') ? 'application/json' : protobuf)
  expect(answer.status).toBe(200)
  expect(['', '{}']).toContain(answer.text)
  const rows = otel.newCalls().map(stable)
  expect(rows.length).toBeGreaterThan(0)
  await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot(
    join(folder, name.replace(/\.(bin|json)$/, '.expected.json')),
  )
})
