// Stored calls of spans as they are read, for whoever maps them once more.
import { spliced } from '../../content/span-dump.ts'
import type { UsageEntry } from '../../events/calls.ts'
import type { StoredSpan } from '../../events/gen-ai-events.ts'

type Counts = Record<'requests' | 'input' | 'output' | 'total' | 'cache_read' | 'cache_write', string[]>
type Texts<Column extends string> = { [column in Column]: string }

/** As log-joins-spans reads them. */
export type SpanCallRow = Texts<
  | 'project_id'
  | 'id'
  | 'clock'
  | 'trace_id'
  | 'started_us'
  | 'ended_us'
  | 'parent_id'
  | 'thread_id'
  | 'turn_id'
  | 'op_name'
  | 'exception'
  | 'user_id'
  | 'run_id'
  | 'run_step'
  | 'run_step_end'
> & { input_refs: string[]; output_refs: string[]; error_count: number; usage_model: string[] } & {
  [name in keyof Counts as `usage_${name}`]: string[]
}

/** As log-joins-payloads reads them. */
export type SpanPayloadRow = Texts<
  'project_id' | 'id' | 'started_us' | 'clock' | 'attributes' | 'inputs' | 'output' | 'summary' | 'otel_dump'
> & { odd: number; mask: number; mask_hits: number; wanted: number }

/** As log-joins-joined reads them. */
export type JoinedRow = Texts<'project_id' | 'trace_id' | 'span_id' | 'base' | 'joined_clock'>

export type SpanRow = SpanCallRow & SpanPayloadRow & Pick<JoinedRow, 'base' | 'joined_clock'>

const stepOf = (step: string): number | null => (Number(step) < 0 ? null : Number(step))

function usageOf(row: SpanRow): UsageEntry[] {
  const count = (list: string[], n: number) => Number(list[n] ?? 0)
  return row.usage_model.map((model, n) => ({
    model,
    requests: count(row.usage_requests, n),
    input: count(row.usage_input, n),
    output: count(row.usage_output, n),
    total: count(row.usage_total, n),
    cacheRead: count(row.usage_cache_read, n),
    cacheWrite: count(row.usage_cache_write, n),
  }))
}

export function spanOf(row: SpanRow): StoredSpan {
  const { attributes, inputs, output } = row
  const texts = { attributes: Buffer.from(attributes), inputs: Buffer.from(inputs), output: Buffer.from(output) }
  return {
    projectId: row.project_id,
    id: row.id,
    odd: Number(row.odd) === 1,
    masking: { version: Number(row.mask), hits: Number(row.mask_hits) },
    startedUs: Number(row.started_us),
    endedUs: Number(row.ended_us),
    traceId: row.trace_id,
    parentId: row.parent_id,
    threadId: row.thread_id,
    turnId: row.turn_id,
    opName: row.op_name,
    exception: row.exception,
    userId: row.user_id,
    runId: row.run_id,
    runStep: stepOf(row.run_step),
    runStepEnd: stepOf(row.run_step_end),
    inputRefs: row.input_refs,
    outputRefs: row.output_refs,
    errorCount: Number(row.error_count),
    usage: usageOf(row),
    attributes,
    inputs,
    output,
    summary: row.summary,
    otelDump: spliced(Buffer.from(row.otel_dump), texts).toString(),
  }
}
