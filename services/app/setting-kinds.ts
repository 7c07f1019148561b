// The kinds of settings: each is a schema from the text of a variable or flag, with its default and its one-line help.
import { resolve } from 'node:path'
import { z } from 'zod'

export type About = { fallback: string; help: string; secret?: true }

export const about = z.registry<About>()
export const setting = <Schema extends z.ZodType<unknown, string>>(
  fallback: string,
  help: string,
  schema: Schema,
): Schema => {
  about.add(schema, { fallback, help })
  return schema
}
export const secret = <Schema extends z.ZodType<unknown, string>>(schema: Schema): Schema => {
  about.add(schema, { ...(about.get(schema) as About), secret: true })
  return schema
}

export const integer = (fallback: number, help: string, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  setting(
    String(fallback),
    help,
    z
      .string()
      .transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : Number.NaN))
      .refine((value) => value >= min && value <= max, { error: `must be an integer from ${min} to ${max}` }),
  )
export const truth = (fallback: boolean, help: string) =>
  setting(
    String(fallback),
    help,
    z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true'),
  )
export const choice = <const Words extends readonly [string, ...string[]]>(
  fallback: Words[number],
  help: string,
  words: Words,
) => setting(fallback, help, z.enum(words, { error: `must be one of ${words.join(', ')}` }))
export const text = (fallback: string, help: string, pattern = /^\S.*$/, form = 'must not be empty') =>
  setting(fallback, help, z.string().regex(pattern, { error: form }))
export const path = (help: string) =>
  setting(
    '',
    help,
    z.string().transform((value) => (value === '' ? undefined : resolve(value))),
  )
export const list = (fallback: string, help: string, isEntry: (entry: string) => boolean, form: string) =>
  setting(
    fallback,
    help,
    z
      .string()
      .transform((value) =>
        value
          .split(',')
          .map((entry) => entry.trim())
          .filter((entry) => entry !== ''),
      )
      .refine((entries) => entries.every(isEntry), { error: `must be a comma-separated list of ${form}` }),
  )

export const portOrOff = (fallback: number, help: string) =>
  setting(
    String(fallback),
    help,
    z
      .string()
      .regex(/^(?:off|\d{1,5})$/, { error: 'must be a port or off' })
      .transform((text) => (text === 'off' ? undefined : Number(text)))
      .refine((port) => port === undefined || port <= 65_535, { error: 'must be a port or off' }),
  )
