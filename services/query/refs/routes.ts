// Reading what refs point at: POST /refs/read_batch.
import { refsReadBatchRequest, refsReadBatchResponse } from '../../../schemas/refs.ts'
import { type ObjectRef, parseRef } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { batchesBySize, listReply } from '../list-reply.ts'
import { loadTargets, type RefSource, type RefTarget, targetKey } from './load.ts'
import { createKept, type Kept, locateRefs, type Node, type Resolved, type ValuePlace, valueIn } from './refs.ts'

export type RefReadDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
}

const maxRefs = 1_000

/** @throws Fault 400 for what is no ref, or one that cannot be read */
function readable(text: string): ObjectRef {
  const ref = parseRef(text)
  if (ref === null) throw fault(400, `Invalid ref: ${JSON.stringify(text.slice(0, 300))}`)
  if (ref.kind !== 'object' && ref.kind !== 'op') throw fault(400, `Refs of the kind ${ref.kind} cannot be read`)
  if (ref.version === 'latest') throw fault(400, 'Only refs with a digest can be read')
  return ref
}

/** @throws Fault 404 when something is missing, 400 when something cannot be read: then nothing is answered */
function refuse(located: readonly (Resolved | ValuePlace)[]): void {
  const missing = located.flatMap((one) => (one.is === 'missing' ? one.digest : []))
  if (missing.length > 0)
    throw fault(404, 'Some refs point at nothing', { missing_object_digests: [...new Set(missing)].sort() })
  for (const one of located) if (one.is === 'invalid') throw fault(400, one.reason)
}

/** Place of a value; without a source when the caller may not read it. */
type Located = { at: Resolved | ValuePlace; source: RefSource | null }

/** Targets that were read, by source and key. */
type Read = Map<RefSource, Map<string, Node>>

/** The targets of one batch. @param known those that need not be read again */
async function readTargets(
  batch: readonly Located[],
  known: (source: RefSource, key: string) => Node | undefined,
): Promise<Read> {
  const read: Read = new Map()
  const unread = new Map<RefSource, Map<string, RefTarget>>()
  for (const { at, source } of batch) {
    if (at.is !== 'place' || source === null) continue
    const key = targetKey(at.target)
    const node = known(source, key)
    const into = read.get(source) ?? new Map()
    read.set(source, into)
    if (node !== undefined) into.set(key, node)
    else unread.set(source, (unread.get(source) ?? new Map()).set(key, at.target))
  }
  for (const [source, targets] of unread)
    for await (const found of loadTargets(source, [...targets.values()], () => true))
      for (const [key, one] of found) if (one && 'text' in one) read.get(source)?.set(key, { text: one.text })
  return read
}

/** The values as texts separated by commas; those that were not kept are read again, batch by batch. */
async function* textsOf(located: readonly Located[], kept: Kept): AsyncGenerator<string> {
  let read: Read = new Map()
  for (const batch of batchesBySize(located, ({ at }) => (at.is === 'place' ? at.sizeBytes : 0))) {
    const before = read
    read = await readTargets(batch, (source, key) => kept.find(source.projectId, key) ?? before.get(source)?.get(key))
    const texts = batch.map(({ at, source }) => {
      // Deleted since then.
      if (at.is !== 'place' || source === null) return 'null'
      const node = read.get(source)?.get(targetKey(at.target))
      return node === undefined ? 'null' : valueIn(node, at.steps)
    })
    yield texts.join(',')
  }
}

export function createRefReadRoutes({ store, freshness }: RefReadDeps): Route[] {
  return [
    route({
      name: 'refs.read_batch',
      method: 'POST',
      path: '/refs/read_batch',
      summary: 'The values that refs point at',
      body: { type: 'json', schema: refsReadBatchRequest, check: 'schema' },
      response: refsReadBatchResponse,
      tables: ['objects', 'object_events', 'table_lists', 'table_rows'],
      async handle(context) {
        const { input, signal } = context
        if (input.refs.length > maxRefs) throw fault(400, `More than ${maxRefs} refs in one request`)
        const refs = input.refs.map(readable)
        if (refs.length === 0) return { json: { vals: [] } }
        const places = new Map<string, number[]>()
        for (const [i, { entity, project }] of refs.entries()) {
          const name = `${entity}/${project}`
          const known = places.get(name)
          if (known) known.push(i)
          else places.set(name, [i])
        }
        const opened = [...places].map(([name, at]) => ({ projectId: context.projectOrNull(name), at }))
        const headers = await freshness.wait(context, ['objects', 'tables'])
        const located: Located[] = []
        const kept = createKept()
        for (const { projectId, at } of opened) {
          const asked = at.map((i) => refs[i] as ObjectRef)
          const source: RefSource | null = projectId && { store, projectId, options: { signal } }
          // Like refs to nothing: whether the project exists is not told.
          const answers = source
            ? await locateRefs(source, asked, kept)
            : asked.map(({ version }): Resolved => ({ is: 'missing', digest: version }))
          for (const [k, i] of at.entries()) located[i] = { at: answers[k] as Resolved | ValuePlace, source }
        }
        refuse(located.map(({ at }) => at))
        return listReply('vals', textsOf(located, kept), headers)
      },
    }),
  ]
}
