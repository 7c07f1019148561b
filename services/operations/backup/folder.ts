// The files of a backup: copied with their digests, listed, and checked before anything is made of them.
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { errorCode, nodeFs } from '../../core/files/disk.ts'
import { readManifest, writeManifest } from '../../core/files/manifest.ts'

const manifestName = 'backup.json'
const listName = 'files.jsonl'
/** The folder below which the data folder lies. */
export const dataName = 'data'

const bodySchema = z.object({
  format: z.literal('callhouse backup', { error: 'is no manifest of a backup' }),
  version: z.literal(1, { error: 'is of a format that this version does not know' }),
  callhouse: z.string(),
  engine: z.string(),
  /** Everything that was accepted before is in it. */
  begunAt: z.string(),
  /** Position of each topic that the tables hold; the log goes on from there. */
  positions: z.record(z.string(), z.int()),
  /** Rows of each table, as they lie on the disk. */
  tables: z.record(z.string(), z.int()),
  /** Symbolic links of the engine, whose targets are relative. */
  links: z.array(z.object({ path: z.string(), target: z.string() })),
  files: z.int(),
  sizeBytes: z.int(),
  /** Digest of the list of the files. */
  filesSha256: z.string(),
})
export type BackupBody = z.output<typeof bodySchema>
export type BackupFile = { path: string; sizeBytes: number; sha256: string }

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o640)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes the list of the files and, last of all, the manifest. */
export async function writeBackup(
  folder: string,
  body: Omit<BackupBody, 'files' | 'sizeBytes' | 'filesSha256'>,
  files: BackupFile[],
): Promise<void> {
  const list = files.map((file) => `${JSON.stringify(file)}\n`).join('')
  await writeSynced(join(folder, listName), list)
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  const whole: BackupBody = { ...body, files: files.length, sizeBytes, filesSha256: hashOf(list) }
  await writeManifest(join(folder, manifestName), bodySchema, whole)
}

/** @throws Error with a line for the operator when the manifest or the list is not whole */
export async function readBackup(folder: string): Promise<{ manifest: BackupBody; files: BackupFile[] }> {
  const { body: manifest } = await readManifest(join(folder, manifestName), bodySchema, 'backup')
  const list = await readFile(join(folder, listName), 'utf8').catch(() => '')
  if (hashOf(list) !== manifest.filesSha256) throw new Error(`${join(folder, listName)} is missing or damaged`)
  const files = list
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as BackupFile)
  return { manifest, files }
}

/** Runs work on each of a list, a few at a time. */
export async function eachOf<T>(list: readonly T[], work: (one: T) => Promise<void>, atOnce = 8): Promise<void> {
  let next = 0
  const some = async () => {
    while (next < list.length) await work(list[next++] as T)
  }
  await Promise.all(Array.from({ length: atOnce }, some))
}

async function feed(path: string, hash: Hash, take: (bytes: Buffer) => Promise<unknown>): Promise<number> {
  let sizeBytes = 0
  for await (const bytes of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    hash.update(bytes)
    sizeBytes += bytes.length
    await take(bytes)
  }
  return sizeBytes
}

/** Copies a file durably, its owner's rights too; the folder of the copy is synced by the caller. */
export async function copyFile(from: string, to: string): Promise<Omit<BackupFile, 'path'>> {
  const hash = createHash('sha256')
  await mkdir(dirname(to), { recursive: true, mode: 0o750 })
  const handle = await open(to, 'wx', 0o640)
  try {
    const sizeBytes = await feed(from, hash, (bytes) => handle.appendFile(bytes))
    await chmod(to, (await stat(from)).mode & 0o700)
    await handle.sync()
    return { sizeBytes, sha256: hash.digest('hex') }
  } finally {
    await handle.close()
  }
}

export async function sizeAndDigest(path: string): Promise<Omit<BackupFile, 'path'>> {
  const hash = createHash('sha256')
  const sizeBytes = await feed(path, hash, async () => undefined)
  return { sizeBytes, sha256: hash.digest('hex') }
}

/** Paths of the regular files below a folder, relative to it, in order; none when there is no such folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = []
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return []
      throw error
    })
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  await walk('')
  return found.sort()
}

/** Makes the names of all folders below durable. */
export async function syncFolders(folder: string): Promise<void> {
  const folders = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isDirectory())
  await eachOf(folders, ({ parentPath, name }) => nodeFs.syncDir(join(parentPath, name)))
  await nodeFs.syncDir(folder)
}

const partCount = /^clickhouse\/store\/[0-9a-f]{3}\/([0-9a-f-]{36})\/[^/]+\/count\.txt$/

/** Rows on the disk by the identity of their table, from the counts that lie in its parts. */
export async function rowsOfParts(data: string, paths: readonly string[]): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  for (const path of paths) {
    const table = partCount.exec(path)?.[1]
    if (table === undefined) continue
    rows.set(table, (rows.get(table) ?? 0) + Number(await readFile(join(data, path), 'utf8')))
  }
  return rows
}
