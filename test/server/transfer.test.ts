// tier: deep slow
// `callhouse export` and `import`: what one installation holds is in the other, with the same answers.
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { follow } from '../../services/cli/follow.ts'
import { overLimit } from '../../services/core/errors.ts'
import type { Position, RecordInput } from '../../services/core/log/log.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { createTasks, type TaskStatus } from '../../services/operations/tasks.ts'
import { readLines } from '../../services/operations/transfer/archive.ts'
import { importFrom } from '../../services/operations/transfer/import.ts'
import type { DeadLetter, DeadLetterSummary } from '../../services/worker/dead-letters/dead-letters.ts'
import { type ChildServer, post, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { answersOf, idOf, sameAddress, writeWorld } from '../fixtures/whole-world.ts'

let source: LiveServer
let target: ChildServer
let targetDir: string
let folder: string

const project = 'move/all'
const other = 'move/other'

async function run(dataDir: string, command: string, ...args: string[]): Promise<string[]> {
  const lines: string[] = []
  const ask = async (name: string, given: string[]) => {
    const reply = await askOverSocket(dataDir, { command: name, args: given })
    if (!reply?.ok) throw new Error(reply?.reason)
    return reply.result
  }
  await follow(ask, command, args, (line) => void lines.push(line))
  return lines
}
const answers = (url: string, of: string) => answersOf(sameAddress(url), of)

/** The projects of lines in the topics' own rows. */
const projectsIn = (lines: string[]) =>
  new Set(
    lines.map((line) => {
      const found = JSON.parse(line) as { project_id?: string; row?: string }
      return found.row === undefined ? found.project_id : JSON.parse(found.row).project_id
    }),
  )
/** Accepted by no edge: the store refuses it. */
const refusedRow = (project_id: string) =>
  JSON.stringify({
    kind: 'complete',
    project_id,
    id: 'refused \u2028 row',
    clock: 1,
    started_us: 'never',
    trace_id: 't',
  })
const letters = async (dataDir: string): Promise<DeadLetterSummary[]> => {
  const reply = await askOverSocket(dataDir, { command: 'deadletters.list', args: [] })
  if (!reply?.ok) throw new Error(reply?.reason)
  return reply.result as DeadLetterSummary[]
}
const startOf = (id: string) => ({
  project_id: project,
  id,
  trace_id: id,
  op_name: 'late',
  started_at: '2026-02-01T00:00:00Z',
  attributes: {},
  inputs: {},
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-move-'))
  targetDir = join(folder, 'target')
  source = await startLiveServer()
  await writeWorld(sameAddress(source.now().url), project)
  await writeWorld(sameAddress(source.now().url), other, 6)
  for (const of of [project, other]) {
    const rows = Buffer.from(`${refusedRow(of)}\n`)
    await source.now().log.append('calls', [{ rows, rowCount: 1, patchCount: 0, clock: 1n, key: of }])
  }
  // Waits until all of it is applied.
  await post(source.now().url, '/calls/query_stats', { project_id: other })
})
afterAll(async () => {
  await source?.remove()
  await target?.kill()
  await rm(folder, { recursive: true, force: true })
})

it('an import is refused before anything is written when a file is damaged or missing', async () => {
  const whole = join(folder, 'all')
  const lines = await run(source.dataDir, 'move.export', whole)
  expect(lines.at(-1)).toMatch(/done, [1-9]\d* rows$/)
  expect(lines.filter((line) => /without|left out/.test(line))).toEqual([])
  target = await startChildServer(targetDir)
  const names = await readdir(whole)
  const calls = names.find((name) => name.startsWith('calls-')) as string
  const [blob] = (await readdir(join(whole, 'blobs'), { recursive: true })).filter((name) => name.length > 60)
  const flip = async (path: string) => {
    const bytes = await readFile(path)
    const at = bytes.length >> 1
    bytes[at] = (bytes[at] as number) ^ 1
    await writeFile(path, bytes)
  }
  const faults: [RegExp, (copy: string) => Promise<void>][] = [
    [/calls-000001.jsonl.zst is damaged: its digest differs/, (copy) => flip(join(copy, calls))],
    [/calls-000001.jsonl.zst is damaged: it has \d+ bytes instead/, (copy) => truncate(join(copy, calls), 100)],
    [/calls-000001.jsonl.zst is missing/, (copy) => rm(join(copy, calls))],
    [
      /manifest.json cannot be read: this is no export, or one that was not ended/,
      (copy) => rm(join(copy, 'manifest.json')),
    ],
    [
      /manifest.json is damaged/,
      async (copy) => {
        const path = join(copy, 'manifest.json')
        await writeFile(path, (await readFile(path, 'utf8')).replace(/"rows": \d/, '"rows": 7'))
      },
    ],
    [/blobs.*is damaged/, (copy) => flip(join(copy, 'blobs', blob as string))],
    [/blobs.*is missing/, (copy) => rm(join(copy, 'blobs', blob as string))],
  ]
  for (const [message, damage] of faults) {
    const copy = join(folder, 'copy')
    await cp(whole, copy, { recursive: true })
    await damage(copy)
    await expect(run(targetDir, 'move.import', copy)).rejects.toThrow(message)
    await rm(copy, { recursive: true })
  }
  expect(JSON.parse((await post(target.url, '/calls/query_stats', { project_id: project })).text)).toMatchObject({
    count: 0,
  })
  await expect(run(source.dataDir, 'move.export', whole)).rejects.toThrow('is not empty')
  const told = async (url: string, action: string) =>
    (await post(url, '/audit/query', { action })).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { action: string; outcome: string; target: string; actor: string })
      .reverse()
  expect(await told(source.now().url, 'export.*')).toMatchObject([
    { action: 'export.started', outcome: 'done', target: whole, actor: 'command' },
    { action: 'export.ended', outcome: 'done', target: whole, details: { rows: expect.any(Number) } },
    { action: 'export.started', outcome: 'done' },
    { action: 'export.ended', outcome: 'failed' },
  ])
  expect((await told(target.url, 'import.ended')).map(({ outcome }) => outcome)).toEqual(faults.map(() => 'failed'))
})

it('an export gives the same answers in another installation, also when it is imported twice', async () => {
  const [before, others] = [await answers(source.now().url, project), await answers(source.now().url, other)]
  await run(targetDir, 'move.import', join(folder, 'all'))
  expect(await answers(target.url, project)).toEqual(before)
  expect(await answers(target.url, other)).toEqual(others)
  await run(targetDir, 'move.import', join(folder, 'all'))
  expect(await answers(target.url, project)).toEqual(before)
  const carried = await letters(targetDir)
  expect(carried.map(({ topic, partition, offset }) => [topic, partition, offset])).toEqual([
    ['calls', 0, 0],
    ['calls', 0, 0],
  ])
  const shown = await Promise.all(
    carried.map(({ id }) => askOverSocket(targetDir, { command: 'deadletters.show', args: [id] })),
  )
  expect(shown.map((reply) => reply?.ok && (reply.result as DeadLetter).row).sort()).toEqual(
    [refusedRow(project), refusedRow(other)].sort(),
  )
  expect(carried[0]?.reason).toMatch(/never[\s\S]* \(imported, found at 2\d{3}-/)
  expect(before.calls?.split('\n').length).toBeGreaterThan(25)
})

it('an export holds patches whose calls are not known yet', async () => {
  const id = idOf(37)
  for (const url of [source.now().url, target.url]) {
    await post(url, '/call/upsert_batch', { batch: [{ mode: 'start', req: { start: startOf(id) } }] })
    const { text } = await post(url, '/call/read', { project_id: project, id })
    expect(JSON.parse(text).call).toMatchObject({ output: 'before its start', op_name: 'late' })
  }
})

it('an export of one project holds nothing of others', async () => {
  const one = join(folder, 'one')
  await run(source.dataDir, 'move.export', one, other)
  for (const name of (await readdir(one)).filter((entry) => entry.endsWith('.zst'))) {
    const lines: string[] = []
    for await (const line of readLines(join(one, name))) lines.push(line.toString())
    expect(projectsIn(lines)).toEqual(new Set([other]))
  }
  expect((await readdir(one)).length).toBeGreaterThan(10)
})

/** A log that takes rows as long as it is told to, and keeps what it took. */
function fakeLog(partitions: number, refuse: (appends: number) => Error | null) {
  const taken: { topic: string; key: string; lines: string[]; patches: number; clock: bigint }[] = []
  let appends = 0
  return {
    taken,
    partitions: () => partitions,
    limits: { recordBytes: 4096 },
    flush() {},
    committed: async () => [],
    async append(topic: string, records: RecordInput[]): Promise<Position> {
      const error = refuse(++appends)
      if (error) throw error
      for (const { rows, key, patchCount: patches, clock } of records)
        taken.push({ topic, key, lines: rows.toString().trimEnd().split('\n'), patches, clock })
      return { topic, partition: 0, offset: taken.length }
    },
  }
}
const noBlobs = {
  upload: async () => ({ write: async () => {}, commit: async () => 'somewhere', discard: async () => {} }),
}
async function importInto(log: ReturnType<typeof fakeLog>, stateFile: string) {
  const clocks: bigint[] = []
  const tasks = createTasks(() => {})
  const deadLetters = { add: async () => {} }
  const onClock = (clock: bigint) => void clocks.push(clock)
  const deps = { log, blobs: noBlobs, deadLetters, stateFile, waits: false, onClock }
  tasks.begin('import', (task) => importFrom(deps, join(folder, 'all'), task))
  await eventually(() => expect(tasks.status()?.phase).not.toBe('working'), { withinMs: 60_000 })
  return { ...(tasks.status() as TaskStatus), clocks }
}

it('an import waits for a full log, keeps the parts of a call together, and goes on after it was broken off', async () => {
  const stateFile = join(folder, 'import.json')
  const whole = fakeLog(3, (appends) => (appends === 2 ? overLimit('log', 'full') : null))
  const done = await importInto(whole, join(folder, 'other.json'))
  expect(done).toMatchObject({ phase: 'done', rows: done.of })
  const calls = whole.taken.filter(({ topic }) => topic === 'calls')
  expect(new Set(calls.map(({ key }) => key))).toEqual(new Set(['0', '1', '2']))
  const keysOf = Map.groupBy(
    calls.flatMap(({ key, lines }) =>
      lines.map((line) => ({ key, ...(JSON.parse(line) as { project_id: string; id: string }) })),
    ),
    ({ project_id, id }) => `${project_id} ${id}`,
  )
  for (const parts of keysOf.values()) expect(new Set(parts.map(({ key }) => key)).size).toBe(1)
  for (const { lines, patches, clock } of calls) {
    expect(lines.filter((line) => JSON.parse(line).kind !== 'complete').length).toBe(patches)
    expect(lines.some((line) => line.includes(`"clock":${clock}`))).toBe(true)
  }
  expect(done.clocks).toEqual(whole.taken.map(({ clock }) => clock))

  const half = fakeLog(3, (appends) => (appends > 20 ? new Error('gone') : null))
  expect(await importInto(half, stateFile)).toMatchObject({ phase: 'failed', reason: 'gone' })
  const rest = fakeLog(3, () => null)
  const resumed = await importInto(rest, stateFile)
  expect(resumed).toMatchObject({ phase: 'done', rows: done.rows })
  expect(resumed.notes.join()).toMatch(/goes on after [1-9]\d* files/)
  expect(rest.taken.length).toBeLessThan(whole.taken.length)
  const linesIn = (...logs: (typeof whole)[]) =>
    new Set(logs.flatMap(({ taken }) => taken.flatMap(({ topic, lines }) => lines.map((line) => `${topic} ${line}`))))
  expect(linesIn(half, rest)).toEqual(linesIn(whole))
})
