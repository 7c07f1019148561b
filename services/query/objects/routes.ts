// Reading objects: POST /obj/read.
import { objReadRequest, objReadResponse } from '../../../schemas/objects.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { labelsOf } from './labels.ts'
import { readObjectVersion } from './read.ts'
import { versionJson } from './record.ts'

export type ObjectReadDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  config: { wirePrefix: string }
}

export function createObjectReadRoutes({ store, freshness, config }: ObjectReadDeps): Route[] {
  return [
    route({
      name: 'objects.read',
      method: 'POST',
      path: '/obj/read',
      summary: 'One version of an object, by digest, number or alias',
      body: { type: 'json', schema: objReadRequest, check: 'schema' },
      response: objReadResponse,
      tables: ['objects', 'object_events', 'object_labels'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['objects', 'object_labels'])
        const version = await readObjectVersion(
          store,
          {
            projectId,
            objectId: input.object_id,
            version: input.digest,
            metadataOnly: input.metadata_only ?? false,
          },
          { signal },
        )
        const { objectId, digest, isLatest } = version
        const isLabelled = input.include_tags_and_aliases === true
        const found = isLabelled ? await labelsOf(store, projectId, [objectId], { signal }) : null
        const labels = found?.of(objectId, digest, isLatest) ?? null
        return { jsonText: `{"obj":${versionJson(projectId, version, config.wirePrefix, labels)}}`, headers }
      },
    }),
  ]
}
