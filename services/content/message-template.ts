// Variables in messages: a safe subset of Python's format language, in a single pass.
import { isLosslessObject, stringifyLossless } from '../core/json/lossless.ts'

/** The template cannot be filled: its message says why. */
export class TemplateError extends Error {}

type Variables = Record<string, unknown>

const fieldForm = /^([^.[\]{}!:]+)((?:\.[^.[\]]+|\[[^[\]]+\])*)$/
const brace = /[{}]/g
const stepForm = /\.([^.[\]]+)|\[([^[\]]+)\]/g

const malformed = (why: string): TemplateError => new TemplateError(`Malformed template: ${why}`)

/** The member or item that a step of a path names; only what the value itself holds. */
function step(value: unknown, key: string, path: string): unknown {
  if (Array.isArray(value)) {
    if (/^\d{1,9}$/.test(key) && Number(key) < value.length) return value[Number(key)]
  } else if (isLosslessObject(value) && Object.hasOwn(value, key)) return value[key]
  throw new TemplateError(`Template variable '${path}' has no part '${key}'`)
}

/** Text of the variable that a replacement field names, without its braces. */
function fieldText(field: string, variables: Variables): string {
  // Format and conversion are not part of the subset: they are read over.
  const path = /^(?:[^[!:]|\[[^\]]*\])*/.exec(field)?.[0] ?? ''
  if (field[path.length] === '[') throw malformed("'[' is never closed")
  const [, name, steps = ''] = fieldForm.exec(path) ?? []
  if (name === undefined) throw malformed(path === '' ? 'a field without a name' : `'${path}' names no variable`)
  if (/^\d+$/.test(name)) throw malformed(`'${name}' is a position; variables have names`)
  if (!Object.hasOwn(variables, name)) {
    const available = Object.keys(variables).sort().join(', ')
    throw new TemplateError(`Template variable '${name}' is missing; available: ${available}`)
  }
  let value = variables[name]
  for (const [, attribute, key] of steps.matchAll(stepForm)) value = step(value, (attribute ?? key) as string, path)
  return typeof value === 'string' ? value : stringifyLossless(value)
}

/** Index of the brace that closes the field whose content begins at `from`; fields may stand inside a format. */
function closingBrace(text: string, from: number): number {
  let depth = 1
  for (let i = from; i < text.length; i++) {
    const c = text[i]
    if (c === '{') depth++
    else if (c === '}' && --depth === 0) return i
  }
  throw malformed("'{' is never closed")
}

/** What all texts of a request may grow to together. */
type Room = { left: number }

function fill(text: string, variables: Variables, room: Room): string {
  if (!text.includes('{') && !text.includes('}')) return text
  const parts: string[] = []
  const add = (part: string) => {
    room.left -= part.length
    if (room.left < 0) throw new TemplateError('The messages become too large')
    parts.push(part)
  }
  for (let i = 0; i < text.length; ) {
    const c = text[i] as string
    if (c !== '{' && c !== '}') {
      brace.lastIndex = i
      const end = brace.exec(text)?.index ?? text.length
      add(text.slice(i, end))
      i = end
    } else if (text[i + 1] === c) {
      add(c)
      i += 2
    } else if (c === '}') throw malformed("a single '}'")
    else {
      const end = closingBrace(text, i + 1)
      add(fieldText(text.slice(i + 1, end), variables))
      i = end + 1
    }
  }
  return parts.join('')
}

function fillFields(value: Record<string, unknown>, variables: Variables, room: Room): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === 'string') return [name, fill(member, variables, room)]
      if (!Array.isArray(member)) return [name, member]
      return [name, member.map((item: unknown) => (isLosslessObject(item) ? fillFields(item, variables, room) : item))]
    }),
  )
}

/**
 * The messages with their replacement fields filled: in every text of a message, and of objects in lists in it. Messages
 * of the assistant stay as they are. Values that were filled in are not read again.
 * @param variables values as `parseLossless` gives them
 * @param maxLength bound of the characters of all filled texts
 * @throws TemplateError
 */
export function fillMessages(messages: readonly unknown[], variables: Variables, maxLength: number): unknown[] {
  const room = { left: maxLength }
  return messages.map((message) =>
    isLosslessObject(message) && message.role !== 'assistant' ? fillFields(message, variables, room) : message,
  )
}
