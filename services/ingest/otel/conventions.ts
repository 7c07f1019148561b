// The tables of the instrumentation conventions, with the paths where their keys may lie in a tree of attributes.
import { threadNames } from '../../events/record-names.ts'
import {
  type AddedKey,
  addedInputKeys,
  addedOutputKeys,
  addedUsageKeys,
  attributeKeys,
  type ContentEvent,
  contentEvents,
  countingKeys,
  describedKeys,
  describingKeys,
  detailKeys,
  furtherKeys,
  inputKeys,
  messageKeys,
  outputKeys,
  personKeys,
  type UsageField,
  usageKeys,
} from './convention-keys.ts'

/** A key to look for: under which name its value is kept, and the paths where it may lie. */
export type Source = {
  key: string
  paths: string[][]
  /** Members that describe what lies there. An object counts for its numbered members alone then, without these. */
  described?: readonly string[]
}

type AddedSource = { source: Source; beside?: Source; item?: string[]; needs?: Source; is?: readonly string[] }

/** Sources of one target, the first present one wins. */
type Target = { target: string; sources: Source[] }

export type Conventions = {
  attributes: Target[]
  inputs: Source[]
  output: Source[]
  messages: { inputs: Source[]; output: Source[] }
  usage: { field: UsageField; sources: Source[] }[]
  further: { field: UsageField; sources: Source[] }[]
  counting: Record<keyof typeof countingKeys, Source[]>
  conversation: Source[]
  /** Keys for parts that the other tables leave empty. */
  added: {
    inputs: AddedSource[]
    output: AddedSource[]
    usage: Conventions['usage']
    operation: Source[]
    describing: Target[]
    /** The method of a call over MCP, which may say nothing else of what it is. */
    method: Source[]
    messages: Source[]
    /** Details by the first and the second segment of their paths: most spans have few of them. */
    details: Map<string, Map<string, Target[]>>
    person: Target[]
    session: Source[]
  }
  /** Keys of the vendor namespaces, by their name without namespace. */
  vendor: {
    displayName: Source[]
    threadId: Source[]
    isTurn: Source[]
    attributes: Source[]
    runId: Source[]
    runStep: Source[]
    runStepEnd: Source[]
  }
  startTime: Source
  endTime: Source
  /** The value of each event, and the members beside it. */
  content: Record<'inputs' | 'output', { event: string; sources: Source[] }[]>
}

function bySegments(targets: Target[]): Map<string, Map<string, Target[]>> {
  const heads = new Map<string, Map<string, Target[]>>()
  for (const target of targets)
    for (const [first = '', second = ''] of target.sources.flatMap(({ paths }) => paths)) {
      const named = heads.get(first) ?? new Map<string, Target[]>()
      heads.set(first, named.set(second, [...(named.get(second) ?? []), target]))
    }
  return heads
}

export type ConventionOptions = {
  /** Vendor namespaces of attribute keys. */
  vendorNamespaces: readonly string[]
  /** Prefix of the run fields: `platform`, `wb`. */
  wirePrefix: string
  /** `weave.X` counts before `gen_ai.X`. */
  weaveFirst: boolean
}

export function createConventions({ vendorNamespaces, wirePrefix, weaveFirst }: ConventionOptions): Conventions {
  const source = (key: string): Source => {
    const paths = [key.split('.')]
    if (weaveFirst && key.startsWith('gen_ai.')) paths.unshift(['weave', ...key.slice(7).split('.')])
    const described = describedKeys[key]
    return { key, paths, ...(described !== undefined && { described }) }
  }
  const fields = (table: Partial<Record<UsageField, readonly string[]>>) =>
    Object.entries(table).map(([field, keys]) => ({ field: field as UsageField, sources: keys.map(source) }))
  const targets = (table: Record<string, readonly string[]>): Target[] =>
    Object.entries(table).map(([target, keys]) => ({ target, sources: keys.map(source) }))
  const added = (keys: AddedKey[]): AddedSource[] =>
    keys.map((one) => {
      if (typeof one === 'string') return { source: source(one) }
      const { key, beside, item, needs, is } = one
      return {
        source: source(key),
        ...(beside !== undefined && { beside: source(beside) }),
        ...(item !== undefined && { item: item.split('.') }),
        ...(needs !== undefined && { needs: source(needs) }),
        ...(is !== undefined && { is }),
      }
    })
  const contents = (events: ContentEvent[]) =>
    events.map(({ event, key, beside }) => ({
      event,
      sources: [key, ...(beside === undefined ? [] : [beside])].map(source),
    }))
  const vendor = (...names: string[]): Source[] =>
    vendorNamespaces.flatMap((namespace) => [...new Set(names)].map((name) => source(`${namespace}.${name}`)))
  return {
    attributes: targets(attributeKeys),
    inputs: inputKeys.map(source),
    output: outputKeys.map(source),
    messages: { inputs: messageKeys.inputs.map(source), output: messageKeys.output.map(source) },
    usage: fields(usageKeys),
    further: fields(furtherKeys),
    counting: {
      provider: countingKeys.provider.map(source),
      vercelProvider: countingKeys.vercelProvider.map(source),
      vercelDetails: countingKeys.vercelDetails.map(source),
      vercelReported: countingKeys.vercelReported.map(source),
      reasoning: countingKeys.reasoning.map(source),
    },
    conversation: threadNames.conversation.map(source),
    added: {
      inputs: added(addedInputKeys),
      output: added(addedOutputKeys),
      usage: fields(addedUsageKeys),
      operation: ['gen_ai.operation.name', 'ai.operationId'].map(source),
      describing: targets(describingKeys),
      method: [source('mcp.method.name')],
      messages: [source('gen_ai.output.messages')],
      details: bySegments(targets(detailKeys)),
      person: targets(personKeys),
      session: threadNames.session.map(source),
    },
    vendor: {
      displayName: vendor('display_name'),
      threadId: vendor(threadNames.vendor),
      isTurn: vendor('is_turn'),
      attributes: vendor('attributes'),
      runId: vendor('wb_run_id', `${wirePrefix}_run_id`, 'run_id'),
      runStep: vendor('wb_run_step', `${wirePrefix}_run_step`, 'run_step'),
      runStepEnd: vendor('wb_run_step_end', `${wirePrefix}_run_step_end`, 'run_step_end'),
    },
    startTime: source('langfuse.startTime'),
    endTime: source('langfuse.endTime'),
    content: { inputs: contents(contentEvents.inputs), output: contents(contentEvents.output) },
  }
}
