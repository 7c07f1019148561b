// The billed part of a call's usage: the tokens that its counts report, and the cached ones among them.

/**
 * Billed tokens of one model, beside the reported counts (clickhouse/migrations/0022_billed_usage.sql). `inside`:
 * cached tokens that the input count includes; `apart`: those of them that lie outside of it where the model is
 * Anthropic's.
 */
export type Billed = {
  inside: number
  apart: number
  cacheRead: number
  cacheWrite: number
  cacheWrite1h: number
  moreOutput: number
}

export const nothingBilled: Billed = {
  inside: 0,
  apart: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  moreOutput: 0,
}

/** The columns of a call that `billedOf` needs. */
export const billedColumns = ['billed_usage', 'counts_cached'] as const

/** Counts are in the order of `Billed`. */
type Entry = [model: string, ...counts: number[]]

/** Billed tokens by model; models that are not there have nothing beside their counts. */
export function billedOf({
  billed_usage: text,
  counts_cached: countsCached,
}: Partial<Record<(typeof billedColumns)[number], Buffer>>): ReadonlyMap<string, Billed> {
  if (text === undefined) return none
  const entries = JSON.parse(text.toString('utf8')) as Entry[]
  return new Map(
    entries.map(([model, inside = 0, apart = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, moreOutput = 0]) => [
      model,
      { inside, apart: countsCached ? 0 : apart, cacheRead, cacheWrite, cacheWrite1h, moreOutput },
    ]),
  )
}

const none: ReadonlyMap<string, Billed> = new Map()
