// The shape of a call's row on its way into the log; every writer of calls (REST, OTLP, delete) fills these fields.

/** JSON text of a payload: a string, or a slice of the request's bytes that is copied without being decoded. */
export type JsonText = string | { bytes: Buffer; start: number; end: number }

/** Token counts of one model, as integers; 0 when not reported. */
export type UsageEntry = {
  model: string
  requests: number
  /** prompt_tokens + input_tokens */
  input: number
  /** completion_tokens + output_tokens */
  output: number
  total: number
  cacheRead: number
  cacheWrite: number
}

/** Block of fields that a start brings. Absent text is ''. */
export type StartFields = {
  startedUs: number
  traceId: string
  parentId: string
  threadId: string
  turnId: string
  opName: string
  /** null = the start says nothing about the name. */
  displayName: string | null
  userId: string
  runId: string
  /** null = not given. */
  runStep: number | null
  inputRefs: string[]
  attributes: JsonText
  inputs: JsonText
  /** '' = none. */
  otelDump: JsonText
}

/** Block of fields that an end brings. */
export type EndFields = {
  endedUs: number
  exception: string
  runStepEnd: number | null
  outputRefs: string[]
  /** summary.status_counts.error, 0 when absent. */
  errorCount: number
  usage: UsageEntry[]
  /** JSON text of the output; 'null' when absent. */
  output: JsonText
  summary: JsonText
}

/** Identity of a part: the call it belongs to and when it was accepted. */
type PartId = { projectId: string; id: string; clock: bigint }

/**
 * One part of a call. `odd` = a payload holds something that the engine's JSON functions cannot read (an integer outside
 * 64 bits, a number outside double range): queries then evaluate it in this process.
 */
export type CallPart =
  | ({ kind: 'complete'; odd: boolean } & PartId & StartFields & EndFields)
  | ({ kind: 'start'; odd: boolean } & PartId & StartFields)
  /** payloadUs: where its payload is stored in time: the client's started_at hint, else ended_at. */
  | ({ kind: 'end'; odd: boolean; payloadUs: number } & PartId & EndFields)
  | ({ kind: 'name'; displayName: string } & PartId)
  | ({ kind: 'delete' } & PartId)
