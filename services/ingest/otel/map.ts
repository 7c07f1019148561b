// Turns one decoded span into the complete call that it becomes (specification: OTLP, sections 2 to 7).

import { hitsOf, maskedCall, maskedSpanTexts } from '../../content/masking/mask-call.ts'
import type { Masker } from '../../content/masking/masker.ts'
import { extractRefs } from '../../content/refs.ts'
import { references } from '../../content/span-dump.ts'
import type { CallFragment } from '../../events/calls.ts'
import { addDescription, addDetails, addPerson, sessionOf } from './additions.ts'
import { createDecodeBudget } from './budget.ts'
import type { Conventions, Source } from './conventions.ts'
import { dumpText } from './dump.ts'
import { type Expansion, expand } from './expand.ts'
import { withFault } from './faults.ts'
import { type FoundAttribute, present, set, textOf } from './find.ts'
import { keyOf } from './keys.ts'
import { langfuseUsage } from './langfuse-usage.ts'
import { opObjectId, shortDisplayName, shortOpName } from './names.ts'
import { type Extra, inputsOf, minReferenced, outputOf } from './payloads.ts'
import { conventionsFor } from './span-conventions.ts'
import type { Attributes, Nanos, OtlpSpan } from './spans.ts'
import { overrideUs, type SpanTimes, spanTimes } from './times.ts'
import { type SpanUsage, spanUsage, summaryText, usageEntry } from './usage.ts'
import { type Branch, branchMembers, isObject, isTruthy, jsonText, ParsedJson, type Value } from './values.ts'

export type CompleteCall = Extract<CallFragment, { kind: 'complete' }>

/** The surroundings that spans of one project, resource and scope share. */
export type SpanSurroundings = {
  projectId: string
  userId: string
  conventions: Conventions
  eventsAsIo: boolean
  /** Run named by the request or the resource, '' = none; as `runId` of a call. */
  runId: string
  /** JSON texts for the dump. */
  resource: string
  scope: string
  /** Name of the instrumentation library. */
  scopeName: string
  /** Ref of the op of this object id. */
  opRef(objectId: string): string
  /** Ref of a long text that is stored content, null to leave it inline. */
  extract(text: string): string | null
  /** Masks what the project stores; most have none. */
  masker: Masker | undefined
  /** Some number of the resource is outside of what the engine reads. */
  resourceIsNonNative: boolean
  nowMs: number
  maxBodyBytes: number
}

/** The reason why a span is refused. */
export type Rejected = { reason: string }

const traceIdForm = /^[0-9a-f]{32}$/
const spanIdForm = /^[0-9a-f]{16}$/
const zeros = /^0*$/
const isId = (form: RegExp, id: string): boolean => form.test(id) && !zeros.test(id)

/** Qualified run id, '' for names that hold a separator. */
export const runIdOf = (projectId: string, name: string): string =>
  name === '' || /[/:]/.test(name) ? '' : `${projectId}/${name}`

const expandAll = (list: { attributes: Attributes }[], found: Expansion): Branch[] =>
  list.map(({ attributes }) => expand(attributes, found))

/** Message of the first recorded exception, or its type; of a span without an error the one in its log records. */
function exceptionOf(span: OtlpSpan, extra: Extra | undefined): string {
  if (span.statusCode !== 2) return extra?.exception ?? ''
  if (span.statusMessage !== '') return span.statusMessage
  const event = span.events.find(({ name }) => name === 'exception')
  if (event !== undefined) {
    const { keys, values } = event.attributes
    for (const key of ['exception.message', 'exception.type']) {
      const text = textOf(values[keys.indexOf(key)])
      if (text !== '') return text
    }
  }
  return 'ERROR'
}

/** An integer step; 0 and everything else count as none. */
function stepOf(value: Value | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value !== 0 ? value : null
}

/** Name of the model that the usage belongs to. */
function modelOf(model: FoundAttribute | undefined, parameters: FoundAttribute | undefined): string {
  const named = textOf(model?.value)
  if (named !== '') return named
  const value = parameters?.value
  const tree = value instanceof ParsedJson ? value.open() : value
  const inner = tree instanceof Map ? tree.get('model') : undefined
  return (isTruthy(inner) ? textOf(inner) : '') || 'usage'
}

const mayHoldRefs = (text: string): boolean => text.includes('weave:') || text.includes('wandb-artifact:')

/** Refs in a JSON text. */
const refsIn = (text: string): string[] => (mayHoldRefs(text) ? extractRefs(JSON.parse(text)) : [])

function attributesText(root: Branch, own: Map<string, FoundAttribute>, conventions: Conventions): string {
  const merged = conventions.vendor.attributes.map((source) => set(root, [source])).find((value) => isStructure(value))
  if (merged !== undefined) {
    const added = merged instanceof ParsedJson ? (merged.open() as Branch) : merged
    const all: Branch = new Map()
    for (const [target, { value }] of own) all.set(target, value)
    for (const [key, value] of added) all.set(key, value)
    return `{${branchMembers(all, true, true)}}`
  }
  let text = ''
  for (const [target, { value }] of own)
    text += `${text === '' ? '' : ','}${keyOf(target).json}${jsonText(value, true, true)}`
  return `{${text}}`
}

const isStructure = (value: Value | undefined): value is Branch | ParsedJson => value !== undefined && isObject(value)

/** @param session the thread of a span that names none */
function threadOf(
  root: Branch,
  spanId: string,
  conventions: Conventions,
  session: string,
  extra?: Branch,
): { threadId: string; turnId: string } {
  const named = textOf(present(root, conventions.vendor.threadId)?.value)
  const conversation =
    textOf(present(root, conventions.conversation)?.value) ||
    (named === '' && extra !== undefined ? textOf(present(extra, conventions.conversation)?.value) : '')
  const threadId = conversation || named || session
  if (threadId === '') return { threadId, turnId: '' }
  const flags = conventions.vendor.isTurn.map((source) => set(root, [source]))
  const decided = flags.find((flag) => typeof flag === 'boolean')
  const isTurn = decided ?? (conversation !== '' || named === '' || flags.some(isTruthy))
  return { threadId, turnId: isTurn ? spanId : '' }
}

/**
 * The attributes of a call whose span says nothing that is known: all of the span's, and what else is known of it.
 * @param written those of the span as JSON text
 */
function unknownText(root: Branch, own: ReadonlyMap<string, FoundAttribute>, written: string): string {
  if (own.size === 0) return written
  const all: Branch = new Map(root)
  for (const [target, { value }] of own) if (!all.has(target)) all.set(target, value)
  return jsonText(all, true, false)
}

function invalidId(span: OtlpSpan): Rejected | null {
  if (!isId(traceIdForm, span.traceId)) return { reason: 'the trace id is invalid' }
  if (!isId(spanIdForm, span.spanId)) return { reason: 'the span id is invalid' }
  return null
}

/** The times that Langfuse writes as attributes go before the span's own. */
function timesOf(span: OtlpSpan, root: Branch, { conventions, nowMs }: SpanSurroundings): SpanTimes {
  if (!root.has('langfuse')) return spanTimes(span.start, span.end, nowMs)
  const override = (source: Source, own: Nanos): Nanos => {
    const us = overrideUs(set(root, [source]), nowMs)
    return us === null ? own : { us, rest: 0 }
  }
  return spanTimes(override(conventions.startTime, span.start), override(conventions.endTime, span.end), nowMs)
}

/** Adds the attributes of a call that a tree holds and `own` does not. */
function addAttributes(own: Map<string, FoundAttribute>, root: Branch, conventions: Conventions): void {
  for (const { target, sources } of conventions.attributes) {
    const value = own.has(target) ? null : present(root, sources)
    if (value !== null) own.set(target, value)
  }
}

/** Usage that the tables find in the span, else in what other libraries say, else in its log records. */
function usageOf(
  own: SpanUsage,
  root: Branch,
  { conventions, scopeName }: SpanSurroundings,
  extra: Extra | undefined,
): SpanUsage {
  if (own.isPresent) return own
  const added = langfuseUsage(root) ?? spanUsage(root, conventions, scopeName, conventions.added.usage)
  return added.isPresent || extra === undefined ? added : spanUsage(extra.root, conventions, scopeName)
}

/** Returns all conventions for a span with log records: these have other keys than the span. */
const conventionsOf = ({ attributes }: OtlpSpan, { conventions }: SpanSurroundings, extra: Extra | undefined) =>
  extra === undefined ? conventionsFor(conventions, attributes.keys) : conventions

/** The call of a span; of one that runs it holds no more than its start is to keep. */
export type MappedSpan = { call: CompleteCall; isRunning: boolean }

type StartedCall = Extract<CallFragment, { kind: 'start' }>

/** The stored form of a span: one that runs has begun, and only the raw span has the data of its end. */
export function fragmentOf({ call, isRunning }: MappedSpan): CompleteCall | StartedCall {
  if (!isRunning) return call
  const { endedUs, exception, runStepEnd, outputRefs, errorCount, usage, output, summary, ...begun } = call
  return { ...begun, kind: 'start' }
}

/**
 * The call of a span, or why there is none. Corrections of the span are among its faults then.
 * @param extra what else is known of the span; whatever the span says itself counts before it
 */
export function callOf(span: OtlpSpan, around: SpanSurroundings, clock: bigint, extra?: Extra): MappedSpan | Rejected {
  const invalid = invalidId(span)
  if (invalid !== null) return invalid
  const hitsBefore = hitsOf(around.masker)
  const found: Expansion = {
    extract: around.extract,
    isNonNative: around.resourceIsNonNative,
    budget: createDecodeBudget(around.maxBodyBytes),
    faults: span.faults,
  }
  const root = expand(span.attributes, found)
  const events = expandAll(span.events, found)
  const links = expandAll(span.links, found)
  const { startedUs, endedUs, isRunning, fault } = timesOf(span, root, around)
  span.faults = fault === '' ? found.faults : withFault(found.faults, 'time', fault)

  const conventions = conventionsOf(span, around, extra)
  const { vendor } = conventions
  const own = new Map<string, FoundAttribute>()
  addAttributes(own, root, conventions)
  const inputs = present(root, conventions.inputs, false, span.attributes.keys)
  const output = present(root, conventions.output)
  const ownUsage = spanUsage(root, conventions, around.scopeName)
  const isUnknown = own.size === 0 && inputs === null && output === null && !ownUsage.isPresent
  if (extra !== undefined) addAttributes(own, extra.root, conventions)
  const usage = usageOf(ownUsage, root, { ...around, conventions }, extra)
  addDescription(own, root, conventions)
  if (extra !== undefined) addDescription(own, extra.root, conventions)
  const named = usage.isPresent ? modelOf(own.get('model'), own.get('model_parameters')) : ''
  const { name, model, isByPath } = maskedSpanTexts(around.masker, span.name, named)

  const parentId = isId(spanIdForm, span.parentSpanId) ? span.parentSpanId : ''
  const sources = { span, root, events, conventions, eventsAsIo: around.eventsAsIo, extra }
  const inputsPayload = inputsOf(inputs, sources)
  const outputPayload = outputOf(output, sources)
  // A session or a user alone is not of generative AI: spans of browsers and servers carry them too.
  const isDescribed = own.size > 0 || usage.isPresent || inputsPayload.isDescribing || outputPayload.isDescribing
  if (isDescribed) {
    addPerson(own, root, conventions)
    addDetails(own, root, conventions)
    if (extra !== undefined) addDetails(own, extra.root, conventions)
  }
  const all = jsonText(root, true, false, [...inputsPayload.inDump, ...(isRunning ? [] : outputPayload.inDump)])
  const displayName = textOf(present(root, vendor.displayName)?.value)
  const call: CompleteCall = {
    kind: 'complete',
    projectId: around.projectId,
    id: span.spanId,
    clock,
    odd: found.isNonNative,
    startedUs,
    endedUs,
    traceId: span.traceId,
    parentId,
    ...threadOf(root, span.spanId, conventions, isDescribed ? sessionOf(root, conventions) : '', extra?.root),
    opName: around.opRef(opObjectId(shortOpName(name === '' ? 'unknown' : name))),
    displayName: displayName === '' ? null : shortDisplayName(displayName),
    userId: around.userId,
    runId: around.runId || runIdOf(around.projectId, textOf(present(root, vendor.runId)?.value)),
    runStep: stepOf(present(root, vendor.runStep)?.value),
    runStepEnd: stepOf(present(root, vendor.runStepEnd)?.value),
    exception: exceptionOf(span, extra),
    errorCount: 0,
    usage: usageEntry(usage, model),
    inputRefs: refsIn(inputsPayload.json),
    outputRefs: refsIn(outputPayload.json),
    attributes: isUnknown ? unknownText(root, own, all) : attributesText(root, own, conventions),
    inputs: inputsPayload.json,
    output: outputPayload.json,
    summary: summaryText(usage, model),
    otelDump: dumpText({
      span,
      parentId,
      attributes: isUnknown && own.size === 0 && all.length >= minReferenced ? references.attributes : all,
      events,
      links,
      resource: around.resource,
      scope: around.scope,
    }),
  }
  return { call: around.masker === undefined ? call : maskedCall(around.masker, call, hitsBefore, isByPath), isRunning }
}
