// Finds the spans of a trace that are the tools which the messages of one of its calls ask for.
import type { Message, Part } from './message-parts.ts'
import { idAt } from './span-columns.ts'
import { kindOfSpan, type Tree } from './tree.ts'

type ToolCall = Extract<Part, { is: 'call' }>

/** Whether a span's name says that it is the tool: alone, behind OpenTelemetry's word for it, or behind a class. */
function isTool(span: string, tool: string): boolean {
  if (!span.endsWith(tool)) return false
  const before = span.slice(0, span.length - tool.length)
  return before === '' || /^execute_tool[ _]$/.test(before) || /^[\w.]+\.$/.test(before)
}

/** Calls of tools in the order in which they were asked for, and which of them have their answer among the messages. */
function callsOf(messages: readonly Message[]): { part: ToolCall; isAnswered: boolean }[] {
  const found: { part: ToolCall; isAnswered: boolean }[] = []
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.is === 'call') found.push({ part, isAnswered: false })
    if (part.is !== 'answer') continue
    const asked = found.find(
      (one) =>
        !one.isAnswered &&
        (part.id !== null && one.part.id !== null
          ? one.part.id === part.id
          : part.name === null || part.name === one.part.name),
    )
    if (asked) asked.isAnswered = true
  }
  return found
}

/**
 * Ids of spans by the part that asks for them. A tool whose answer is in the messages ran before the call ended: the
 * last requested one is the last one that ran. A tool without an answer ran after the call began: the first one first.
 */
export function toolSpans(tree: Tree, line: number, messages: readonly Message[]): ReadonlyMap<Part, string> {
  const found = new Map<Part, string>()
  const { spans } = tree
  const self = tree.order[line]
  if (self === undefined) return found
  const from = spans.start[self] as number
  const lasted = spans.duration[self] as number
  const until = lasted < 0 ? Number.POSITIVE_INFINITY : from + lasted
  const calls = callsOf(messages)
  /** Notes which spans the calls led to: the first one the first, and so on. */
  const put = (asked: typeof calls, ran: readonly number[]) => {
    for (const [n, { part }] of asked.entries()) {
      const span = ran[n]
      if (span !== undefined) found.set(part, idAt(spans.ids, span))
    }
  }
  for (const name of new Set(calls.map(({ part }) => part.name))) {
    const texts = spans.names.texts.map((text) => isTool(text, name))
    if (!texts.includes(true)) continue
    const named: number[] = []
    for (let span = 0; span < spans.count; span++)
      if (span !== self && texts[spans.names.places[span] as number] && kindOfSpan(spans, span) !== 'llm')
        named.push(span)
    named.sort((one, other) => (spans.start[one] as number) - (spans.start[other] as number))
    const before = named.filter((span) => (spans.start[span] as number) < until)
    const after = named.filter((span) => (spans.start[span] as number) >= from)
    const own = calls.filter(({ part }) => part.name === name)
    put(own.filter(({ isAnswered }) => isAnswered).toReversed(), before.toReversed())
    const taken = new Set(found.values())
    const free = after.filter((span) => !taken.has(idAt(spans.ids, span)))
    put(
      own.filter(({ isAnswered }) => !isAnswered),
      free,
    )
  }
  return found
}
