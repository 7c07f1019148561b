// Rows of the topic objects: what every writer of versioned objects appends.

import { canonicalDigest } from '../content/digest.ts'
import { canonicalJson, oneLine } from '../core/json/canonical.ts'
import type { RecordInput } from '../core/log/log.ts'
import { projectRecord } from './project-record.ts'

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

/** JSON string that the engine reads: lone surrogates become U+FFFD. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed())

/** A JSON text as the value of a payload column: nested when it is an object or array, else inside a string. */
const nested = (jsonText: string): string =>
  jsonText[0] === '{' || jsonText[0] === '[' ? jsonText : JSON.stringify(jsonText)

/** One line of the topic objects, columns in the order of topics.ts, defaults left out. */
function objectRow(created: ObjectCreated): string {
  const { projectId, objectId, kind, digest, clock, userId, baseClass, leafClass, refs, sizeBytes, val } = created
  let row = `{"project_id":${quoted(projectId)},"object_id":${quoted(objectId)},"kind":"${kind}","digest":"${digest}"`
  row += `,"clock":${clock},"event":"created"`
  if (userId) row += `,"user_id":${quoted(userId)}`
  if (baseClass) row += `,"base_object_class":${quoted(baseClass)}`
  if (leafClass) row += `,"leaf_object_class":${quoted(leafClass)}`
  if (refs.length > 0) row += `,"refs":[${refs.map(quoted).join(',')}]`
  return `${row},"size_bytes":${sizeBytes},"val":${nested(val)}}\n`
}

export const objectRecord = (created: ObjectCreated): RecordInput =>
  projectRecord(created.projectId, {
    rows: Buffer.from(objectRow(created)),
    rowCount: 1,
    clock: created.clock,
    key: `${created.projectId}/${created.objectId}`,
  })

export type ObjectDeleted = Pick<ObjectCreated, 'projectId' | 'objectId' | 'kind' | 'digest' | 'clock' | 'userId'>

/** The end of one version; its content stays, and a later creation revives it. */
export function objectDeletedRecord({ projectId, objectId, kind, digest, clock, userId }: ObjectDeleted): RecordInput {
  const user = userId ? `,"user_id":${quoted(userId)}` : ''
  const version = `"project_id":${quoted(projectId)},"object_id":${quoted(objectId)},"kind":"${kind}","digest":"${digest}"`
  return projectRecord(projectId, {
    rows: Buffer.from(`{${version},"clock":${clock},"event":"deleted"${user}}\n`),
    rowCount: 1,
    clock,
    key: `${projectId}/${objectId}`,
  })
}
