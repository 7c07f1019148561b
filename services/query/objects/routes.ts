// Reading objects: POST /obj/read.
import { objReadRequest, objReadResponse } from '../../../schemas/objects.ts'
import type { Freshness } from '../../core/freshness.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Store } from '../../core/store/store.ts'
import { formatTimestamp } from '../../core/timestamps.ts'
import { type ObjectVersion, readObject } from './read.ts'

export type ObjectReadDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  config: { wirePrefix: string }
}

/** JSON text of a version; the value goes in as it is stored. */
function versionJson(projectId: ProjectId, version: ObjectVersion, prefix: string, withTags: boolean): string {
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
    size_bytes: null,
    tags: withTags ? [] : null,
    aliases: withTags ? [] : null,
  })
  return `${head.slice(0, -1)},"val":${version.val}}`
}

export function createObjectReadRoutes({ store, freshness, config }: ObjectReadDeps): Route[] {
  return [
    route({
      name: 'objects.read',
      method: 'POST',
      path: '/obj/read',
      right: 'read',
      summary: 'One version of an object, by digest, number or latest',
      body: { type: 'json', schema: objReadRequest, check: 'schema' },
      response: objReadResponse,
      tables: ['objects', 'object_events'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['objects'])
        const version = await readObject(
          store,
          {
            projectId,
            objectId: input.object_id,
            version: input.digest,
            metadataOnly: input.metadata_only ?? false,
          },
          { signal },
        )
        const withTags = input.include_tags_and_aliases ?? false
        return { jsonText: `{"obj":${versionJson(projectId, version, config.wirePrefix, withTags)}}`, headers }
      },
    }),
  ]
}
