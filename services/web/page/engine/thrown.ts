// Reads the exception of a call: type, message and stack, from whatever convention sent them.

export type Thrown = {
  /** Empty where only a message is known. */
  type: string
  message: string
  /** The stack as it was sent; empty without one. */
  stack: string
}

type Members = Record<string, unknown>

/** Longer stacks end here. */
const maxStack = 100_000
const maxMessage = 20_000
const maxType = 400
/** More of one call are not told. */
const maxThrown = 10

/** Beginnings of a stack in a text, by language. */
const stackStarts: readonly RegExp[] = [
  // Python
  /Traceback \(most recent call last\):/,
  // JavaScript, Java, Kotlin, C#
  /\n[ \t]+at \S/,
  // Go
  /(?:^|\n)goroutine \d+ \[/,
  // Rust
  /(?:^|\n)stack backtrace:/,
  // PHP
  /\n(?:Stack trace:\n)?#\d+ \S/,
  // Ruby
  /\n[ \t]*(?:from )?\S+:\d+:in [`']/,
]
const python = /^Traceback \(most recent call last\):/

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

/** `ValueError: no such order`: names of types end like one, or have dots. */
function headOf(text: string): Pick<Thrown, 'type' | 'message'> {
  const [, type = '', message = ''] =
    /^(?:Uncaught |Unhandled )?(?:\(in promise\) )?([A-Za-z_$][\w$]*(?:(?:\.|::|\\)[\w$]+)*)(?::\s+([\s\S]*))?$/.exec(
      text.trim(),
    ) ?? []
  const isType = /(?:Error|Exception|Exit|Interrupt|Iteration|Warning|Fault|Failure|Panic|Timeout)$|\w[.\\:]+\w/.test(
    type,
  )
  return isType && /[A-Z]/.test(type) ? { type, message } : { type: '', message: text.trim() }
}

/** A traceback of Python ends with what was thrown: the lines behind the code of its last frame. */
function endOfTraceback(stack: string): string {
  const lines = stack.split('\n')
  let at = lines.findLastIndex((line) => /^\s+File "/.test(line)) + 1
  while (at < lines.length && /^\s+\S/.test(lines[at] ?? '')) at++
  return lines.slice(at).join('\n').trim()
}

function ofText(text: string): Thrown {
  const starts = stackStarts.flatMap((start) => start.exec(text)?.index ?? [])
  if (starts.length === 0) return { ...headOf(text.slice(0, maxMessage)), stack: '' }
  const at = Math.min(...starts)
  const before = text.slice(0, at).trim()
  const stack = text.slice(at).replace(/^\n/, '')
  const said = python.test(stack) && before === '' ? endOfTraceback(stack) : before
  const head = headOf(said.slice(0, maxMessage))
  return { ...head, stack: stack.slice(0, maxStack) }
}

type Frame = { file: string; line: string; name: string; code: string }

/** Weave's, and those of Sentry, which stand oldest first as well. */
const frameOf = (frame: Members): Frame => ({
  file: textOf(frame.filename ?? frame.abs_path ?? frame.file),
  line: textOf(frame.line_number ?? frame.lineno ?? frame.line),
  name: textOf(frame.function_name ?? frame.function ?? frame.name),
  code: textOf(frame.text ?? frame.context_line ?? frame.code).trim(),
})

function stackOf(value: unknown): string {
  const frames = isObject(value) ? value.frames : value
  if (!Array.isArray(frames)) return textOf(value)
  const lines = frames.map((frame) => {
    if (!isObject(frame)) return textOf(frame)
    const { file, line, name, code } = frameOf(frame)
    return `  ${file}${line && `:${line}`}${name && ` in ${name}`}${code && `\n    ${code}`}`
  })
  return lines.join('\n')
}

/** Names that members have, by convention; the first that is there counts. */
const names = {
  type: ['type', 'name', 'class', 'error_type', 'exc_type'],
  message: ['message', 'value', 'msg', 'description', 'detail'],
  stack: ['stacktrace', 'stack', 'traceback', 'stack_trace', 'stackTrace', 'trace'],
} as const

const firstOf = (members: Members, of: readonly string[]): unknown =>
  of.map((name) => members[name]).find((value) => value !== undefined && value !== null && value !== '')

/** An object that says what was thrown; undefined for any other. */
function ofObject(members: Members): Thrown | undefined {
  const stack = stackOf(firstOf(members, names.stack)).slice(0, maxStack)
  const said = textOf(firstOf(members, names.message)).slice(0, maxMessage)
  const type = textOf(firstOf(members, names.type)).slice(0, maxType)
  if (said === '' && stack === '') return undefined
  // The message, or the stack, may hold the others.
  const head = ofText(said)
  const inStack = stack === '' ? undefined : ofText(stack)
  return {
    type: type || head.type || (inStack?.type ?? ''),
    message:
      (type && head.type !== type ? said.slice(0, said.length - head.stack.length).trim() : head.message) ||
      (inStack?.message ?? ''),
    stack: stack || head.stack,
  }
}

/** Type and message of JSON whose end was cut off: they come before the frames. */
function ofCutJson(text: string): Thrown | undefined {
  const said = (name: string): string => {
    const quoted = new RegExp(
      `^[{,\\s]*(?:"type"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*,\\s*)?"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`,
    ).exec(text)
    return quoted?.[1] === undefined ? '' : (JSON.parse(quoted[1]) as string)
  }
  try {
    const message = said('message').trim().slice(0, maxMessage)
    return message === '' ? undefined : { type: said('type').slice(0, maxType), message, stack: '' }
  } catch {
    // Escapes that JSON does not have.
    return undefined
  }
}

/** A value as whatever convention writes it: a text, JSON in a text, an object, a list of them (Sentry's `values`). */
function ofValue(value: unknown): Thrown[] {
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === '') return []
    if (text.startsWith('{'))
      try {
        const found = ofValue(JSON.parse(text))
        if (found.length > 0) return found
      } catch {
        const found = ofCutJson(text)
        if (found !== undefined) return [found]
      }
    return [ofText(text)]
  }
  if (Array.isArray(value)) return value.flatMap(ofValue)
  if (!isObject(value)) return []
  if (Array.isArray(value.values)) return value.values.flatMap(ofValue)
  const thrown = ofObject(value)
  return thrown === undefined ? [] : [thrown]
}

/** Members that attributes have by path, whether they are nested or have dots in their names. */
function within(attributes: unknown, path: string): unknown {
  if (!isObject(attributes)) return undefined
  if (path in attributes) return attributes[path]
  const found = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), attributes)
  if (found !== undefined) return found
  const start = `${path}.`
  const flat = Object.entries(attributes).filter(([name]) => name.startsWith(start))
  return flat.length === 0
    ? undefined
    : Object.fromEntries(flat.map(([name, value]) => [name.slice(start.length), value]))
}

/** Places of exceptions in conventions. */
const places = [
  // OpenTelemetry, on the span and of later versions; Sentry
  'exception',
  'error',
  // Langfuse
  'langfuse.observation.status_message',
  'status_message',
] as const

function ofAttributes(attributes: unknown): Thrown[] {
  return places.flatMap((path) => {
    const value = within(attributes, path)
    // `error: true`, and `error.type` alone, say that something failed and not what.
    return typeof value === 'boolean' ? [] : ofValue(value)
  })
}

function ofEvents(span: unknown): Thrown[] {
  const events = isObject(span) ? span.events : undefined
  if (!Array.isArray(events)) return []
  return events.flatMap((event) =>
    isObject(event) && /(?:^|\.)exception$/.test(textOf(event.name))
      ? ofValue(within(event.attributes, 'exception'))
      : [],
  )
}

/** Whether one says all that the other does. */
function isTold(thrown: Thrown, by: Thrown): boolean {
  if (thrown.stack !== '' && !by.stack.includes(thrown.stack.trim())) return false
  const whole = `${by.type}: ${by.message}`
  return (
    (thrown.message === '' || whole.includes(thrown.message)) && (thrown.type === '' || whole.includes(thrown.type))
  )
}

/** The exception in one text of a call. */
const thrownOfText = (text: string): Thrown | undefined => ofValue(text)[0]

/** @param record of a call: its exception, and what its attributes hold */
export function thrownOf({ exception, attributes }: { exception?: unknown; attributes?: unknown }): Thrown[] {
  const span = within(attributes, 'otel_span')
  const all = [
    ...ofEvents(span),
    ...ofAttributes(isObject(span) ? span.attributes : undefined),
    ...ofAttributes(attributes),
    ...ofValue(exception),
  ]
  const kept: Thrown[] = []
  // Exceptions with a stack come first.
  for (const one of all.toSorted((a, b) => Number(b.stack !== '') - Number(a.stack !== ''))) {
    if (kept.length === maxThrown) break
    if (!kept.some((other) => isTold(one, other))) kept.push(one)
  }
  return kept
}

/** The exception in one line, as lists show it. */
export function lineOfThrown(text: string): string {
  const [first = ''] = text.trimStart().split('\n', 1)
  const thrown = thrownOfText(text)
  if (thrown === undefined || (thrown.type === '' && thrown.message === '')) return first
  const [message = ''] = thrown.message.split('\n', 1)
  return thrown.type === '' ? message : message === '' ? thrown.type : `${thrown.type}: ${message}`
}
