// Takes files out of store, log and blob storage: those that erased calls name and nothing else does, with the objects that
// were made of their long texts.
import type { StoredBlobs } from '../core/blobs/blobs.ts'
import { clockOf } from '../core/clock/clock.ts'
import { statement } from '../core/store/statements.ts'
import type { Query } from '../core/store/store.ts'
import type { LogKey } from '../events/logs.ts'
import { createOpRemoval, type OpRemoval, type OpRemovalDeps } from './remove-ops.ts'
import { LogNotRewritten, rewriteFilesInLog } from './rewrite-log.ts'

/** Names of one statement. */
const namesAtOnce = 5_000
/** Texts that one look at a payload searches for. */
const mostNeedles = 255
const background = { pool: 'background', timeoutMs: 600_000 } as const

const payloadText = `concat(attributes, ' ', inputs, ' ', output, ' ', summary, ' ', otel_dump)`

/** Objects that were made of a long text of a call (`services/content/extract.ts`): nobody published them. */
const madeOfTexts = `startsWith(val, '{"_type":"CustomWeaveType","weave_type":{"type":"weave.type_wrappers.Content.content.Content"},"files":{"content":"')`

/** Digests that calls name, with the accept timestamp of the delete of the latest of these calls. */
export type NamedDigests = Map<string, bigint>

/** A file that is gone, with the accept timestamp of the delete that let it go. */
type RemovedFile = { ver: bigint; bytes: number }

export type FileRemovalDeps = OpRemovalDeps & { blobs: Pick<StoredBlobs, 'remove'> }

export type FileRemoval = {
  /** Adds the files, and objects made of texts, that deleted calls name. */
  named(projectId: string, calls: readonly { id: string; deleteVer: bigint }[], into: NamedDigests): Promise<void>
  /** The same of deleted log records, which are in the order of their times. */
  namedByLogs(projectId: string, logs: readonly (LogKey & { deleteVer: bigint })[], into: NamedDigests): Promise<void>
  /** Removes those of the named that nothing else names, but some log records that go. @returns the files */
  remove(projectId: string, named: NamedDigests, goneLogs?: ReadonlySet<string>): Promise<RemovedFile[]>
  /** Removes op objects that deleted calls were named after, and nothing that stays is. */
  removeOps: OpRemoval
  /** Removes what came before a time and nothing names. */
  removeOld(projectId: string, beforeMs: number): Promise<RemovedFile[]>
  /** Removes what lies in blob storage of a project. @returns how many files it has, wherever they lie, and their bytes */
  removeBlobs(projectId: string): Promise<{ files: number; bytes: number }>
}

type Kept = { digest: string; clock: bigint }

export function createFileRemoval(deps: FileRemovalDeps): FileRemoval {
  const { store, budget, log, blobs, removeRows, held } = deps
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))

  async function namesInTurn<Row>(
    digests: readonly string[],
    look: (some: string[]) => Promise<Row[]>,
  ): Promise<Row[]> {
    const found: Row[] = []
    for (let i = 0; i < digests.length; i += namesAtOnce)
      for (const row of await look(digests.slice(i, i + namesAtOnce))) found.push(row)
    return found
  }

  /** Digests in texts of rows, those of some alone. */
  async function mentioned(
    { table, text, where }: { table: string; text: string; where: string },
    projectId: string,
    digests: readonly string[],
    ids: readonly string[] = [],
  ): Promise<Set<string>> {
    const place = { table, text, where }
    const rows = await read<{ found: string }>(
      digests.length <= mostNeedles
        ? statement('erasure.mentions', { project: projectId, ids, digests }, place)
        : statement('erasure.mentions-of-any', { project: projectId, ids }, place),
    )
    return new Set(rows.map(({ found }) => found))
  }

  /** Objects of some digests that were made of texts, with the files in them. */
  const madeObjects = (projectId: string, digests: readonly string[]) =>
    namesInTurn(digests, (some) =>
      read<{ digest: string; ver: string; files: string[] }>(
        statement('erasure.objects', { project: projectId, digests: some }, { madeOfTexts }),
      ),
    )

  /** Whatever of the digests calls and log records that stay name, rows of tables, feedback, and objects but for some. */
  async function needed(
    projectId: string,
    digests: readonly string[],
    objects: readonly string[],
    goneLogs: ReadonlySet<string>,
  ) {
    const ids = await held.of(projectId)
    if (ids === 'all') return new Set([...digests, ...objects])
    const texts = [
      {
        table: 'payloads',
        text: payloadText,
        where: statement('erasure.stays').sql,
      },
      { table: 'table_rows', text: 'val', where: '1' },
      { table: 'feedback', text: `concat(payload, ' ', weave_ref)`, where: 'purged = 0' },
    ]
    const found = new Set<string>()
    for (const place of texts)
      for (const digest of await mentioned(place, projectId, digests, [...ids])) found.add(digest)
    const ofLogs = await namesInTurn(digests, (some) =>
      read<{ id: string; found: string }>(statement('erasure.mentions-of-logs', { project: projectId, digests: some })),
    )
    for (const { id, found: digest } of ofLogs) if (!goneLogs.has(id)) found.add(digest)
    // Objects name each other in their values; those in question name their files alone.
    const own = `NOT (${madeOfTexts})`
    for (const digest of await mentioned({ table: 'objects', text: 'val', where: own }, projectId, digests))
      found.add(digest)
    const labelled = await namesInTurn(objects, (some) =>
      read<{ digest: string }>(statement('erasure.labelled', { project: projectId, digests: some })),
    )
    for (const { digest } of labelled) found.add(digest)
    return found
  }

  /** Files of objects that stay, though they were made of texts. */
  async function filesOfOthers(projectId: string, digests: readonly string[], gone: ReadonlySet<string>) {
    const rows = await namesInTurn(digests, (some) =>
      read<{ object: string; files: string[] }>(
        statement('erasure.files-of-objects', { project: projectId, digests: some }, { madeOfTexts }),
      ),
    )
    return new Set(rows.filter(({ object }) => !gone.has(object)).flatMap(({ files }) => files))
  }

  /** Files of some digests, as they were uploaded last. */
  const filesOf = (projectId: string, digests: readonly string[]) =>
    namesInTurn(digests, (some) =>
      read<{ digest: string; ver: string; size: string; blobs: string[] }>(
        statement('erasure.uploads', { project: projectId, digests: some }),
      ),
    )

  const rowsOf = async (table: string, projectId: string, digests: readonly string[], where = '1') => {
    for (let i = 0; i < digests.length; i += namesAtOnce)
      await removeRows({ table, where: `digest IN {digests:Array(String)} AND ${where}` }, projectId, {
        digests: digests.slice(i, i + namesAtOnce),
      })
  }

  async function remove(
    projectId: string,
    named: NamedDigests,
    goneLogs: ReadonlySet<string> = new Set(),
  ): Promise<RemovedFile[]> {
    if (named.size === 0) return []
    const made = await madeObjects(projectId, [...named.keys()])
    const wanted = new Map(named)
    for (const { digest, files } of made)
      for (const file of files) {
        const ver = named.get(digest) ?? 0n
        if (ver > (wanted.get(file) ?? -1n)) wanted.set(file, ver)
      }
    // A file that came once more after the delete is somebody's.
    const isOlder = ({ digest, clock }: Kept) => clock < (wanted.get(digest) ?? 0n)
    const candidates = made.filter(({ digest, ver }) => isOlder({ digest, clock: BigInt(ver) }))
    const stays = await needed(
      projectId,
      [...wanted.keys()],
      candidates.map(({ digest }) => digest),
      goneLogs,
    )
    const objects = new Set(candidates.map(({ digest }) => digest).filter((digest) => !stays.has(digest)))
    for (const digest of await filesOfOthers(projectId, [...wanted.keys()], objects)) stays.add(digest)
    const found = await filesOf(
      projectId,
      [...wanted.keys()].filter((digest) => !stays.has(digest)),
    )
    const files = found.filter(({ digest, ver }) => isOlder({ digest, clock: BigInt(ver) }))
    if (files.length === 0 && objects.size === 0) return []
    const gone = { files: new Set(files.map(({ digest }) => digest)), objects }
    const places = await rewriteFilesInLog(log, new Map([[projectId, gone]]))
    // The files are found again by their rows, once the log can be written.
    if (places.length > 0) throw new LogNotRewritten(places)
    for (const file of files) for (const blob of file.blobs) await blobs.remove(blob)
    // The rows by which they are found go last.
    await rowsOf('object_events', projectId, [...objects])
    await rowsOf('objects', projectId, [...objects])
    await rowsOf('files', projectId, [...gone.files])
    return files.map(({ digest, size }) => ({ ver: wanted.get(digest) ?? 0n, bytes: Number(size) }))
  }

  async function addNamed(
    query: Query,
    named: readonly { id: string; deleteVer: bigint }[],
    into: NamedDigests,
  ): Promise<void> {
    const deletes = new Map(named.map(({ id, deleteVer }) => [id, deleteVer]))
    for (const { id, digest } of await read<{ id: string; digest: string }>(query)) {
      const ver = deletes.get(id) ?? 0n
      if (ver > (into.get(digest) ?? -1n)) into.set(digest, ver)
    }
  }

  return {
    async named(projectId, calls, into) {
      const ids = calls.map(({ id }) => id)
      await addNamed(statement('erasure.named', { project: projectId, ids }, { madeOfTexts }), calls, into)
    },
    async namedByLogs(projectId, logs, into) {
      for (let i = 0; i < logs.length; i += namesAtOnce) {
        const some = logs.slice(i, i + namesAtOnce)
        const [least, most] = [some[0]?.at, some.at(-1)?.at]
        const params = { project: projectId, ids: some.map(({ id }) => id), least, most }
        await addNamed(statement('erasure.named-by-logs', params, { madeOfTexts }), some, into)
      }
    },

    remove,
    removeOps: createOpRemoval(deps),
    async removeOld(projectId, beforeMs) {
      const before = clockOf(beforeMs)
      const rows = await read<{ digest: string }>(
        statement('erasure.old-files', { project: projectId, before: String(before) }, { madeOfTexts }),
      )
      return remove(projectId, new Map(rows.map(({ digest }) => [digest, before])))
    },

    async removeBlobs(projectId) {
      const rows = await read<{ blob: string }>(statement('erasure.blobs', { project: projectId }))
      for (const { blob } of rows) await blobs.remove(blob)
      const [all] = await read<{ files: number; bytes: number }>(
        statement('erasure.files-of-project', { project: projectId }),
      )
      return { files: all?.files ?? 0, bytes: all?.bytes ?? 0 }
    },
  }
}
