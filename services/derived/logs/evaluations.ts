// Results of evaluations in log records become feedback: of the call of their span, else of the call of their response.
import type { Log } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { createdRecords, type FeedbackRow, storedPayload } from '../../events/feedback.ts'
import {
  type EvaluationResult,
  type EventMapping,
  evaluationEvent,
  type StoredLogRecord,
} from '../../events/gen-ai-events.ts'
import type { KeepJoined, Look } from './look.ts'

/** Records that are read at once. */
const maxRecords = 2_000
/** A response is looked for among the calls that began so long before its evaluation, and so long after it. */
const [beforeUs, afterUs] = [3_600_000_000, 300_000_000]
/** The system's own: nobody sent this feedback. */
const author = 'otel'

type Row = StoredLogRecord & { project_id: string; id: string; at_ns: string; trace_id: string; span_id: string }
type Found = { row: Row; result: EvaluationResult; atUs: number }
type Call = { project_id: string; id: string; trace_id: string }

const background = { pool: 'background' } as const

/** 32 hex digits in the form of ids. */
const idOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const namesSpan = ({ row }: Found): boolean => row.trace_id !== '' && row.span_id !== ''

function feedbackOf({ row, result }: Found, call: string, clock: bigint): FeedbackRow {
  return {
    project_id: row.project_id,
    id: idOf(row.id),
    clock,
    weave_ref: `weave:///${row.project_id}/call/${call}`,
    user_id: author,
    creator: null,
    feedback_type: result.feedbackType,
    annotation_ref: null,
    runnable_ref: null,
    call_ref: null,
    trigger_ref: null,
    queue_id: null,
    scorer_tags: [],
    scorer_tag_reasons: {},
    scorer_rating_reasons: {},
    scorer_tag_confidences: {},
    scorer_ratings: {},
    scorer_rating_confidences: {},
    span_agent_name: '',
    span_agent_version: '',
    span_conversation_id: '',
    span_trace_id: '',
    scorer_trace_id: '',
    span_status_code: '',
    payload: storedPayload(result.payload),
  }
}

/**
 * @returns makes feedback of what is due; resolves with how much. What names a call that is not there stays as it is: it is
 * due again when the call comes.
 */
export function createEvaluations(deps: {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append'>
  mapping: Pick<EventMapping, 'evaluation'>
  keep: KeepJoined
}): (look: Look, signal: AbortSignal) => Promise<number> {
  const { store, log, mapping, keep } = deps

  /** Ids of calls by the ids of their responses, of one project. */
  const idsByResponse = async (project: string, wanted: readonly Found[]): Promise<Map<string, string>> => {
    const times = wanted.map(({ atUs }) => atUs)
    const rows = await store.rows<{ id: string; response_id: string }>(
      statement('log-joins-responses', {
        project,
        responses: [...new Set(wanted.map(({ result }) => result.responseId))],
        from: Math.min(...times) - beforeUs,
        upTo: Math.max(...times) + afterUs,
      }),
      background,
    )
    return new Map(rows.map(({ id, response_id: response }) => [response, id]))
  }

  /** The call that each record names, by its span or else by its response. */
  const namedCalls = async (found: readonly Found[]): Promise<Map<Found, string>> => {
    const named = new Map<Found, string>()
    for (const one of found) if (namesSpan(one)) named.set(one, one.row.span_id)
    const others = found.filter((one) => !namesSpan(one) && one.result.responseId !== '')
    for (const [project, own] of Map.groupBy(others, ({ row }) => row.project_id)) {
      const ids = await idsByResponse(project, own)
      for (const one of own) {
        const id = ids.get(one.result.responseId)
        if (id !== undefined) named.set(one, id)
      }
    }
    return named
  }

  /** The call of each record that has one. */
  const callsOf = async (found: readonly Found[]): Promise<Map<Found, string>> => {
    const named = await namedCalls(found)
    if (named.size === 0) return named
    const params = { projects: [...named.keys()].map(({ row }) => row.project_id), ids: [...named.values()] }
    const calls = await store.rows<Call>(statement('log-joins-calls', params), background)
    const there = new Set(
      calls.flatMap(({ project_id: p, id, trace_id }) => [`${p}\n${id}`, `${p}\n${id}\n${trace_id}`]),
    )
    for (const [one, id] of named) {
      const { project_id: project, trace_id: trace } = one.row
      if (!there.has(`${project}\n${id}${namesSpan(one) ? `\n${trace}` : ''}`)) named.delete(one)
    }
    return named
  }

  const make = async (rows: readonly Row[]): Promise<number> => {
    const found = rows.flatMap((row) => {
      const result = row.event_name === evaluationEvent ? mapping.evaluation(row) : null
      return result === null ? [] : [{ row, result, atUs: Number(row.at_ns.slice(0, -3)) }]
    })
    // Its clock follows from the record, so that it is the same feedback however often it is made.
    const made = [...(await callsOf(found))].map(([one, call]) => ({ one, call, clock: BigInt(one.atUs) * 1024n }))
    if (made.length === 0) return 0
    await log.append('feedback', createdRecords(made.map(({ one, call, clock }) => feedbackOf(one, call, clock))))
    await keep(
      made.map(({ one: { row }, clock }) => ({
        project: row.project_id,
        trace: '',
        span: '',
        log: row.id,
        base: String(clock),
        clock: String(clock),
        events: 1,
      })),
    )
    return made.length
  }

  return async ({ seconds, slots, isPrompt }, signal) => {
    let count = 0
    let after = { project: '', after_ns: '0', after: '' }
    while (!signal.aborted) {
      const params = { seconds, slots, evaluation: evaluationEvent, limit: maxRecords, ...after }
      const rows = await store.rows<Row>(statement('log-joins-evaluations', params), isPrompt ? {} : background)
      count += await make(rows)
      const last = rows.at(-1)
      if (last === undefined || rows.length < maxRecords) break
      after = { project: last.project_id, after_ns: last.at_ns, after: last.id }
    }
    return count
  }
}
