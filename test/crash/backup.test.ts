// tier: deep crash
// `callhouse backup` of a server that is written to, and `callhouse restore`: every call that was acknowledged is there.
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { restore } from '../../services/operations/backup/restore.ts'
import { callhouse } from '../fixtures/callhouse.ts'
import { type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { answersOf, sameAddress, writeWorld } from '../fixtures/whole-world.ts'
import { startOf, startWriting } from '../fixtures/writing.ts'

const project_id = 'back/up'

let folder: string
let dataDir: string
let server: ChildServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-backup-'))
  dataDir = join(folder, 'data')
  await mkdir(dataDir)
  server = await startChildServer(dataDir)
  await writeWorld(sameAddress(server.url), 'back/world', 10)
})
afterAll(async () => {
  await server?.kill()
  await rm(folder, { recursive: true, force: true })
})

/** Paths that others could read, were the folder itself open. */
async function openBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = await Promise.all(
    entries
      .filter((entry) => !entry.isSymbolicLink())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map(async (path) => ((await stat(path)).mode & 0o077 ? [path] : [])),
  )
  return [...((await stat(folder)).mode & 0o077 ? [folder] : []), ...found.flat()]
}

const flipped = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes)
  copy[0] = (copy[0] as number) ^ 1
  return copy
}
it('a backup holds what was acknowledged before it began, while writes go on', async () => {
  const world = await answersOf(sameAddress(server.url), 'back/world')
  const writer = startWriting(server.url, project_id)
  await writer.more(200)
  const before = [...writer.acknowledged]
  const backup = join(folder, 'backup')
  expect(await callhouse(['backup', backup], { CALLHOUSE_DATA_DIR: dataDir })).toMatch(/done/)
  await writer.more(100)
  await writer.stop()
  await server.kill()
  expect(await readdir(join(dataDir, 'clickhouse/shadow'))).not.toContain('callhouse_backup')

  const restored = join(folder, 'restored')
  await callhouse(['restore', backup], { CALLHOUSE_DATA_DIR: restored })
  // Whatever rights the files had before, as those of earlier versions: nobody else gets them with the copy.
  for (const folder of [backup, restored]) expect(await openBelow(folder)).toEqual([])
  // what a backup leaves that was killed
  const left = join(restored, 'clickhouse/shadow/callhouse_backup')
  await mkdir(left, { recursive: true })
  server = await startChildServer(restored)
  expect(await readdir(dirname(left))).toEqual([])
  expect(await answersOf(sameAddress(server.url), 'back/world')).toEqual(world)
  const calls = await postLines<{ id: string; inputs: { n: number } | null; output: { n: number } | null }>(
    server.url,
    '/calls/stream_query',
    { project_id },
  )
  const whole = new Set(calls.filter(({ inputs, output }) => inputs && output).map(({ id }) => id))
  expect(before.filter((id) => !whole.has(id))).toEqual([])
  expect(before.length).toBeGreaterThan(199)
  const { text } = await post(server.url, '/calls/query_stats', { project_id })
  expect(JSON.parse(text)).toMatchObject({ count: calls.length })
  const told = await postLines<{ action: string; target: string }>(server.url, '/audit/query', { action: 'restore.*' })
  expect(told).toMatchObject([{ action: 'restore.ended', target: backup, actor: 'command' }])
  const begun = await postLines<{ action: string; target: string }>(server.url, '/audit/query', { action: 'backup.*' })
  expect(begun).toMatchObject([{ action: 'backup.started', target: backup }])
  // the same key opens it, and it takes writes
  const { status } = await post(server.url, '/call/upsert_batch', {
    batch: [{ mode: 'start', req: { start: startOf(project_id, randomUUID(), 1) } }],
  })
  expect(status).toBe(200)
})

it('a restore is refused when a file is damaged or missing, and into a folder that is not empty', async () => {
  const backup = join(folder, 'backup')
  const never = join(folder, 'never')
  const into = (dataDir: string, from = backup) => restore(from, dataDir, () => undefined)
  await expect(into(folder)).rejects.toThrow('is not empty')
  await expect(into(never, join(folder, 'nothing'))).rejects.toThrow('this is no backup')
  const part = (await readdir(join(backup, 'data/clickhouse/store'), { recursive: true })).find((name) =>
    name.endsWith('data.bin'),
  ) as string
  const faults: [RegExp, string, (bytes: Buffer) => Buffer | null][] = [
    [/data\.bin is damaged: its digest differs/, `data/clickhouse/store/${part}`, flipped],
    [/data\.bin is damaged: it has \d+ bytes/, `data/clickhouse/store/${part}`, (bytes) => bytes.subarray(1)],
    [/position is missing/, 'data/log/calls/position', () => null],
    [/files\.jsonl is missing or damaged/, 'files.jsonl', flipped],
    [
      /backup\.json is damaged/,
      'backup.json',
      (bytes) => Buffer.from(String(bytes).replace(/"calls": \d+/, '"calls": 1')),
    ],
  ]
  for (const [message, path, damage] of faults) {
    const at = join(backup, path)
    const whole = await readFile(at)
    const damaged = damage(whole)
    await (damaged ? writeFile(at, damaged) : rm(at))
    await expect(into(never)).rejects.toThrow(message)
    await writeFile(at, whole)
  }
  expect(await readdir(never).catch(() => [])).toEqual([])
})

it('no server starts on a folder that is only partly restored', async () => {
  const half = join(folder, 'half')
  await mkdir(half)
  await writeFile(join(half, 'restore-unfinished'), '')
  await expect(startChildServer(half)).rejects.toThrow('was not wholly restored')
})
