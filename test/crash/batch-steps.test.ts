// tier: deep crash
// kill -9 at each step of a batch: before and after every statement that changes something, and every commit.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { expected, type PartRow, type PartsHistory, partRowOf } from '../fixtures/call-parts.ts'
import { temporaryFolder } from '../fixtures/log.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { runs } from '../fixtures/runs.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const child = fileURLToPath(new URL('./batch-steps-child.ts', import.meta.url))

type Outcome = { steps: number; dead: number; counted: { counters: number; keys: number }; rows: PartRow[] }

/** @returns what the process printed; undefined when it ended itself */
async function run(dir: string, endAt: number, rowsFile?: string): Promise<Outcome | undefined> {
  const running = spawn(process.execPath, [child, dir, String(endAt), ...(rowsFile ? [rowsFile] : [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: processEnv(),
  })
  let text = ''
  let errors = ''
  running.stdout.on('data', (chunk: Buffer) => (text += chunk))
  running.stderr.on('data', (chunk: Buffer) => (errors += chunk))
  const [code, signal] = (await once(running, 'close')) as [number | null, string | null]
  if (signal === 'SIGKILL') return undefined
  if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${errors.slice(-2000)}`)
  return JSON.parse(text) as Outcome
}

type Part = PartsHistory['parts'][number]
const startedUs = Date.UTC(2026, 3, 1) * 1000
const part = (kind: Part['kind'], clock: number): Part => ({
  kind,
  clock,
  startedUs: startedUs + clock,
  endedUs: startedUs + 2e6,
  trace: 'trace',
  named: false,
})
const idOf = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

/** Parts of each call that are there before, and those of the batch. */
const batches: Record<string, [before: Part[], now: Part[]][]> = {
  'finished calls that are new': [1, 2, 3].map((n) => [[], [part('complete', n)]]),
  'starts of calls that are new': [1, 2, 3].map((n) => [[], [part('start', n)]]),
  'ends of calls that have begun, a name, a delete, a finished call that comes again and a new one': [
    [[part('start', 1)], [part('end', 11)]],
    [[part('complete', 2)], [part('name', 12)]],
    [[part('complete', 3)], [part('delete', 13)]],
    [[part('complete', 4)], [part('complete', 14)]],
    [[], [part('end', 15)]],
    [[], [part('complete', 6)]],
  ],
}

const linesOf = (all: (readonly [number, Part])[]) =>
  all.map(([n, one]) => `${JSON.stringify(partRowOf(idOf(n), one))}\n`).join('')

describe.each(Object.entries(batches))('a batch of %s', (_name, calls) => {
  it('gives the same tables after kill -9 at any step', { timeout: 600_000 }, async () => {
    const dir = await temporaryFolder()
    const [prepared, before, now] = [join(dir, 'prepared'), join(dir, 'before.jsonl'), join(dir, 'now.jsonl')]
    const parts = (which: 0 | 1) => calls.flatMap((call, n) => call[which].map((one) => [n, one] as const))
    await mkdir(prepared)
    await copyMigratedStore(prepared)
    await writeFile(before, linesOf(parts(0)))
    await writeFile(now, linesOf(parts(1)))
    await run(prepared, 0, parts(0).length > 0 ? before : undefined)

    const folder = async (): Promise<string> => {
      const copy = join(dir, 'copy')
      await rm(copy, { recursive: true, force: true })
      await cp(prepared, copy, { recursive: true, verbatimSymlinks: true })
      return copy
    }
    const whole = await run(await folder(), 0, now)
    const visible = calls.flatMap((call, n) => expected({ id: idOf(n), parts: call.flat(), applied: 0 }))
    expect(whole).toMatchObject({ dead: 0, rows: visible })
    expect(whole?.counted.counters).toBe(visible.filter(({ deleted }) => !deleted).length)
    const steps = whole?.steps ?? 0
    expect(steps).toBeGreaterThanOrEqual(6)

    const every = Math.ceil(steps / runs(4, steps))
    for (let endAt = 1; endAt <= steps; endAt += every) {
      const copy = await folder()
      expect(await run(copy, endAt, now), `it was to end itself at step ${endAt} of ${steps}`).toBeUndefined()
      const { steps: _, ...after } = (await run(copy, 0)) as Outcome
      expect(after, `after a kill at step ${endAt} of ${steps}`).toEqual({
        dead: 0,
        counted: whole?.counted,
        rows: whole?.rows,
      })
    }
  })
})
