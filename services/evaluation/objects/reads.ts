// Listing, reading and deleting evaluation objects: the routes of versioned objects, narrowed to one kind.

import { TooLongHere } from '../../core/errors.ts'
import { asFault, type Fault, fault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { items, members } from '../../core/json/canonical.ts'
import { objectText } from '../../core/json/objects.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import type { PageBounds } from '../query-params.ts'
import { type EvaluationKind, type StoredVersion, sourceFileOf, type Version } from './kinds.ts'

export type KindOfProject = {
  invoke: Invoke
  kind: EvaluationKind
  projectId: ProjectId
  as: InvokeCaller
  mayTakeLong: boolean
}

type ListedVersion = Version & { size_bytes: number | null; aliases: string[] | null }

/** The caller of a handler, for the routes that it runs; `reads` wait as the request asks. */
export const callerOf = ({ caller, signal, requestId }: RouteContext): InvokeCaller => ({ caller, signal, requestId })
export const readerOf = (context: RouteContext): InvokeCaller => ({ ...callerOf(context), freshness: context })

const staleHeader = 'X-Callhouse-Stale'

/** The headers of an answer that its reader has to know of. */
const staleOf = (headers: Record<string, string>): Record<string, string> => {
  const stale = headers[staleHeader]
  return stale === undefined ? {} : { [staleHeader]: stale }
}

async function query({ invoke, projectId, as }: KindOfProject, filter: object, more: object = {}) {
  const asked = { project_id: projectId, filter, metadata_only: true, ...more }
  const { bytes, headers } = await invoke.answer('objects.query', asked, as)
  const { objs } = parseInRoom(bytes.toString()) as { objs: ListedVersion[] }
  return { listed: objs, headers: staleOf(headers) }
}

const notFound = ({ kind }: KindOfProject, objectId: string, version?: string): Fault => {
  const shown = version === undefined ? objectId : `${objectId}:${version}`
  return fault(404, `${kind.noun} ${shown.slice(0, 300)} not found`)
}

const versionForm = /^v(\d+)$/

/** The version that a text names among live ones of one kind. */
function named(text: string, among: readonly ListedVersion[]): ListedVersion | undefined {
  if (text === 'latest') {
    const newest = among.reduce<ListedVersion | undefined>(
      (best, one) => (best === undefined || one.version_index > best.version_index ? one : best),
      undefined,
    )
    // The latest of the name may be of another kind.
    return among.find((one) => one.is_latest === 1) ?? newest
  }
  const number = versionForm.exec(text)?.[1]
  if (number !== undefined) return among.find((one) => one.version_index === Number(number))
  return among.find((one) => one.digest === text) ?? among.find((one) => one.aliases?.includes(text))
}

/** Values up to this size are taken apart within some 20 ms. */
const maxBytesHere = 4 * 1024 * 1024

/** @throws TooLongHere */
function throwIfLong({ mayTakeLong }: KindOfProject, bytes: number): void {
  if (!mayTakeLong && bytes > maxBytesHere) throw new TooLongHere()
}

const maxSourceBytes = 16 * 1024 * 1024

/** JSON text of a version; its source is read when it is part of it, and left empty when it is longer than any source. */
async function shown({ invoke, kind, projectId, as }: KindOfProject, version: StoredVersion): Promise<string> {
  const file = kind.hasSource ? sourceFileOf(version) : null
  let source = ''
  if (file !== null)
    try {
      const asked = { project_id: projectId, digest: file }
      const { bytes } = await invoke.answer('files.content', asked, as, {}, maxSourceBytes)
      source = bytes.toString()
    } catch (error) {
      // A file that is missing, or no source of a program.
      const status = asFault(error)?.status
      if (status !== 404 && status !== 413) throw error
    }
  const { object_id, digest, version_index, created_at } = version
  const common = { object_id, digest, version_index, created_at }
  const own = objectText(Object.entries(kind.show(version, source)))
  return `${JSON.stringify(common).slice(0, -1)},${own.slice(1)}`
}

/** @throws Fault 404 when there is no such version of the kind, with `deleted_at` when it is deleted */
export async function readVersion(of: KindOfProject, objectId: string, version: string) {
  const { invoke, kind, projectId, as } = of
  const read = async (digest: string) => {
    const asked = { project_id: projectId, object_id: objectId, digest }
    const { bytes, headers } = await invoke.answer('objects.read', asked, as)
    throwIfLong(of, bytes.length)
    const record = members(members(bytes.toString())?.get('obj') ?? '') ?? new Map<string, string>()
    const { val = 'null', ...metadata } = Object.fromEntries(record)
    const found = JSON.parse(objectText(Object.entries(metadata))) as Version
    return { found, value: members(val), headers: staleOf(headers) }
  }
  let one = await read(version)
  if (!kind.holds(one.found)) {
    // An op and an object may share a name: what was found is the other one.
    const { listed } = await query(
      of,
      { object_ids: [objectId], ...kind.filter },
      {
        include_tags_and_aliases: true,
      },
    )
    const meant = named(version, listed)
    if (meant === undefined) throw notFound(of, objectId, version)
    one = await read(meant.digest)
  }
  const { found, value, headers } = one
  if (!kind.holds(found) || value === null) throw notFound(of, objectId, version)
  return { text: await shown(of, { ...found, projectId, value }), headers }
}

/** Bytes of values, and versions, that are read at one time: they are taken apart in one go. */
const batchBytes = 1024 * 1024
const batchVersions = 200
/** Source files that are read at one time. */
const filesAtOnce = 4

function batchesOf(listed: readonly ListedVersion[]): ListedVersion[][] {
  const found: ListedVersion[][] = []
  let total = Number.POSITIVE_INFINITY
  for (const one of listed) {
    const batch = found.at(-1)
    total += one.size_bytes ?? 0
    if (batch !== undefined && total <= batchBytes && batch.length < batchVersions) batch.push(one)
    else {
      found.push([one])
      total = one.size_bytes ?? 0
    }
  }
  return found
}

async function* linesOf(of: KindOfProject, listed: readonly ListedVersion[]): AsyncGenerator<string> {
  const { invoke, projectId, as } = of
  for (const batch of batchesOf(listed)) {
    const refs = batch.map((one) => `weave:///${projectId}/${one.kind}/${one.object_id}:${one.digest}`)
    const { bytes } = await invoke.answer('refs.read_batch', { refs }, as)
    const values = items(members(bytes.toString())?.get('vals') ?? '') ?? []
    const versions = batch.flatMap((one, index): StoredVersion[] => {
      // Null when it was deleted meanwhile.
      const value = members(values[index] ?? 'null')
      return value === null ? [] : [{ ...one, projectId, value }]
    })
    for (let at = 0; at < versions.length; at += filesAtOnce) {
      const texts = await Promise.all(versions.slice(at, at + filesAtOnce).map((version) => shown(of, version)))
      yield texts.map((text) => `${text}\n`).join('')
    }
  }
}

/** The latest of the listed versions of each object; the name's own latest may be of another kind. */
function latestOfEach(listed: readonly ListedVersion[]): ListedVersion[] {
  const byName = new Map<string, ListedVersion[]>()
  for (const one of listed) {
    const known = byName.get(one.object_id)
    if (known) known.push(one)
    else byName.set(one.object_id, [one])
  }
  return listed.filter((one) => named('latest', byName.get(one.object_id) ?? []) === one)
}

/** The live versions of a kind, oldest first, as JSON Lines. */
export async function listVersions(of: KindOfProject, { limit, offset }: PageBounds) {
  const { kind } = of
  const page = kind.latestOnly ? {} : { limit, offset }
  const { listed, headers } = await query(of, kind.filter, { include_storage_size: true, ...page })
  const chosen = kind.latestOnly
    ? latestOfEach(listed).slice(offset, limit === null ? undefined : offset + limit)
    : listed
  for (const { size_bytes } of chosen) throwIfLong(of, size_bytes ?? 0)
  return { lines: linesOf(of, chosen), headers }
}

const maxDigests = 100

/**
 * Deletes the versions of a kind that the texts name, or all of them when there are none.
 * @throws Fault 404 as /obj/delete, 400 for more than 100 texts
 */
export async function deleteVersions(of: KindOfProject, objectId: string, texts: readonly string[]) {
  const { invoke, kind, projectId, as } = of
  if (texts.length > maxDigests) throw fault(400, `More than ${maxDigests} versions in one request`)
  const { listed } = await query(of, { object_ids: [objectId] })
  const own = listed.filter((one) => kind.holds(one))
  if (own.length === 0) throw notFound(of, objectId)
  let count = 0
  let answered: Record<string, string> = {}
  const remove = async (digests: readonly string[]) => {
    const asked = { project_id: projectId, object_id: objectId, digests }
    const { bytes, headers } = await invoke.answer('objects.delete', asked, as)
    count += (JSON.parse(bytes.toString()) as { num_deleted: number }).num_deleted
    answered = headers
  }
  if (own.length === listed.length) {
    await remove(texts)
    return { count, headers: answered }
  }
  // The name has versions of another kind, too: those stay.
  const distinct = [...new Set(texts)]
  const chosen = texts.length === 0 ? own : [...new Set(distinct.flatMap((text) => named(text, own) ?? []))]
  if (chosen.length === 0 || (texts.length > 0 && chosen.length !== distinct.length))
    throw notFound(of, objectId, distinct.join(', '))
  for (let at = 0; at < chosen.length; at += maxDigests)
    await remove(chosen.slice(at, at + maxDigests).map((one) => one.digest))
  return { count, headers: answered }
}
