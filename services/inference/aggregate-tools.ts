// Tool calls of a stream: which piece belongs to which call. Providers number them, or give ids, or neither.
import { isLosslessObject, stringifyLossless } from '../core/json/lossless.ts'
import { grow, type JsonFields } from './aggregate-values.ts'

type Call = {
  /** Place in the order. */
  place: number
  id: string | undefined
  name: string | undefined
  arguments: string
  closes: ReturnType<typeof createCloses>
  /** Members beside the function, and of the function beside name and arguments. */
  rest: JsonFields
  ofFunction: JsonFields
}

/** Follows a JSON object that comes in pieces. */
function createCloses() {
  let depth = 0
  let isText = false
  let isEscaped = false
  let hasBegun = false
  return {
    add(piece: string): void {
      for (let i = 0; i < piece.length; i++) {
        const c = piece[i]
        if (isEscaped) isEscaped = false
        else if (isText) {
          isEscaped = c === '\\'
          isText = c !== '"'
        } else if (c === '"') isText = true
        else if (c === '{' || c === '[') {
          depth++
          hasBegun = true
        } else if (c === '}' || c === ']') depth--
      }
    },
    isOpen: () => hasBegun && depth > 0,
    isClosed: () => hasBegun && depth <= 0,
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const idIn = ({ id }: JsonFields): string | undefined => (typeof id === 'number' ? String(id) : textIn(id))

const nameIn = (item: JsonFields): string | undefined =>
  [item.function, item.custom]
    .map((called) => (isLosslessObject(called) ? textIn(called.name) : undefined))
    .find(Boolean)

/** The text of arguments; those that came as values are whole. */
function argumentsIn({ function: called }: JsonFields): { text: string; isWhole: boolean } {
  const sent = isLosslessObject(called) ? called.arguments : undefined
  if (typeof sent === 'string') return { text: sent, isWhole: false }
  if (typeof sent !== 'object' || sent === null) return { text: '', isWhole: false }
  try {
    return { text: stringifyLossless(sent), isWhole: true }
  } catch {
    // Nested too deep to be written.
    return { text: '', isWhole: true }
  }
}

export function createToolCalls() {
  const calls: Call[] = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()
  let last: Call | undefined

  /** Whether a piece goes on with the call that came before it. @param isKeyed it has an id that nothing has had yet */
  function goesOn(
    { id, name: begun, closes }: Call,
    name: string | undefined,
    text: string,
    isKeyed: boolean,
  ): boolean {
    // Some give every piece an id of its own.
    if (name === undefined) return !isKeyed || !closes.isClosed()
    if (begun === undefined) return !isKeyed || id === undefined
    if (name !== begun) return false
    if (closes.isOpen() && !text.startsWith('{')) return true
    return !isKeyed && (!closes.isClosed() || text === '')
  }

  /** The call that a piece goes on with; undefined: it begins one. */
  function begunBy(item: JsonFields, keyed: string | undefined, index: number | undefined): Call | undefined {
    const name = nameIn(item)
    const { text } = argumentsIn(item)
    const known = keyed === undefined ? undefined : byId.get(keyed)
    // One id for all calls names none of them.
    if (known !== undefined)
      return known.closes.isClosed() && name !== undefined && text !== '' && text !== known.arguments
        ? undefined
        : known
    const before = index === undefined ? last : byIndex.get(index)
    return before !== undefined && goesOn(before, name, text, keyed !== undefined) ? before : undefined
  }

  function newCall(index: number | undefined): Call {
    const place = index ?? last?.place ?? 0
    const call: Call = {
      place,
      id: undefined,
      name: undefined,
      arguments: '',
      closes: createCloses(),
      rest: {},
      ofFunction: {},
    }
    calls.push(call)
    if (index !== undefined) byIndex.set(index, call)
    return call
  }

  function add(item: JsonFields, place: number | undefined): void {
    const id = idIn(item)
    const isNumbered = typeof item.index === 'number'
    const index = isNumbered ? (item.index as number) : place
    const keyed = id === undefined ? undefined : `${isNumbered ? index : ''}:${id}`
    const call = begunBy(item, keyed, index) ?? newCall(index)
    last = call
    if (keyed !== undefined) byId.set(keyed, call)
    call.id = call.id || id || (item.id === '' ? '' : undefined)
    call.name ??= nameIn(item)
    const { text, isWhole } = argumentsIn(item)
    // Arguments that are whole may come again, all of them.
    if (isWhole) call.arguments = text
    else if (!call.closes.isClosed() || text !== call.arguments) call.arguments += text
    call.closes.add(text)
    const { id: _id, index: _index, function: called, ...rest } = item
    grow(call.rest, rest)
    if (!isLosslessObject(called)) return
    const { name: _name, arguments: _arguments, ...ofFunction } = called
    grow(call.ofFunction, ofFunction)
  }

  return {
    /** @param sent `tool_calls` of a delta */
    add(sent: unknown): void {
      const items = (Array.isArray(sent) ? sent : [sent]).filter(isLosslessObject)
      for (const [place, item] of items.entries()) add(item, items.length > 1 ? place : undefined)
    },
    /** Those that have a name, in their order. */
    all: (): JsonFields[] =>
      calls
        .filter(({ name }) => name !== undefined)
        .sort((a, b) => a.place - b.place)
        .map(({ id, name, rest, ofFunction, ...call }) => ({
          ...(id === undefined ? {} : { id }),
          type: 'function',
          ...rest,
          ...('custom' in rest ? {} : { function: { name, arguments: call.arguments, ...ofFunction } }),
        })),
  }
}
