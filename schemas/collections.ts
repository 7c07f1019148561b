// Lists and maps of request bodies: after a hundred faults the rest is not looked at, however long it is.
import { z } from 'zod'

/** Entries of one 422 answer: more faults of one list or map are never told, so they are not collected either. */
export const maxFaults = 100

type Payload = z.core.ParsePayload
type Context = z.core.ParseContextInternal

/** Checks one element and passes its faults on. */
function check(schema: z.core.$ZodType, value: unknown, key: PropertyKey, payload: Payload, context: Context): unknown {
  // No schema of a body is asynchronous.
  const result = schema._zod.run({ value, issues: [] }, context) as Payload
  if (result.issues.length > 0)
    for (const issue of z.core.util.prefixIssues(key, result.issues)) payload.issues.push(issue)
  return result.value
}

const List = z.core.$constructor<z.ZodArray, z.core.$ZodArrayDef>('CallhouseList', (inst, def) => {
  z.ZodArray.init(inst, def)
  const parseOther = inst._zod.parse
  inst._zod.parse = (payload, context) => {
    const sent = payload.value
    if (!Array.isArray(sent)) return parseOther(payload, context)
    const values: unknown[] = []
    payload.value = values
    for (let at = 0; at < sent.length && payload.issues.length < maxFaults; at++)
      values.push(check(def.element, sent[at], at, payload, context))
    return payload
  }
})

const Dict = z.core.$constructor<z.ZodRecord, z.core.$ZodRecordDef>('CallhouseDict', (inst, def) => {
  z.ZodRecord.init(inst, def)
  const parseOther = inst._zod.parse
  inst._zod.parse = (payload, context) => {
    const sent = payload.value
    if (!z.core.util.isPlainObject(sent)) return parseOther(payload, context)
    const values: Record<string, unknown> = {}
    payload.value = values
    for (const key in sent) {
      if (payload.issues.length >= maxFaults) break
      // Assigned like any other it would be the object's prototype.
      if (key === '__proto__') continue
      values[key.toWellFormed()] = check(def.valueType, sent[key], key, payload, context)
    }
    return payload
  }
})

/** A list. */
export const list = <Element extends z.ZodType>(element: Element) =>
  new List({ type: 'array', element }) as z.ZodArray<Element>

/** A list of at most `max` elements. */
export const atMost = <Element extends z.ZodType>(schema: z.ZodArray<Element>, max: number) =>
  schema.refine((values) => values.length <= max, {
    error: `List should have at most ${max} items`,
    params: { type: 'too_long' },
  })

/** An object of any keys whose values are alike. */
export const dictOf = <Value extends z.ZodType>(valueType: Value) =>
  new Dict({ type: 'record', keyType: z.string(), valueType }) as z.ZodRecord<z.ZodString, Value>
