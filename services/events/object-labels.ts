// Rows of the topic object_labels: tags of object versions, and aliases that name one version of an object.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

export type LabelChange = {
  projectId: ProjectId
  objectId: string
  kind: 'tag' | 'alias'
  labels: readonly string[]
  /** The version that is labelled; '' when an alias is removed, which is the object's. */
  digest: string
  isSet: boolean
  clock: bigint
}

/** One record for all labels of a request: they are set or removed together. */
export function labelRecord({ projectId, objectId, kind, labels, digest, isSet, clock }: LabelChange): RecordInput {
  const named = `"project_id":${quoted(projectId)},"object_id":${quoted(objectId)},"label_kind":"${kind}"`
  const version = digest === '' ? '' : `,"digest":${quoted(digest)}`
  const state = isSet ? ',"is_set":1' : ''
  const distinct = [...new Set(labels)]
  const rows = distinct.map((label) => `{${named},"label":${quoted(label)}${version},"clock":${clock}${state}}\n`)
  return projectRecord(projectId, {
    ...{ rows: Buffer.from(rows.join('')), rowCount: rows.length },
    ...{ clock, key: `${projectId}/${objectId}` },
  })
}
