// The topic objects: what every writer of versioned objects appends.

import { canonicalJson, oneLine } from '../core/json/canonical.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, clock, declareTopic, json, key, number, recordOfRows, text, texts } from './declaration.ts'
import { canonicalDigest } from './digest.ts'

export const objectsTopic = declareTopic({
  name: 'objects',
  about: 'Versions of objects and ops: created, which brings their content, or deleted.',
  version: 1,
  landing: 'objects_in',
  columns: {
    project_id: key,
    object_id: key,
    kind: choice('object', 'op'),
    digest: key,
    clock,
    event: choice('created', 'deleted'),
    user_id: text,
    base_object_class: text,
    leaf_object_class: text,
    refs: texts,
    size_bytes: always(number('UInt64')),
    val: json,
  },
})

export type ObjectKind = 'object' | 'op'

/** An object version as it is stored: value text, digest and size belong together. */
export type ObjectContent = {
  /** JSON text on one line. */
  val: string
  digest: string
  /** Bytes of the canonical JSON. */
  sizeBytes: number
}

/** @throws Fault 400 for numbers beyond double range, 413 when nested too deep */
export function objectContent(jsonText: string): ObjectContent {
  const canonical = canonicalJson(jsonText)
  return { val: oneLine(jsonText), digest: canonicalDigest(canonical), sizeBytes: canonical.length }
}

export type ObjectCreated = ObjectContent & {
  projectId: string
  objectId: string
  kind: ObjectKind
  clock: bigint
  userId: string
  /** '' = none. */
  baseClass: string
  leafClass: string
  refs: string[]
}

export type ObjectDeleted = Pick<ObjectCreated, 'projectId' | 'objectId' | 'kind' | 'digest' | 'clock' | 'userId'>

const versionOf = ({ projectId, objectId, kind, digest, clock, userId }: ObjectDeleted) => ({
  project_id: projectId,
  object_id: objectId,
  kind,
  digest,
  clock,
  user_id: userId,
})

const keyOf = ({ projectId, objectId }: ObjectDeleted): string => `${projectId}/${objectId}`

export function objectRecord(created: ObjectCreated): RecordInput {
  const { baseClass, leafClass, refs, sizeBytes, val } = created
  const content = { base_object_class: baseClass, leaf_object_class: leafClass, refs, size_bytes: sizeBytes, val }
  return recordOfRows(objectsTopic, [{ ...versionOf(created), event: 'created', ...content }], keyOf(created))
}

/** The end of one version; its content stays, and a later creation revives it. */
export const objectDeletedRecord = (deleted: ObjectDeleted): RecordInput =>
  recordOfRows(objectsTopic, [{ ...versionOf(deleted), event: 'deleted' }], keyOf(deleted))
