// Finds the op objects that were made for the names of erased calls and that nothing else names: what the sender of a span
// called it stands in them.
import { placeholderOpDigest as digest } from '../content/op-objects.ts'
import { type Finder, find, slices, sqlOf } from './engine.ts'

/** Refs that one look at texts searches for. */
const refsAtOnce = 200

type Op = { object: string; ref: string }

const named = (projectId: string, ids: readonly string[]) => ({
  project: projectId,
  lead: `weave:///${projectId}/op/`,
  digest,
  ids,
})

/** Those that nothing names which stays. @param held ids of calls */
async function unnamed(
  finder: Finder,
  projectId: string,
  ops: readonly Op[],
  held: ReadonlySet<string>,
): Promise<Op[]> {
  const params = named(projectId, [...held])
  const stays = sqlOf('erasure.stays')
  const free: Op[] = []
  for (const some of slices(ops, refsAtOnce)) {
    const refs = some.map(({ ref }) => ref)
    const ofCalls = await find<{ ref: string }>(finder, 'erasure.ops-of-calls', { ...params, refs }, { stays })
    const kept = new Set(ofCalls.map(({ ref }) => ref))
    const rest = refs.filter((ref) => !kept.has(ref))
    if (rest.length === 0) continue
    const inTexts = await find<{ ref: string }>(finder, 'erasure.ops-in-texts', { ...params, refs: rest })
    for (const { ref } of inTexts) kept.add(ref)
    free.push(...some.filter(({ ref }) => !kept.has(ref)))
  }
  return free
}

/** Finds those that deleted calls were named after, and nothing that stays is. @returns ids of objects */
export async function goneOps(
  finder: Finder,
  projectId: string,
  calls: readonly { id: string; deleteVer: bigint }[],
  held: ReadonlySet<string>,
): Promise<string[]> {
  let latest = 0n
  for (const { deleteVer } of calls) if (deleteVer > latest) latest = deleteVer
  const params = named(
    projectId,
    calls.map(({ id }) => id),
  )
  const found = await find<Op & { ver: string }>(finder, 'erasure.ops-named', params)
  // An op that came once more after the deletes is named by a call that may not be applied yet.
  const older = found.filter(({ ver }) => BigInt(ver) < latest)
  const ops = older.length === 0 ? [] : await unnamed(finder, projectId, older, held)
  return ops.map(({ object }) => object)
}
