// Creating evaluation objects: files, tables and ops first, then the object that points at them.

import type {
  DatasetCreate,
  EvaluationCreate,
  ModelCreate,
  OpCreate,
  ScorerCreate,
} from '../../../schemas/evaluation-objects.ts'
import { placeholderOpDigest } from '../../content/op-objects.ts'
import { parseRef } from '../../content/refs.ts'
import { asFault, fault, retryLater } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import type { ProjectId } from '../../core/ids.ts'
import { members } from '../../core/json/canonical.ts'
import { objectText } from '../../core/json/objects.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import { checkObjectId, safeName } from './names.ts'
import type { WriteOps } from './ops.ts'

/** The writes of one creation, each durable when the promise resolves. */
export type Making = {
  projectId: ProjectId
  /** The members of the body as JSON texts. */
  body: ReadonlyMap<string, string>
  /** Stores source code. @returns the file's digest */
  source(text: string): Promise<string>
  /** Stores rows. @returns the table's ref */
  table(rowsText: string): Promise<string>
  /** Stores a value. @returns its digest */
  object(objectId: string, valueText: string): Promise<string>
  /** Stores placeholder ops. @returns their refs */
  placeholders(...objectIds: string[]): Promise<string[]>
}

export type Created = { digest: string; object_id: string; version_index: number }

export type WriteDeps = { invoke: Invoke; writeOps: WriteOps }

/** Runs a creation and reads the number that its version has got. */
export async function create(
  { invoke, writeOps }: WriteDeps,
  as: InvokeCaller,
  sent: { projectId: ProjectId; body: Buffer },
  make: (making: Making) => Promise<{ objectId: string; digest: string }>,
): Promise<{ created: Created; headers: Record<string, string> }> {
  const { projectId } = sent
  const positions: string[] = []
  const write = async <T>(route: string, body: unknown): Promise<T> => {
    const { bytes, headers } = await invoke.answer(route, body, as)
    const position = headers[positionHeader]
    if (position !== undefined) positions.push(position)
    return parseInRoom(bytes.toString()) as T
  }
  const text = sent.body.toString().replace(/^\ufeff/, '')
  const { objectId, digest } = await make({
    projectId,
    body: members(text) ?? new Map(),
    async source(source) {
      const form = new FormData()
      form.append('project_id', projectId)
      form.append('file', new Blob([source]), 'obj.py')
      return (await write<{ digest: string }>('files.create', form)).digest
    },
    async table(rowsText) {
      const table = objectText([
        ['project_id', JSON.stringify(projectId)],
        ['rows', rowsText],
      ])
      const { digest } = await write<{ digest: string }>('tables.create', Buffer.from(objectText([['table', table]])))
      return `weave:///${projectId}/table/${digest}`
    },
    async object(objectId, valueText) {
      const obj = objectText([
        ['project_id', JSON.stringify(projectId)],
        ['object_id', JSON.stringify(objectId)],
        ['val', valueText],
      ])
      return (await write<{ digest: string }>('objects.create', Buffer.from(objectText([['obj', obj]])))).digest
    },
    async placeholders(...objectIds) {
      const { refs, positions: written } = await writeOps(projectId, as.caller.userId, objectIds)
      if (written.length > 0) positions.push(formatPositions(written))
      return refs
    },
  })
  const asked = { project_id: projectId, object_id: objectId, digest, metadata_only: true }
  const { obj } = await invoke
    .json<{ obj: { version_index: number } }>('objects.read', asked, as)
    .catch((error: unknown) => {
      // The version is stored but not readable yet, or was deleted at once: the same request again is harmless.
      if (asFault(error)?.status === 404) throw retryLater(503, 'The new version is not readable yet')
      throw error
    })
  const created = { digest, object_id: objectId, version_index: obj.version_index }
  return { created, headers: positions.length > 0 ? { [positionHeader]: positions.join(',') } : {} }
}

const quote = (value: unknown): string => JSON.stringify(value ?? null)
const opValue = (file: string): string =>
  JSON.stringify({ _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': file } })
const filesText = (file: string): string => JSON.stringify({ 'obj.py': file })

const classKeys = ['_type', '_class_name', '_bases']
const classMembers = (name: string): [string, string][] => [
  ['_type', quote(name)],
  ['_class_name', quote(name)],
  ['_bases', '["Object","BaseModel"]'],
]

/** The object id of a name, and of the ops that belong to it: those have to fit as well. */
function idOf(name: string, ...suffixes: string[]): string {
  const objectId = checkObjectId(safeName(name))
  for (const suffix of suffixes) checkObjectId(objectId + suffix)
  return objectId
}

export async function makeOp({ source, object, placeholders }: Making, { name, source_code }: OpCreate) {
  const objectId = name == null ? 'Op' : idOf(name)
  if (source_code != null) return { objectId, digest: await object(objectId, opValue(await source(source_code))) }
  await placeholders(objectId)
  return { objectId, digest: placeholderOpDigest }
}

export async function makeDataset({ body, table, object }: Making, { name, description }: DatasetCreate) {
  const objectId = name == null ? 'Dataset' : idOf(name)
  const rows = await table(body.get('rows') ?? '[]')
  const value = objectText([
    ...classMembers('Dataset'),
    ['name', quote(name ?? 'Dataset')],
    ['description', quote(description)],
    ['rows', quote(rows)],
  ])
  return { objectId, digest: await object(objectId, value) }
}

export async function makeScorer(making: Making, { name, description, op_source_code }: ScorerCreate) {
  const { source, object, placeholders, projectId } = making
  const objectId = idOf(name, '_score', '_summarize')
  const score = await object(`${objectId}_score`, opValue(await source(op_source_code)))
  const [summarize] = await placeholders(`${objectId}_summarize`)
  const value = objectText([
    ...classMembers('Scorer'),
    ['name', quote(name)],
    ['description', quote(description)],
    ['score', quote(`weave:///${projectId}/op/${objectId}_score:${score}`)],
    ['summarize', quote(summarize)],
    ['column_map', 'null'],
  ])
  return { objectId, digest: await object(objectId, value) }
}

/** @throws Fault 400 for a text that is no ref of these kinds */
function checkRef(at: string, text: string, kinds: readonly string[]): void {
  if (!kinds.includes(parseRef(text)?.kind ?? ''))
    throw fault(400, `${at} must be a ref of an ${kinds.join(' or ')}, not ${JSON.stringify(text.slice(0, 300))}`)
}

export async function makeEvaluation({ body, object, placeholders }: Making, input: EvaluationCreate) {
  const scorers = input.scorers ?? []
  checkRef('dataset', input.dataset, ['object'])
  for (const [index, ref] of scorers.entries()) checkRef(`scorers[${index}]`, ref, ['object', 'op'])
  const ops = ['evaluate', 'predict_and_score', 'summarize'] as const
  const objectId = idOf(input.name, ...ops.map((op) => `.${op}`))
  const refs = await placeholders(...ops.map((op) => `${objectId}.${op}`))
  const value = new Map([
    ...classMembers('Evaluation'),
    ['name', quote(input.name)],
    ['description', quote(input.description)],
    ['dataset', quote(input.dataset)],
    ['scorers', quote(scorers)],
    ['trials', String(input.trials ?? 1)],
    ['evaluation_name', quote(input.evaluation_name)],
    ['metadata', 'null'],
    ['preprocess_model_input', 'null'],
    ...ops.map((op, index): [string, string] => [op, quote(refs[index])]),
  ])
  // The class is what makes it an evaluation: it stays.
  for (const [key, text] of members(body.get('eval_attributes') ?? 'null') ?? [])
    if (!classKeys.includes(key)) value.set(key, text)
  return { objectId, digest: await object(objectId, objectText(value)) }
}

export async function makeModel({ body, source, object }: Making, { name, description, source_code }: ModelCreate) {
  const objectId = idOf(name)
  const own: [string, string][] = [
    ...classMembers('Model'),
    ['name', quote(name)],
    ['description', quote(description)],
    ['files', filesText(await source(source_code))],
  ]
  const attributes = [...(members(body.get('attributes') ?? 'null') ?? [])]
  const free = attributes.filter(([key]) => !own.some(([name]) => name === key))
  return { objectId, digest: await object(objectId, objectText([...own, ...free])) }
}
