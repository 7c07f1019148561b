// An object version as the interface shows it.

import { formatTimestamp } from '../../core/clock/timestamps.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { VersionLabels } from './labels.ts'
import type { ObjectVersion } from './read.ts'

/** JSON text of a version; the value goes in as it is stored. */
export function versionJson(
  projectId: ProjectId,
  version: ObjectVersion,
  prefix: string,
  labels: VersionLabels | null,
  sizeBytes: number | null = null,
): string {
  const head = JSON.stringify({
    project_id: projectId,
    object_id: version.objectId,
    created_at: formatTimestamp(version.createdUs),
    deleted_at: null,
    digest: version.digest,
    version_index: version.versionIndex,
    is_latest: version.isLatest ? 1 : 0,
    kind: version.kind,
    base_object_class: version.baseClass || null,
    leaf_object_class: version.leafClass || null,
    [`${prefix}_user_id`]: version.userId || null,
    size_bytes: sizeBytes,
    tags: labels?.tags ?? null,
    aliases: labels?.aliases ?? null,
  })
  return `${head.slice(0, -1)},"val":${version.val}}`
}
