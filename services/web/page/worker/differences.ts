// Two calls, or two versions of objects, and what differs in them.

import { ApiFault, send } from '../api/send.ts'
import { type Differences, differencesOf } from '../engine/differences.ts'
import { type LineDifferences, lineDifferences } from '../engine/line-differences.ts'
import { type OpVersion, opVersionOf } from '../engine/refs.ts'
import { type Row, rowOf } from '../engine/rows.ts'
import { spanOfId } from '../engine/span-columns.ts'
import { matchedSpans, type TraceDifferences } from '../engine/trace-differences.ts'
import { spansOf, type Tree, treeOf } from '../engine/tree.ts'
import type { Shapes } from '../routes.gen.ts'
import * as documents from './documents.ts'

/** A side of a comparison: a call, or a version of an object. */
export type Side = { call: string } | { object: string; digest: string }

export type Compared = {
  /** The row of a call, or the facts about an object's version. */
  heads: { row: Row | null; version: Record<string, unknown> | null }[]
  parts: { name: string; differences: Differences }[]
  /** Differences between two ops, or between those that two calls ran, by lines. */
  code: LineDifferences | null
}

/** Larger payloads are not compared: a list of their differences would be none to read. */
const maxBytes = 2 ** 24

type Opened = { head: Compared['heads'][number]; texts: Map<string, string> }

const partNames = ['inputs', 'output', 'attributes', 'summary', 'exception', 'val']

async function opened(base: string, project_id: string, side: Side, signal: AbortSignal): Promise<Opened> {
  const response =
    'call' in side
      ? await send(base, 'calls.read', { project_id, id: side.call, include_costs: true }, { signal })
      : await send(
          ...([base, 'objects.read', { project_id, object_id: side.object, digest: side.digest }, { signal }] as const),
        )
  const root = documents.openDocument(new Uint8Array(await response.arrayBuffer()))
  const found = documents.memberRefs(root).get('call' in side ? 'call' : 'obj')
  if (found?.kind !== 'object')
    throw new ApiFault({
      status: 404,
      reason: `${'call' in side ? `Call ${side.call}` : side.object} not found`,
      requestId: '',
      retryAfterS: 0,
      asked: 'calls.read',
    })
  const members = documents.memberRefs(found)
  const texts = new Map<string, string>()
  const light: Record<string, unknown> = {}
  for (const [name, ref] of members) {
    const isPart = partNames.includes(name)
    if (isPart && ref.end - ref.start <= maxBytes) texts.set(name, documents.jsonTextOf(ref))
    if (name === 'summary' || !isPart) light[name] = JSON.parse(documents.jsonTextOf(ref))
  }
  const head = 'call' in side ? { row: rowOf(light), version: null } : { row: null, version: light }
  return { head, texts }
}

/** The op that a call ran, or that a version is of. */
function opOf(projectId: string, side: Side, { row, version }: Opened['head']): OpVersion | undefined {
  if ('object' in side) return version?.kind === 'op' ? { objectId: side.object, digest: side.digest } : undefined
  return opVersionOf(projectId, row?.opName ?? '')
}

/** Null where there are no two codes, or they are the same one. */
async function codeDifferences(
  base: string,
  projectId: string,
  ops: readonly (OpVersion | undefined)[],
  signal: AbortSignal,
): Promise<LineDifferences | null> {
  const [a, b] = ops
  if (a === undefined || b === undefined || (a.objectId === b.objectId && a.digest === b.digest)) return null
  const [entity = '', project = ''] = projectId.split('/')
  const codeOf = async ({ objectId: object_id, digest }: OpVersion): Promise<string> => {
    const response = await send(base, 'ops.read', undefined, { params: { entity, project, object_id, digest }, signal })
    return ((await response.json()) as Shapes['ops.read']['out']).code
  }
  try {
    const [before, now] = await Promise.all([codeOf(a), codeOf(b)])
    return before.length + now.length > maxBytes ? null : lineDifferences(before, now)
  } catch (error) {
    // A version that is deleted has no code to compare; all else of it can be.
    if (error instanceof ApiFault && error.values.status === 404) return null
    throw error
  }
}

export async function differences(
  { signal }: { signal: AbortSignal },
  base: string,
  projectId: string,
  sides: readonly [Side, Side],
): Promise<Compared> {
  const [a, b] = await Promise.all([
    opened(base, projectId, sides[0], signal),
    opened(base, projectId, sides[1], signal),
  ])
  const parts = partNames.flatMap((name) => {
    const [before, now] = [a.texts.get(name), b.texts.get(name)]
    if (before === undefined && now === undefined) return []
    return [{ name, differences: differencesOf(before ?? 'null', now ?? 'null') }]
  })
  const ops = [opOf(projectId, sides[0], a.head), opOf(projectId, sides[1], b.head)]
  return { heads: [a.head, b.head], parts, code: await codeDifferences(base, projectId, ops, signal) }
}

/** A call of a trace. */
export type SpanOf = { id: string; traceId: string }

/** Differences between two calls with all below them; nothing where one of them is not in its trace. */
export async function traceDifferences(
  { signal }: { signal: AbortSignal },
  base: string,
  project_id: string,
  spans: readonly [SpanOf, SpanOf],
): Promise<TraceDifferences> {
  const found = async ({ id, traceId: trace_id }: SpanOf): Promise<readonly [Tree, number]> => {
    const response = await send(base, 'traces.tree', { project_id, trace_id }, { signal })
    const tree = treeOf(spansOf((await response.json()) as Shapes['traces.tree']['out']))
    return [tree, tree.lineOf[spanOfId(tree.spans.ids, id)] ?? -1]
  }
  const [a, b] = await Promise.all([found(spans[0]), found(spans[1])])
  return a[1] < 0 || b[1] < 0 ? { pairs: [], isCut: false } : matchedSpans(a, b)
}
