// Takes files out of store, log and blob storage: those that erased calls name and nothing else does, with the objects that
// were made of their long texts, and the op objects that were made for their names.
import { placeholderOpDigest } from '../content/op-objects.ts'
import type { StoredBlobs } from '../core/blobs/blobs.ts'
import { clockOf } from '../core/clock/clock.ts'
import type { Log } from '../core/log/log.ts'
import type { LogKey } from '../events/logs.ts'
import { type Finder, find, type Named, slices, sqlOf } from './engine.ts'
import type { HeldCalls } from './held-calls.ts'
import { type ErasedFiles, LogNotRewritten, rewriteFilesInLog } from './kept-log.ts'
import { goneOps } from './ops.ts'
import { byTime } from './places.ts'
import type { RowRemoval } from './rows.ts'

export type FileRemovalDeps = Finder & {
  log: Pick<Log, 'rewrite'>
  blobs: Pick<StoredBlobs, 'remove'>
  removeRows: RowRemoval['remove']
  held: HeldCalls
}

type DeletedRow = { id: string; deleteVer: bigint }

/** Digests that calls name, with the accept timestamp of the delete of the latest of these calls. */
export type NamedDigests = Map<string, bigint>

/** A digest in the text of a row; '' where the row is not asked for. */
type Mention = { owner: string; found: string }

/** A file or an object, with when it came last. */
type Upload = { digest: string; ver: string }

/** A file that is gone, with the accept timestamp of the delete that let it go. */
type RemovedFile = { ver: bigint; bytes: number }

/** Texts that one look at a payload searches for. */
const mostNeedles = 255

/** Objects that were made of a long text of a call (`services/content/extract.ts`): nobody published them. */
const madeOfTexts = `startsWith(val, '{"_type":"CustomWeaveType","weave_type":{"type":"weave.type_wrappers.Content.content.Content"},"files":{"content":"')`

/** Texts of rows that may name files and objects. */
const payloads = {
  table: 'payloads',
  text: `concat(attributes, ' ', inputs, ' ', output, ' ', summary, ' ', otel_dump)`,
  where: 'id IN {ids:Array(String)}',
}
const logs = {
  table: 'logs',
  text: `concat(body, ' ', toString(attributes), ' ', toString(resource))`,
  where: `${byTime} AND id IN {ids:Array(String)}`,
}
const staying = [
  { ...payloads, where: sqlOf('erasure.stays') },
  { table: 'table_rows', text: 'val', where: '1' },
  { table: 'feedback', text: `concat(payload, ' ', weave_ref)`, where: 'purged = 0' },
  // Objects name each other in their values; those that were made of texts name their files alone.
  { table: 'objects', text: 'val', where: `NOT (${madeOfTexts})` },
]

/** Digests of a list, all of a project, and those of files and of objects that nobody published. */
const listed = '{digests:Array(String)}'
const all = `(${sqlOf('erasure.digests', { where: '1' })})`
const unpublished = `(${sqlOf('erasure.digests', { where: madeOfTexts })})`

/** Rows of a statement on digests, some of these at a time. */
async function findByDigests<Row>(
  deps: Finder,
  name: string,
  projectId: string,
  digests: readonly string[],
  parts: Readonly<Record<string, string>> = { madeOfTexts },
): Promise<Row[]> {
  const found: Row[] = []
  for (const some of slices(digests))
    for (const row of await find<Row>(deps, name, { project: projectId, digests: some }, parts)) found.push(row)
  return found
}

/** Whatever of the digests calls and log records that stay name, rows of tables, feedback, and objects but for some. */
async function needed(
  deps: FileRemovalDeps,
  projectId: string,
  digests: readonly string[],
  objects: readonly string[],
  goneLogs: ReadonlySet<string>,
): Promise<Set<string>> {
  const held = await deps.held.of(projectId)
  if (held === 'all') return new Set([...digests, ...objects])
  const needs = new Set<string>()
  const params = { project: projectId, ids: [...held] }
  const isFew = digests.length <= mostNeedles
  for (const { table, text, where } of staying) {
    const parts = isFew
      ? { table, text, where: `(${where}) AND multiSearchAny(${text}, ${listed})`, among: listed, owner: "''" }
      : { table, text, where, among: all, owner: "''" }
    const query = isFew ? { ...params, digests } : params
    for (const { found } of await find<Mention>(deps, 'erasure.mentions', query, parts)) needs.add(found)
  }
  const inLogs = { ...logs, where: '1', owner: 'id', among: listed }
  for (const { owner, found } of await findByDigests<Mention>(deps, 'erasure.mentions', projectId, digests, inLogs))
    if (!goneLogs.has(owner)) needs.add(found)
  for (const { digest } of await findByDigests<{ digest: string }>(deps, 'erasure.labelled', projectId, objects))
    needs.add(digest)
  return needs
}

/**
 * Removes rows of files and objects, by which they are found, last: the files are found again once the log can be written.
 * @param remove what lies elsewhere
 */
async function takeOut(
  { log, removeRows }: FileRemovalDeps,
  projectId: string,
  gone: ErasedFiles,
  rows: readonly { table: string; where: string; named: readonly Named[] }[],
  remove: () => Promise<void> = async () => {},
): Promise<void> {
  const places = await rewriteFilesInLog(log, projectId, gone)
  if (places.length > 0) throw new LogNotRewritten(places)
  await remove()
  for (const { table, where, named } of rows)
    for (const some of named) await removeRows({ table, where }, projectId, some)
}

const byDigest = 'digest IN {digests:Array(String)}'
const rowsOf = (table: string, digests: Iterable<string>) => ({
  table,
  where: byDigest,
  named: [...slices([...digests])].map((some) => ({ digests: some })),
})

/** Removes those of the named that nothing else names, but some log records that go. @returns the files */
async function remove(
  deps: FileRemovalDeps,
  projectId: string,
  named: NamedDigests,
  goneLogs: ReadonlySet<string> = new Set(),
): Promise<RemovedFile[]> {
  if (named.size === 0) return []
  const made = await findByDigests<Upload & { files: string[] }>(deps, 'erasure.objects', projectId, [...named.keys()])
  const wanted = new Map(named)
  for (const { digest, files } of made)
    for (const file of files) {
      const ver = named.get(digest) ?? 0n
      if (ver > (wanted.get(file) ?? -1n)) wanted.set(file, ver)
    }
  // A file that came once more after the delete is somebody's.
  const isOlder = ({ digest, ver }: Upload) => BigInt(ver) < (wanted.get(digest) ?? 0n)
  const digests = [...wanted.keys()]
  const candidates = made.filter(isOlder).map(({ digest }) => digest)
  const stays = await needed(deps, projectId, digests, candidates, goneLogs)
  const objects = new Set(candidates.filter((digest) => !stays.has(digest)))
  // Files of objects that stay, though they were made of texts.
  type OfObject = { object: string; files: string[] }
  for (const one of await findByDigests<OfObject>(deps, 'erasure.files-of-objects', projectId, digests))
    if (!objects.has(one.object)) for (const file of one.files) stays.add(file)
  const gone = digests.filter((digest) => !stays.has(digest))
  type File = Upload & { size: string; blobs: string[] }
  const files = (await findByDigests<File>(deps, 'erasure.uploads', projectId, gone)).filter(isOlder)
  if (files.length === 0 && objects.size === 0) return []
  const names = files.map(({ digest }) => digest)
  await takeOut(
    deps,
    projectId,
    { files: new Set(names), objects },
    [rowsOf('object_events', objects), rowsOf('objects', objects), rowsOf('files', names)],
    async () => {
      for (const { blobs } of files) for (const blob of blobs) await deps.blobs.remove(blob)
    },
  )
  return files.map(({ digest, size }) => ({ ver: wanted.get(digest) ?? 0n, bytes: Number(size) }))
}

/** Removes op objects that deleted calls were named after, and nothing that stays is. */
async function removeOps(deps: FileRemovalDeps, projectId: string, calls: readonly DeletedRow[]): Promise<void> {
  const held = await deps.held.of(projectId)
  const names = held === 'all' ? [] : await goneOps(deps, projectId, calls, held)
  if (names.length === 0) return
  const where = `kind = 'op' AND ${byDigest} AND object_id IN {names:Array(String)}`
  const named = [{ digests: [placeholderOpDigest], names }]
  await takeOut(
    deps,
    projectId,
    { files: new Set(), objects: new Set(), ops: new Set(names) },
    ['object_events', 'objects'].map((table) => ({ table, where, named })),
  )
}

/** Adds the files, and objects made of texts, that some deleted rows name. */
async function addNamed(
  deps: Finder,
  texts: typeof payloads,
  params: Named,
  rows: readonly DeletedRow[],
  into: NamedDigests,
): Promise<void> {
  const deletes = new Map(rows.map(({ id, deleteVer }) => [id, deleteVer]))
  const parts = { ...texts, owner: 'id', among: unpublished }
  const ids = [...deletes.keys()]
  for (const { owner, found } of await find<Mention>(deps, 'erasure.mentions', { ...params, ids }, parts)) {
    const ver = deletes.get(owner) ?? 0n
    if (ver > (into.get(found) ?? -1n)) into.set(found, ver)
  }
}

/** Files of a project, as removals find and remove them. */
export function createFileRemoval(deps: FileRemovalDeps) {
  return {
    /** Adds the files, and objects made of texts, that deleted calls name. */
    named: (projectId: string, calls: readonly DeletedRow[], into: NamedDigests) =>
      addNamed(deps, payloads, { project: projectId }, calls, into),
    /** The same of deleted log records, which are in the order of their times. */
    async namedByLogs(projectId: string, records: readonly (LogKey & DeletedRow)[], into: NamedDigests): Promise<void> {
      for (const page of slices(records)) {
        const params = { project: projectId, least: page[0]?.at, most: page.at(-1)?.at }
        await addNamed(deps, logs, params, page, into)
      }
    },
    remove: (projectId: string, named: NamedDigests, goneLogs?: ReadonlySet<string>) =>
      remove(deps, projectId, named, goneLogs),
    removeOps: (projectId: string, calls: readonly DeletedRow[]) => removeOps(deps, projectId, calls),
    /** Removes what came before a time and nothing names. @returns the files */
    async removeOld(projectId: string, beforeMs: number): Promise<RemovedFile[]> {
      const before = clockOf(beforeMs)
      const params = { project: projectId, before: String(before) }
      const rows = await find<{ digest: string }>(deps, 'erasure.old-files', params, { madeOfTexts })
      return remove(deps, projectId, new Map(rows.map(({ digest }) => [digest, before])))
    },
    /** Removes what lies in blob storage of a project. @returns how many files it has, wherever they lie, and their bytes */
    async removeBlobs(projectId: string): Promise<{ files: number; bytes: number }> {
      const params = { project: projectId }
      const rows = await find<{ blob: string }>(deps, 'erasure.blobs', params)
      for (const { blob } of rows) await deps.blobs.remove(blob)
      const [all] = await find<{ files: number; bytes: number }>(deps, 'erasure.files-of-project', params)
      return { files: all?.files ?? 0, bytes: all?.bytes ?? 0 }
    },
  }
}

export type FileRemoval = ReturnType<typeof createFileRemoval>
