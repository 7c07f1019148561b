// Variables in messages: a safe subset of Python's format language, in a single pass.
import { isLosslessObject, stringifyLossless } from '../core/json/lossless.ts'

/** The template cannot be filled: its message says why. */
export class TemplateError extends Error {}

class TooLong extends TemplateError {
  constructor() {
    super('The messages become too large')
  }
}

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

/** Length that all texts of a request may grow to together. */
type Room = { left: number }

function take(room: Room, part: string): string {
  room.left -= part.length
  if (room.left < 0) throw new TooLong()
  return part
}

/** @throws TemplateError unless every brace of the text is one of a template */
function fillTemplate(text: string, variables: Variables, room: Room): string {
  const parts: string[] = []
  for (let i = 0; i < text.length; ) {
    const c = text[i] as string
    if (c !== '{' && c !== '}') {
      brace.lastIndex = i
      const end = brace.exec(text)?.index ?? text.length
      parts.push(take(room, text.slice(i, end)))
      i = end
    } else if (text[i + 1] === c) {
      parts.push(take(room, c))
      i += 2
    } else if (c === '}') throw malformed("a single '}'")
    else {
      const end = closingBrace(text, i + 1)
      parts.push(take(room, fieldText(text.slice(i + 1, end), variables)))
      i = end + 1
    }
  }
  return parts.join('')
}

/** Author of a text: a template reports missing variables, text that somebody wrote beside variables is his own. */
export type Author = 'template' | 'user'

/** Braces in pairs, or a field whose format cannot be a member's value in a program. */
const plainField =
  /\{\{([^{}]*)\}\}|\{(([^\s.[\]{}!:]+)(?:\.[^\s.[\]{}!:]+|\[[^[\]{}]+\])*)(?:![rsa])?(?::[^\s{}.<>^%]*[.<>^%][^\s{}]*)?\}/g
const identifier = /^[\p{L}_][\p{L}\p{N}_]*$/u

/** Fills the fields of a text that has other braces, too: these stay. @throws TemplateError for what a template lacks */
function fillAmongBraces(text: string, variables: Variables, room: Room, author: Author): string {
  take(room, text)
  return text.replaceAll(plainField, (whole: string, escaped?: string, path?: string, name?: string) => {
    if (path === undefined || name === undefined) return author === 'template' ? `{${escaped}}` : whole
    if (!Object.hasOwn(variables, name) && (author === 'user' || !identifier.test(name))) return whole
    try {
      return take(room, fieldText(path, variables))
    } catch (error) {
      if (author === 'user' && error instanceof TemplateError && !(error instanceof TooLong)) return whole
      throw error
    }
  })
}

function fill(text: string, variables: Variables, room: Room, author: Author): string {
  if (!text.includes('{') && !text.includes('}')) return text
  const { left } = room
  try {
    return fillTemplate(text, variables, room)
  } catch (error) {
    if (!(error instanceof TemplateError) || error instanceof TooLong) throw error
    room.left = left
    return fillAmongBraces(text, variables, room, author)
  }
}

function fillFields(value: Record<string, unknown>, fillText: (text: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === 'string') return [name, fillText(member)]
      if (!Array.isArray(member)) return [name, member]
      return [name, member.map((item: unknown) => (isLosslessObject(item) ? fillFields(item, fillText) : item))]
    }),
  )
}

/**
 * The messages with their replacement fields filled: in every text of a message, and of objects in lists in it. Messages
 * of the assistant stay as they are. Values that were filled in are not read again. Texts that are no templates as a whole
 * keep all braces but those around names of variables.
 * @param variables values as `parseLossless` gives them
 * @param maxLength bound of the characters of all filled texts
 * @param authorOf whose message it is, by its place
 * @throws TemplateError
 */
export function fillMessages(
  messages: readonly unknown[],
  variables: Variables,
  maxLength: number,
  authorOf: (place: number) => Author = () => 'template',
): unknown[] {
  const room = { left: maxLength }
  return messages.map((message, place) =>
    isLosslessObject(message) && message.role !== 'assistant'
      ? fillFields(message, (text) => fill(text, variables, room, authorOf(place)))
      : message,
  )
}
