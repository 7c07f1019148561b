// Deleting versions of an object: POST /obj/delete. Served here, because the versions are found by reading.
import { objDeleteRequest, objDeleteResponse } from '../../../schemas/objects.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { type Freshness, throwIfStale } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { sql } from '../../core/store/sql.ts'
import type { Store } from '../../core/store/store.ts'
import { objectDeletedRecord } from '../../events/objects.ts'
import { type ListedVersion, listQuery } from './query.ts'

export type ObjectDeleteDeps = {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  audit: Pick<Audit, 'begin'>
}

const maxEntries = 100

/** The version that an entry names, of those that live; the one that was created first when an op has the same number. */
function named(entry: string, live: readonly ListedVersion[]): ListedVersion | undefined {
  if (entry === 'latest') return live.find((version) => version.is_latest === 1)
  const number = /^v(\d+)$/.exec(entry)?.[1]
  return live.find((version) =>
    number === undefined ? version.digest === entry : version.version_index === Number(number),
  )
}

/** @throws Fault 404 unless every distinct entry names a version of its own */
function chosen(objectId: string, entries: readonly string[], live: ListedVersion[]): ListedVersion[] {
  if (entries.length === 0 && live.length > 0) return live
  const distinct = new Set(entries)
  const found = new Set([...distinct].flatMap((entry) => named(entry, live) ?? []))
  if (found.size === 0) throw fault(404, `Object ${objectId.slice(0, 200)} has no such version`)
  if (found.size !== distinct.size)
    throw fault(404, `${distinct.size} versions are named, ${found.size} different ones exist`)
  return [...found]
}

export function createObjectDeleteRoutes({ store, log, clock, freshness, audit }: ObjectDeleteDeps): Route[] {
  return [
    route({
      name: 'objects.delete',
      method: 'POST',
      path: '/obj/delete',
      summary: 'Deletes versions of an object; their numbers are not used again',
      body: { type: 'json', schema: objDeleteRequest, check: 'schema' },
      response: objDeleteResponse,
      topics: ['objects'],
      tables: ['objects', 'object_events'],
      async handle(context) {
        const { input, caller, signal } = context
        const { object_id: objectId } = input
        const projectId = context.project(input.project_id)
        const entries = input.digests ?? []
        if (entries.length > maxEntries) throw fault(400, `More than ${maxEntries} versions in one request`)
        const headers = await freshness.wait(context, ['objects'])
        // With missing writes the existing versions, and the latest of them, would be a guess.
        throwIfStale(headers)
        const page = { where: () => [], order: sql`v.first_clock`, limit: 0xffff_ffff, offset: 0 }
        const live = await store.rows<ListedVersion>(listQuery(projectId, [objectId], page), { signal })
        const gone = chosen(objectId, entries, live)
        const details = { digests: idsOf(gone.map(({ digest }) => digest)) }
        const event = { action: 'objects.deleted', scope: projectId, target: objectId, details }
        const position = await audited(audit, [event], () =>
          log.append(
            'objects',
            gone.map(({ kind, digest }) =>
              objectDeletedRecord({ projectId, objectId, kind, digest, clock: clock.next(), userId: caller.userId }),
            ),
          ),
        )
        const deleted_versions = gone.map((version) => ({
          digest: version.digest,
          base_object_class: version.base_object_class || null,
          leaf_object_class: version.leaf_object_class || null,
        }))
        return {
          json: { num_deleted: gone.length, deleted_versions },
          headers: { ...headers, [positionHeader]: formatPositions([position]) },
        }
      },
    }),
  ]
}
