// The topic object_labels: tags of object versions, and aliases that name one version of an object.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { choice, clock, declareTopic, key, number, recordOfRows, text } from './declaration.ts'

export const objectLabelsTopic = declareTopic({
  name: 'object_labels',
  about: 'Tags of object versions, and aliases that name one version of an object: set or removed.',
  version: 1,
  landing: 'object_labels_in',
  columns: {
    project_id: key,
    object_id: key,
    label_kind: choice('tag', 'alias'),
    label: key,
    digest: text,
    clock,
    is_set: number('UInt8'),
  },
})

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
  const shared = { project_id: projectId, object_id: objectId, label_kind: kind, digest, clock, is_set: Number(isSet) }
  const rows = [...new Set(labels)].map((label) => ({ ...shared, label }))
  return recordOfRows(objectLabelsTopic, rows, `${projectId}/${objectId}`)
}
