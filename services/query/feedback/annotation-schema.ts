// Finds the JSON Schema that an annotation's value must fit, in the object that its ref names.

import { Fault, fault } from '../../core/http/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { type Freshness, unlessStale } from '../../core/log/freshness.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import type { Store } from '../../core/store/store.ts'
import { isContentHash } from '../../events/digest.ts'
import { type ObjectVersion, readObjectVersion } from '../objects/read.ts'

const specClass = 'AnnotationSpec'

/**
 * @throws Fault 404 with `missing_object_digests` when there is no such object, 400 when it is deleted,
 *   no annotation or named as the latest version, 503 when it may not be readable yet
 */
export const createAnnotationSchema =
  ({ store, freshness }: { store: Pick<Store, 'rows'>; freshness: Freshness }) =>
  async (
    context: Pick<RouteContext, 'header' | 'query' | 'signal'>,
    projectId: ProjectId,
    ref: { kind: 'object' | 'op'; name: string; version: string; extra: readonly unknown[] },
  ): Promise<unknown> => {
    const missing = () => fault(404, 'annotation_ref refers to no object', { missing_object_digests: [ref.version] })
    // A later version of the object must not change the meaning of an annotation.
    if (ref.version === 'latest') throw fault(400, 'annotation_ref must have a digest as version')
    if (!isContentHash(ref.version)) throw missing()
    const headers = await freshness.wait(context, ['objects'])
    const asked = { projectId, objectId: ref.name, version: ref.version, metadataOnly: false }
    let found: ObjectVersion
    try {
      found = await readObjectVersion(store, asked, { signal: context.signal })
    } catch (error) {
      if (!(error instanceof Fault) || error.status !== 404) throw error
      if (error.body.deleted_at !== undefined) throw fault(400, 'annotation_ref refers to a deleted object')
      throw unlessStale(headers, missing())
    }
    const isSpec = found.kind === ref.kind && (found.leafClass === specClass || found.baseClass === specClass)
    if (!isSpec || ref.extra.length > 0) throw fault(400, `annotation_ref must name an object of class ${specClass}`)
    return (parseInRoom(found.val) as { field_schema?: unknown }).field_schema ?? {}
  }
