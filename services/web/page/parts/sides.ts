// The address of the page of differences: `call/<id>` or `object/<object id>/<digest>`.
import type { Side } from '../worker/differences.ts'

export type DifferencesSearch = { a?: string | undefined; b?: string | undefined; tz?: string | undefined }

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export const differencesSearch = ({ a, b, tz }: Record<string, unknown>): DifferencesSearch => ({
  a: text(a),
  b: text(b),
  tz: text(tz),
})

export const sideText = (side: Side): string =>
  'call' in side ? `call/${side.call}` : `object/${side.object}/${side.digest}`

/** @returns undefined for what is neither */
export function sideOf(word: string | undefined): Side | undefined {
  const call = /^call\/(.+)$/.exec(word ?? '')?.[1]
  if (call !== undefined) return { call }
  const [, object, digest] = /^object\/(.+)\/([^/]+)$/.exec(word ?? '') ?? []
  return object === undefined || digest === undefined ? undefined : { object, digest }
}
