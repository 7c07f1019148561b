// Masks what a call holds beside its payloads, and calls that are made of spans as a whole.
import type { CallFragment } from '../../events/calls.ts'
import { joinedEventNames } from '../../events/gen-ai-events.ts'
import type { LogRow } from '../../events/logs.ts'
import { extractRefs } from '../refs.ts'
import type { Masker } from './masker.ts'

/**
 * The call, which says what masked it.
 * @param before hits of the masker before it saw anything of the call
 */
export const saidMasked = <Fragment extends CallFragment>(
  masker: Masker | undefined,
  call: Fragment,
  before: number,
): Fragment => (masker ? { ...call, masking: { version: masker.version, hits: masker.hits() - before } } : call)

/** Short texts of a span of which what is stored is made. */
export type SpanTexts = {
  /** Name of the op and its object. */
  name: string
  /** Under which the usage is counted. */
  model: string
  /** One of them was masked for its path. */
  isByPath: boolean
}

/** They are masked before anything is made of them: what is left of `ann@example.com` in an object id is no address. */
export function maskedSpanTexts(masker: Masker | undefined, name: string, model: string): SpanTexts {
  if (masker === undefined) return { name, model, isByPath: false }
  const op = masker.text('op_name', name)
  const asked = masker.text('attributes', model, 'model')
  return { name: op.text, model: asked.text, isByPath: op.isByPath || asked.isByPath }
}

/** Hits of a masker so far. */
export const hitsOf = (masker: Masker | undefined): number => masker?.hits() ?? 0

/**
 * The call with its short texts masked: the names and ids that SDKs choose, and the exception.
 * @param before hits of the masker before it saw anything of the call
 */
export function withMaskedHead<Fragment extends CallFragment>(
  masker: Masker,
  fragment: Fragment,
  before: number,
): Fragment {
  if (fragment.kind === 'delete' || fragment.kind === 'name') return fragment
  const head =
    fragment.kind === 'end'
      ? {}
      : {
          displayName: fragment.displayName && masker.text('display_name', fragment.displayName).text,
          threadId: masker.text('thread_id', fragment.threadId).text,
          turnId: masker.text('turn_id', fragment.turnId).text,
          opName: masker.text('op_name', fragment.opName).text,
        }
  const end = fragment.kind === 'start' ? {} : { exception: masker.text('exception', fragment.exception).text }
  return saidMasked(masker, { ...fragment, ...head, ...end }, before)
}

type Complete = Extract<CallFragment, { kind: 'complete' }>

/** The refs that are left in a masked payload. */
const refsLeft = (refs: readonly string[], json: string): string[] =>
  refs.length === 0 ? [] : extractRefs(JSON.parse(json))

/**
 * A call whose payloads are texts, masked. Where a rule goes by a path, the span as it came has a copy of the value that
 * the path does not name: it is left out.
 * @param before hits of the masker before it saw anything of the call
 * @param hasCopies some of its texts was masked for its path already
 */
export function maskedCall(masker: Masker, call: Complete, before: number, hasCopies = false): Complete {
  let isCopied = hasCopies
  const masked = (field: 'inputs' | 'output' | 'attributes' | 'summary' | 'otel_dump', json: unknown): string => {
    if (json === '') return ''
    const { text, isByPath } = masker.json(field, json as string)
    isCopied ||= isByPath
    return text
  }
  const texts = {
    inputs: masked('inputs', call.inputs),
    output: masked('output', call.output),
    attributes: masked('attributes', call.attributes),
    summary: masked('summary', call.summary),
  }
  const otelDump = isCopied ? '' : masked('otel_dump', call.otelDump)
  return {
    ...withMaskedHead(masker, call, before),
    ...texts,
    inputRefs: refsLeft(call.inputRefs, texts.inputs),
    outputRefs: refsLeft(call.outputRefs, texts.output),
    otelDump,
  }
}

const knownEvents = new Set(joinedEventNames)

/** A log record with its texts masked, but for names of events that are known: by them the parts of calls are found. */
export function maskedLog(masker: Masker, row: LogRow): LogRow {
  const json = new Set(row.attributes.json)
  const values = [...row.attributes.values].map(([name, text]): [string, string] => [
    name,
    masker.text('logs', text, name).text,
  ])
  const parsed = (text: string) => masker.json('logs', text).text
  return {
    ...row,
    severityText: masker.text('logs', row.severityText).text,
    eventName: knownEvents.has(row.eventName) ? row.eventName : masker.text('logs', row.eventName).text,
    body: row.isBodyJson ? parsed(row.body) : masker.text('logs', row.body).text,
    attributes: { values: new Map(values), json: [...json] },
    resource: row.resource === '' ? '' : parsed(row.resource),
    scope: row.scope === '' ? '' : parsed(row.scope),
  }
}
