// The five kinds of evaluation objects as data: what belongs to a kind, and how a stored version of it is shown.

import { items, members } from '../../core/json/canonical.ts'
import { objectText } from '../../core/json/objects.ts'
import { isContentHash } from '../../events/digest.ts'

/** A version as /objs/query and /obj/read tell of it. */
export type Version = {
  object_id: string
  digest: string
  version_index: number
  created_at: string
  kind: 'op' | 'object'
  base_object_class: string | null
  is_latest: 0 | 1
}

/** A version with the members of its value as JSON texts. */
export type StoredVersion = Version & { projectId: string; value: ReadonlyMap<string, string> }

export type EvaluationKind = {
  /** Noun in texts. */
  noun: string
  /** Filter of /objs/query. */
  filter: { is_op: true } | { base_object_classes: string[] }
  holds(version: Pick<Version, 'kind' | 'base_object_class'>): boolean
  /** Only the latest version of each object is listed. */
  latestOnly: boolean
  /** The version's source file is part of what is shown. */
  hasSource: boolean
  /** Members that follow those that all kinds have, as JSON texts. */
  show(version: StoredVersion, source: string): Record<string, string>
}

/** The text of a member that is a string; null for anything else. */
function stringAt(value: ReadonlyMap<string, string>, key: string): string | null {
  const text = value.get(key)
  return text?.startsWith('"') ? (JSON.parse(text) as string) : null
}

/** Digest of the file that holds a version's source; null when it names none. */
export function sourceFileOf({ value }: StoredVersion): string | null {
  const files = members(value.get('files') ?? 'null')
  return files === null ? null : stringAt(files, 'obj.py')
}

const quote = (text: string | null): string => JSON.stringify(text)

const named = ({ value, object_id }: StoredVersion) => ({
  name: quote(stringAt(value, 'name') ?? object_id),
  description: quote(stringAt(value, 'description')),
})

/** A member that names an op: a ref, or, from other writers, the digest of the op `opId`. Null when it names none. */
function opRef({ value, projectId }: StoredVersion, key: string, opId: string): string | null {
  const stored = stringAt(value, key)
  return stored !== null && isContentHash(stored) ? `weave:///${projectId}/op/${opId}:${stored}` : stored
}

const classData = ['_type', '_class_name', '_bases']
const notAttributes = new Set([...classData, 'name', 'description', 'files'])

function attributesOf(value: ReadonlyMap<string, string>): string {
  const kept = [...value].filter(([key]) => !notAttributes.has(key))
  return kept.length === 0 ? 'null' : objectText(kept)
}

const ofClass = (
  baseClass: string,
): Pick<EvaluationKind, 'noun' | 'filter' | 'holds' | 'latestOnly' | 'hasSource'> => ({
  noun: baseClass,
  filter: { base_object_classes: [baseClass] },
  holds: (version) => version.kind === 'object' && version.base_object_class === baseClass,
  latestOnly: false,
  hasSource: false,
})

export const op: EvaluationKind = {
  noun: 'Op',
  filter: { is_op: true },
  holds: (version) => version.kind === 'op',
  latestOnly: true,
  hasSource: true,
  show: (_, source) => ({ code: quote(source) }),
}

export const dataset: EvaluationKind = {
  ...ofClass('Dataset'),
  show: (version) => ({ ...named(version), rows: quote(stringAt(version.value, 'rows') ?? '') }),
}

export const scorer: EvaluationKind = {
  ...ofClass('Scorer'),
  show: (version) => ({
    ...named(version),
    score_op: quote(opRef(version, 'score', `${version.object_id}_score`) ?? ''),
  }),
}

export const evaluation: EvaluationKind = {
  ...ofClass('Evaluation'),
  show(version) {
    const { value, object_id } = version
    const trials = Number(value.get('trials'))
    const ref = (key: string) => quote(opRef(version, key, `${object_id}.${key}`))
    return {
      ...named(version),
      dataset: quote(stringAt(value, 'dataset') ?? ''),
      // Scorers are listed by their refs; some writers store whole values, which have none.
      scorers: `[${(items(value.get('scorers') ?? '[]') ?? []).filter((text) => text.startsWith('"')).join(',')}]`,
      trials: String(Number.isSafeInteger(trials) && trials >= 1 ? trials : 1),
      evaluation_name: quote(stringAt(value, 'evaluation_name')),
      evaluate_op: ref('evaluate'),
      predict_and_score_op: ref('predict_and_score'),
      summarize_op: ref('summarize'),
    }
  },
}

export const modelKind: EvaluationKind = {
  ...ofClass('Model'),
  hasSource: true,
  show: (version, source) => ({
    ...named(version),
    source_code: quote(source),
    attributes: attributesOf(version.value),
  }),
}
