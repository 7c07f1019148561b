// The addresses of evaluations.

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

type Named = Record<string, string | undefined>
/** The members of an address that are known, as texts. */
const pick =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [Key in Name]?: string | undefined } => {
    const found: Named = {}
    for (const name of names) {
      const value = text(search[name])
      if (value !== undefined) found[name] = value
    }
    return found as { [Key in Name]?: string | undefined }
  }

/** `evaluation`: name of the evaluation whose runs are listed. */
export const runsSearch = pick('evaluation', 'score', 'tz')
/** `score` with `bin`: rows whose score falls into that bin of its distribution. `show`: `errors` only. */
export const runSearch = pick('score', 'bin', 'show', 'tz')
/** Lists are separated by commas. `runs`: the first is the baseline; `lower`: metrics of which less is better. */
export const compareSearch = pick('runs', 'show', 'metrics', 'lower', 'tz')

export const listOf = (value: string | undefined): string[] =>
  value === undefined ? [] : [...new Set(value.split(',').filter((one) => one !== ''))]

/** Runs that can stand side by side. */
export const maxRuns = 5

/** Letter of a run in a comparison: the first is A. */
export const runLetter = (place: number): string => 'ABCDE'.charAt(place)
