// Op objects of operations that come without source code (OTLP spans, evaluations by name): one fixed placeholder value.
import type { Clock } from '../core/clock/clock.ts'
import type { ProjectId } from '../core/ids.ts'
import type { Log, Position, RecordInput } from '../core/log/log.ts'
import { createRecent } from '../core/memory/lru-cache.ts'
import { fileDigest } from '../events/digest.ts'
import { inlineFileRecord } from '../events/files.ts'
import { objectContent, objectRecord } from '../events/objects.ts'

// Stored data depends on these bytes: a change gives every operation a second version.
const source = Buffer.from(
  'import weave\n\n\n@weave.op()\ndef placeholder(*args, **kwargs):\n    ...  # The source of this operation was not recorded.\n',
)
const sourceDigest = fileDigest(source)

const value = objectContent(
  JSON.stringify({
    _type: 'CustomWeaveType',
    weave_type: { type: 'Op' },
    files: { 'obj.py': sourceDigest },
  }),
)

/** Objects that calls are named after may be erased with them; then they have to be stored again. */
const rememberedMs = 600_000

/** Digest of the object of every placeholder op. */
export const placeholderOpDigest = value.digest

/** The ops of one request. */
type OpWrites = {
  /** Ref of the op; a name that was not written lately is written by `append`. */
  ref(projectId: ProjectId, userId: string, objectId: string): string
  /** Appends the source file and the op objects that are missing; [] when there are none. */
  append(): Promise<Position[]>
}

export type OpObjects = { begin(): OpWrites }

/** @param deps.recentLimit how many names are remembered as stored, over all projects */
export function createOpObjects(deps: { log: Pick<Log, 'append'>; clock: Clock; recentLimit?: number }): OpObjects {
  const { log, clock } = deps
  const stored = createRecent<true>(deps.recentLimit ?? 50_000, rememberedMs)
  const fileKey = (projectId: ProjectId): string => `${projectId}\n`

  return {
    begin() {
      const files = new Map<string, ProjectId>()
      const ops = new Map<string, { projectId: ProjectId; userId: string; objectId: string }>()
      return {
        ref(projectId, userId, objectId) {
          const key = `${projectId}\n${objectId}`
          if (!ops.has(key) && stored.get(key) === undefined) {
            ops.set(key, { projectId, userId, objectId })
            if (stored.get(fileKey(projectId)) === undefined) files.set(fileKey(projectId), projectId)
          }
          return `weave:///${projectId}/op/${objectId}:${value.digest}`
        },
        async append() {
          if (ops.size === 0) return []
          const positions: Position[] = []
          const sources: RecordInput[] = [...files.values()].map((projectId) =>
            inlineFileRecord(
              { projectId, digest: sourceDigest, clock: clock.next(), name: 'obj.py', sizeBytes: source.length },
              source,
            ),
          )
          if (sources.length > 0) positions.push(await log.append('files', sources))
          const batch = [...ops]
          const objects = batch.map(([, op]) =>
            objectRecord({ ...value, ...op, kind: 'op', clock: clock.next(), baseClass: '', leafClass: '', refs: [] }),
          )
          positions.push(await log.append('objects', objects))
          for (const key of files.keys()) stored.set(key, true)
          for (const [key] of batch) {
            stored.set(key, true)
            ops.delete(key)
          }
          files.clear()
          return positions
        },
      }
    },
  }
}
