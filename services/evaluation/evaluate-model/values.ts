// Reads the parts of an evaluation from its objects: only kinds that the server itself can execute are accepted.

import { parseRef } from '../../content/refs.ts'
import { asFault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import { items as itemsOf, members } from '../../core/json/canonical.ts'
import { parseLossless } from '../../core/json/lossless.ts'
import { objectOf, textAt } from '../runs/calls.ts'
import { numberOf } from './summary.ts'

type Fields = Record<string, unknown>

/** The job cannot be done as it is asked for; the message is the exception of the evaluation's call. */
export class Unusable extends Error {}

export type CompletionModel = { modelId: string; params: Fields }

export type Judge = {
  name: string
  /** Ref or value, as the evaluation holds it. */
  self: unknown
  model: CompletionModel
  /** Messages with variables. */
  prompt: unknown[]
  /** Argument -> column. */
  columnMap: Fields
}

export type Plan = {
  model: CompletionModel
  judges: Judge[]
  trials: number
  /** Rows in their order, page by page. */
  rows(): AsyncIterable<Fields>
}

type Table = { project_id: string; digest: string }

const rowsPerPage = 200
/** Most trials of an evaluation, and most of its rows times its trials: jobs run one after the other. */
const maxTrials = 1_000
const maxPredictions = 1_000_000

const classOf = (value: Fields): string => textAt(value, '_class_name', '_type') ?? 'nothing that is known'

export function createReader(invoke: Invoke, as: InvokeCaller) {
  /** The value behind a ref; other values as they are. */
  async function readValue(value: unknown): Promise<unknown> {
    if (typeof value !== 'string' || !value.startsWith('weave:///')) return value
    const { bytes } = await invoke.answer('refs.read_batch', { refs: [value] }, as)
    const [text] = itemsOf(members(bytes.toString())?.get('vals') ?? '[]') ?? []
    return text === undefined ? null : parseLossless(text)
  }

  /** @throws Unusable when it is of another class */
  async function ofClass(value: unknown, expected: string, what: string): Promise<Fields> {
    const found = objectOf(await readValue(value))
    if (classOf(found) !== expected)
      throw new Unusable(`${what}: expected an object of the class ${expected}, found ${classOf(found)}`)
    return found
  }

  async function modelOf(value: unknown, what: string): Promise<CompletionModel> {
    const found = await ofClass(value, 'LLMStructuredCompletionModel', what)
    const modelId = textAt(found, 'llm_model_id')
    if (!modelId) throw new Unusable(`${what} has no llm_model_id`)
    return { modelId, params: objectOf(await readValue(found.default_params)) }
  }

  async function judgeOf(self: unknown): Promise<Judge> {
    const found = await ofClass(self, 'LLMAsAJudgeScorer', 'The scorer')
    const name = textAt(found, 'name') || 'LLMAsAJudgeScorer'
    const prompt = await readValue(found.scoring_prompt)
    const messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : objectOf(prompt).messages
    if (!Array.isArray(messages)) throw new Unusable(`The scorer ${name} has no scoring_prompt with messages`)
    const columnMap = objectOf(found.column_map)
    return { name, self, model: await modelOf(found.model, `The model of ${name}`), prompt: messages, columnMap }
  }

  /** Rows of a table; none when it is in a project that the caller may not read, as if it were not there. */
  async function countOf(table: Table): Promise<number> {
    try {
      return (await invoke.json<{ count: number }>('tables.query_stats', table, as)).count
    } catch (error) {
      if (asFault(error)?.status === 403) return 0
      throw error
    }
  }

  async function* rowsOf(table: Table, count: number): AsyncGenerator<Fields> {
    for (let offset = 0; offset < count; offset += rowsPerPage) {
      const { bytes } = await invoke.answer('tables.query', { ...table, limit: rowsPerPage, offset }, as)
      const { rows } = parseLossless(bytes.toString()) as { rows: { val: unknown }[] }
      for (const { val } of rows) yield objectOf(val)
    }
  }

  return {
    /** @throws Unusable, and faults of the routes that read */
    async plan(evaluationRef: string, modelRef: string): Promise<Plan> {
      const evaluation = await ofClass(evaluationRef, 'Evaluation', 'The evaluation')
      const model = await modelOf(modelRef, 'The model')
      const judges: Judge[] = []
      for (const scorer of Array.isArray(evaluation.scorers) ? evaluation.scorers : [])
        judges.push(await judgeOf(scorer))
      const { rows } = objectOf(await readValue(evaluation.dataset))
      const table = typeof rows === 'string' ? parseRef(rows) : null
      if (table?.kind !== 'table') throw new Unusable('The dataset of the evaluation has no table of rows')
      const asked = numberOf(evaluation.trials ?? 1)
      const trials = Number.isInteger(asked) && asked > 0 ? asked : 1
      if (trials > maxTrials) throw new Unusable(`The evaluation has ${trials} trials, more than ${maxTrials}`)
      const ofTable = { project_id: `${table.entity}/${table.project}`, digest: table.digest }
      const count = await countOf(ofTable)
      if (count * trials > maxPredictions)
        throw new Unusable(`The evaluation has ${count} rows and ${trials} trials, more than ${maxPredictions} in all`)
      return { model, judges, trials, rows: () => rowsOf(ofTable, count) }
    },
  }
}
