// Log records that become part of calls: their names, and what is passed between the worker, which finds them, and the mapping.
import { hash } from 'node:crypto'
import type { CallFragment } from './calls.ts'
import { threadNames } from './record-names.ts'

/** Events whose contents fill what their span lacks. The view of the table log_joins names them too. */
export const joinedEvents = {
  details: 'gen_ai.client.inference.operation.details',
  exception: 'gen_ai.client.operation.exception',
  choice: 'gen_ai.choice',
  messages: ['gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message'],
} as const

/** Kinds of events of coding agents, by their full names (releases of November 2026). So does a view of log_joins. */
export const agentEventKinds = {
  'claude_code.api_request': 'llm',
  'claude_code.api_error': 'error',
  'claude_code.tool_result': 'tool',
  'claude_code.user_prompt': 'prompt',
  'codex.api_request': 'llm',
  'codex.api_error': 'error',
  'codex.sse_event': 'llm',
  'codex.tool_result': 'tool',
  'codex.user_prompt': 'prompt',
  'gemini_cli.api_response': 'llm',
  'gemini_cli.api_error': 'error',
  'gemini_cli.tool_call': 'tool',
  'gemini_cli.user_prompt': 'prompt',
} as const

/** Events of prompts: their calls have ids of their own, which follow from session and prompt. */
export const promptEventNames: readonly string[] = Object.entries(agentEventKinds).flatMap(([name, kind]) =>
  kind === 'prompt' ? [name] : [],
)

/** Attributes by which an agent's event says where it belongs, the first present one counts. */
export const agentPlaceKeys = {
  session: threadNames.agent,
  prompt: ['prompt.id', 'prompt_id'],
} as const

/** An id that follows from what is told. */
export const agentDigest = (...parts: string[]): string => hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)

/** Id of the call of a prompt, '' when it is that of its record. Some agents name their session where they have no prompt to name. */
export const turnIdOf = (session: string, prompt: string): string =>
  session !== '' && prompt !== '' && prompt !== session ? agentDigest('turn', session, prompt) : ''

/** Attributes that tell the id of a prompt's call, in the order of `turnIdOfSaid`. */
export const turnAttributes: readonly string[] = [...agentPlaceKeys.session, ...agentPlaceKeys.prompt]

/** @param said values of `turnAttributes`, '' where there is none */
export function turnIdOfSaid(said: readonly string[]): string {
  const count = agentPlaceKeys.session.length
  const first = (some: readonly string[]): string => some.find((one) => one !== '') ?? ''
  return turnIdOf(first(said.slice(0, count)), first(said.slice(count)))
}

export const joinedEventNames: readonly string[] = [
  joinedEvents.details,
  joinedEvents.exception,
  joinedEvents.choice,
  ...joinedEvents.messages,
  ...Object.keys(agentEventKinds),
]

/** An event that becomes feedback of a call instead. */
export const evaluationEvent = 'gen_ai.evaluation.result'

/** A record as the table holds it: texts, and the names of those that are JSON texts. */
export type StoredLogRecord = {
  event_name: string
  body: string
  body_json: number
  attributes: Record<string, string>
  json_keys: string[]
}

type CompleteCall = Extract<CallFragment, { kind: 'complete' }>

/** The call of a span as it is stored, its raw span with all texts in their places. */
export type StoredSpan = Omit<CompleteCall, 'kind' | 'clock' | 'displayName' | 'attributes' | 'inputs' | 'output'> & {
  attributes: string
  inputs: string
  output: string
  summary: string
  otelDump: string
}

/** An evaluation as feedback; JSON text of the payload. */
export type EvaluationResult = { feedbackType: string; payload: string; responseId: string }

export type EventMapping = {
  /** The call with what the events add, in their order; null when they add nothing. */
  joined(span: StoredSpan, events: readonly StoredLogRecord[], clock: bigint): CompleteCall | null
  /** null when the record names no evaluation. */
  evaluation(record: StoredLogRecord): EvaluationResult | null
}
