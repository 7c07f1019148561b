// Field schemas with the coercions that every route applies to its input.
import { z } from 'zod'

/** Params of a custom issue: the `type` that its entry of a 422 answer shows. */
type FaultType = { type: string }

const reject = (context: z.RefinementCtx, type: string, message: string): never => {
  context.addIssue({ code: 'custom', message, params: { type } satisfies FaultType })
  return z.NEVER
}

/** Text; lone surrogates become U+FFFD, numbers are refused. */
export const text = () => z.string().overwrite((value) => value.toWellFormed())

/** The integer that a text spells, as in `3`, `+3` and `3.0`; null when it spells none. */
export const integerIn = (spelled: string): number | null =>
  /^\s*[+-]?\d{1,300}(\.0*)?\s*$/.test(spelled) ? Number(spelled) : null

export const notAnInteger = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
}

/** Integer: `3`, `3.0` and `"3"`; neither `3.5`, `"x"` nor booleans. */
export const int = () =>
  z
    .unknown()
    .transform((value, context): number => {
      if (typeof value === 'number')
        return Number.isInteger(value)
          ? value
          : reject(context, 'int_from_float', 'Input should be a valid integer, got a number with a fractional part')
      if (typeof value !== 'string') return reject(context, 'int_type', 'Input should be a valid integer')
      return integerIn(value) ?? reject(context, notAnInteger.type, notAnInteger.msg)
    })
    .meta({ type: 'integer' })

/** Integer of at least `min`. */
export const intFrom = (min: number) =>
  int()
    .refine((value) => value >= min, {
      error: `Input should be greater than or equal to ${min}`,
      params: { type: 'greater_than_equal' } satisfies FaultType,
    })
    .meta({ type: 'integer', minimum: min })

/** Finite number, or a string that spells one. */
export const float = () =>
  z
    .unknown()
    .transform((value, context): number => {
      if (typeof value === 'number')
        return Number.isFinite(value) ? value : reject(context, 'finite_number', 'Input should be a finite number')
      if (typeof value !== 'string') return reject(context, 'float_type', 'Input should be a valid number')
      return /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?\s*$/.test(value) && Number.isFinite(Number(value))
        ? Number(value)
        : reject(context, 'float_parsing', 'Input should be a valid number, unable to parse string as a number')
    })
    .meta({ type: 'number' })

/** Boolean; other spellings are refused. */
export const bool = () => z.boolean()

/** Any JSON object, passed on as the very object that was parsed: nothing is copied, no key is lost. */
export const dict = () =>
  z
    .unknown()
    .transform(
      (value, context): Record<string, unknown> =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? (value as Record<string, unknown>)
          : reject(context, 'dict_type', 'Input should be a valid dictionary'),
    )
    .meta({ type: 'object' })

/** Any JSON value, null included; the key must be there. */
export const jsonValue = () =>
  z
    .unknown()
    .transform((value, context) => (value === undefined ? reject(context, 'missing', 'Field required') : value))

/** Absent and null are the same: undefined. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.nullish(schema).transform((value): z.output<Schema> | undefined => value ?? undefined)

/** Absent and null give the fallback. */
export const withDefault = <Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) =>
  z.nullish(schema).transform((value): z.output<Schema> => value ?? structuredClone(fallback))

/** Integer from `min` to `max`; absent and null give the fallback. */
export const bounded = (min: number, max: number, fallback: number) =>
  withDefault(
    intFrom(min).refine((value) => value <= max, {
      error: `Input should be less than or equal to ${max}`,
      params: { type: 'less_than_equal' } satisfies FaultType,
    }),
    fallback,
  )
