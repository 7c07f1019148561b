// The calls that runs, predictions and scores are: their places in the trace, ops, attributes and payloads.

import { createHash } from 'node:crypto'
import { parseRef } from '../../content/refs.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { isCallId, isTraceId } from '../../core/ids.ts'
import { members } from '../../core/json/canonical.ts'
import { objectText } from '../../core/json/objects.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import { type CallStart, type CallTexts, type CallWrite, evaluationAttributes, objectOf, textAt } from './calls.ts'

export const opNames = {
  run: 'Evaluation.evaluate',
  row: 'Evaluation.predict_and_score',
  summarize: 'Evaluation.summarize',
}

/** Flags of attributes are texts. */
export const flag = 'true'

const longestName = 128

const named = (base: string, suffix: string): string => {
  const most = longestName - suffix.length
  return (base.length > most ? [...base].slice(0, most).join('') : base) + suffix
}

/** The name of an object or op in its ref; null for what is no such ref. */
export function nameOfRef(text: string): string | null {
  const ref = parseRef(text)
  return ref?.kind === 'object' || ref?.kind === 'op' ? ref.name : null
}

export const predictOpOf = (model: string): string => named(nameOfRef(model) ?? 'Model', '.predict')

export const scoreOpOf = (scorerName: string): string => named(scorerName, '.score')

/** A whole call: its start and its end. */
export function completeCall(start: CallStart, output: string): CallWrite[] {
  const { id, startedUs } = start
  return [{ start }, { end: { id, startedUs, endedUs: startedUs, output, summary: '{}', exception: null } }]
}

/** A member of a JSON object's text, as text. */
export const memberText = (text: string, key: string): string | undefined => members(text)?.get(key)

/** The inputs of a prediction; what is no object counts as none. */
export function predictionInputs({ inputs }: Pick<CallTexts, 'inputs'>): string {
  const text = memberText(inputs, 'inputs')
  return text?.trimStart().startsWith('{') ? text : '{}'
}

/** Refs of the evaluation and the model of a run, as it was made here or by an SDK; '' when it names none. */
export function subjectsOf(call: CallTexts): { evaluation: string; model: string } {
  const attributes = evaluationAttributes(call)
  const inputs = objectOf(parseInRoom(call.inputs))
  return {
    evaluation: textAt(attributes, 'evaluation') ?? textAt(inputs, 'self', 'this') ?? '',
    model: textAt(attributes, 'model') ?? textAt(inputs, 'model') ?? '',
  }
}

/** Microseconds of a time in a call record. */
export const timeOf = (text: string): number => parseTimestamp(text) ?? 0

/**
 * Id of the summarize call of a run: made from the run's, so that a run that is finished twice has one. A UUID of
 * version 7 (RFC 9562) whose time is the run's.
 */
export function summarizeIdOf(run: CallTexts): string {
  const time = Math.floor(timeOf(run.startedAt) / 1000)
    .toString(16)
    .padStart(12, '0')
  const hash = createHash('sha256').update(`${opNames.summarize}\n${run.traceId}\n${run.id}`).digest('hex')
  const variant = ((Number.parseInt(hash[3] as string, 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
}

/** Members that every reader derives anew. */
const derived = ['status', 'trace_name', 'latency_ms', 'display_name', 'costs', 'feedback']

/** The summary that a call was ended with, as JSON text; empty while it runs. */
export function storedSummary({ endedAt, summary }: CallTexts): string {
  if (endedAt === null) return '{}'
  const shown = members(summary) ?? new Map<string, string>()
  const weave = members(shown.get('weave') ?? '{}') ?? new Map<string, string>()
  for (const key of derived) weave.delete(key)
  if (weave.size > 0) shown.set('weave', objectText(weave))
  else shown.delete('weave')
  return objectText(shown)
}

/**
 * Trace of the calls of a run; of one that is not known its id, as for every run that is made here.
 * @throws Fault 400 when the run is not known and cannot be one
 */
export function traceOfRun(runId: string, run: { traceId: string } | null): string {
  if (run !== null) return run.traceId
  if (!isCallId(runId) || !isTraceId(runId))
    throw fault(400, `evaluation_run_id must be a UUID: ${JSON.stringify(runId.slice(0, 100))}`)
  return runId
}
