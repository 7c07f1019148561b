// Kills a process that appends, again and again: what it acknowledged is there exactly once and in order.
// smoke: kill -9
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { readSegments } from '../../services/core/log/segments/read.ts'
import { openLog, temporaryFolder } from '../fixtures/log.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const rounds = runs(8, 40)

async function runAndKill(dir: string, round: number, lines: number) {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./log-child.ts', import.meta.url)), dir, String(round)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const exited = once(child, 'exit')
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const acknowledged: [id: string, offset: number][] = []
  let committed = 0
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, first, second] = line.split(' ')
    if (word === 'acknowledged') acknowledged.push([first as string, Number(second)])
    if (word === 'committed') committed = Number(first)
    if (++seen === lines) child.kill('SIGKILL')
  }
  await exited
  expect(child.signalCode).toBe('SIGKILL')
  return { acknowledged, committed }
}

test(
  `${rounds} rounds of kill -9 lose and double nothing that was acknowledged`,
  async () => {
    const dir = await temporaryFolder()
    const random = createRandom(7)
    const offsetOf = new Map<string, number>()
    for (let round = 1; round <= rounds; round++) {
      const { acknowledged, committed } = await runAndKill(dir, round, 20 + random.below(400))
      expect(acknowledged.length).toBeGreaterThan(0)
      for (const [id, offset] of acknowledged) offsetOf.set(id, offset)

      const log = await openLog(dir)
      const end = (await log.end('calls'))[0]?.offset as number
      expect((await log.committed('calls'))[0]?.offset).toBeGreaterThanOrEqual(committed)
      const found: string[] = []
      for await (const { header, rows } of readSegments({ dir, topic: 'calls' })) {
        expect(header.offset).toBe(found.length + 1)
        found.push((JSON.parse(rows.toString()) as { id: string }).id)
      }
      await log.close()
      expect(found).toHaveLength(end)
      for (const [id, offset] of offsetOf) expect(found[offset - 1]).toBe(id)
      expect(new Set(found).size).toBe(found.length)
      // Everything of the last round up to some record is there, acknowledged or not, in the order of the appends.
      const last = found.filter((id) => id.startsWith(`${round}:`))
      expect(last).toEqual(last.map((_, index) => `${round}:${index}`))
    }
  },
  limitMs(240_000),
)
