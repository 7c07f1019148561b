// Checks and rewrites JSON text against a described class, member by member, so that numbers stay as they were sent.

import { fault } from '../../core/http/errors.ts'
import { floatText, items, members } from '../../core/json/canonical.ts'

/** Takes the JSON text of a value and its place (for the reason text), gives the JSON text to store; throws Fault 400. */
export type Shape = (text: string, at: string) => string

const refuse = (at: string, wanted: string) => fault(400, `${at} must be ${wanted}`)

export const string: Shape = (text, at) => {
  if (text[0] !== '"') throw refuse(at, 'a string')
  return text
}

export const boolean: Shape = (text, at) => {
  if (text !== 'true' && text !== 'false') throw refuse(at, 'true or false')
  return text
}

export const integerShape: Shape = (text, at) => {
  if (!/^-?\d+$/.test(text)) throw refuse(at, 'an integer')
  return text
}

/** A number, stored as a float whatever form it came in. */
export const floatShape: Shape = (text, at) => {
  if (!/^-?\d/.test(text)) throw refuse(at, 'a number')
  const value = Number(text)
  if (!Number.isFinite(value)) throw refuse(at, 'a finite number')
  return floatText(value)
}

export const object: Shape = (text, at) => {
  if (text[0] !== '{') throw refuse(at, 'an object')
  return text
}

export const oneOf =
  (...values: string[]): Shape =>
  (text, at) => {
    if (text[0] !== '"' || !values.includes(JSON.parse(text) as string)) throw refuse(at, `one of ${values.join(', ')}`)
    return text
  }

export const nullable =
  (shape: Shape): Shape =>
  (text, at) =>
    text === 'null' ? text : shape(text, at)

/** The first of two shapes that fits. */
export const either =
  (first: Shape, second: Shape): Shape =>
  (text, at) => {
    try {
      return first(text, at)
    } catch {
      return second(text, at)
    }
  }

export const array =
  (item: Shape): Shape =>
  (text, at) => {
    const found = items(text)
    if (found === null) throw refuse(at, 'an array')
    return `[${found.map((one, i) => item(one, `${at}[${i}]`)).join(',')}]`
  }

/** A plain map; unlike a model it gets no class data. */
export const map =
  (value: Shape, key: (name: string, at: string) => void = () => undefined): Shape =>
  (text, at) => {
    const found = members(text)
    if (found === null) throw refuse(at, 'an object')
    const kept = [...found].map(([name, one]) => {
      key(name, at)
      return `${JSON.stringify(name)}:${value(one, `${at}.${name}`)}`
    })
    return `{${kept.join(',')}}`
  }

/** A further condition on the parsed value. */
export const where =
  (shape: Shape, holds: (value: never) => boolean, wanted: string): Shape =>
  (text, at) => {
    const kept = shape(text, at)
    if (!holds(JSON.parse(text) as never)) throw refuse(at, wanted)
    return kept
  }

/** A member of a model: required unless it has a default, which is JSON text. */
export type ShapeField = { shape: Shape; byDefault?: string }

export const required = (shape: Shape): ShapeField => ({ shape })
/** Null when absent, and null is allowed. */
export const optional = (shape: Shape): ShapeField => ({ shape: nullable(shape), byDefault: 'null' })
export const defaulted = (shape: Shape, byDefault: string): ShapeField => ({ shape, byDefault })

export type Model = {
  name: string
  /** Superclass names up to and including BaseModel. */
  bases: readonly string[]
  fields: Record<string, ShapeField>
  /** Handling of members that the model does not know. Default drop. */
  unknown?: 'drop' | 'keep' | 'refuse'
}

const classData = new Set(['_type', '_class_name', '_bases'])

/** Rebuilds a modelled object: known members in the model's order, defaults filled in, class data last. */
export const model =
  ({ name, bases, fields, unknown = 'drop' }: Model): Shape =>
  (text, at) => {
    const found = members(text)
    if (found === null) throw refuse(at, 'an object')
    const kept: string[] = []
    for (const [key, { shape, byDefault }] of Object.entries(fields)) {
      const sent = found.get(key) ?? byDefault
      if (sent === undefined) throw fault(400, `${at}.${key} is required`)
      kept.push(`"${key}":${shape(sent, `${at}.${key}`)}`)
    }
    for (const [key, sent] of found) {
      if (unknown === 'drop' || Object.hasOwn(fields, key) || classData.has(key)) continue
      if (unknown === 'refuse') throw fault(400, `${at}.${key} is not known`)
      kept.push(`${JSON.stringify(key)}:${sent}`)
    }
    kept.push(`"_type":"${name}"`, `"_class_name":"${name}"`, `"_bases":${JSON.stringify(bases)}`)
    return `{${kept.join(',')}}`
  }
