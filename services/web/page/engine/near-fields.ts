// Fields that calls have and that a word which is no field may mean.
import { type KnownFields, namedFields } from './completion.ts'
import type { Fix, Problem } from './filter-checks.ts'
import { editDistance } from './filter-fields.ts'

/** Distance of a word from the last part of a name: 0 = the same, undefined = too far. */
function farFrom(low: string, name: string): number | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (last === low) return 0
  if (low.length >= 2 && last.startsWith(low)) return 0.5
  const far = editDistance(low, last)
  return far <= Math.floor(Math.min(last.length, low.length) / 3) ? far : undefined
}

/** The names, two at most, that a word which is none of them may mean: by their last parts, the nearest first. */
function nearNames(word: string, names: readonly string[]): string[] {
  const low = word.toLowerCase()
  if (low.length > 40) return []
  return names
    .flatMap((name) => {
      const far = farFrom(low, name)
      return far === undefined ? [] : [{ name, far }]
    })
    .sort((a, b) => a.far - b.far)
    .slice(0, 2)
    .map(({ name }) => name)
}

/** Fixes of a problem, those by fields that calls have first. @param found nothing until it is known */
export function fixesAmong({ fixes, unknown }: Problem, found: KnownFields | undefined): readonly Fix[] {
  if (unknown === undefined || found === undefined) return fixes
  const known = namedFields([...found.fields, ...(found.span_attributes?.fields ?? [])])
  const names = known.map(({ name }) => name)
  return [...nearNames(unknown.name, names).flatMap(unknown.by), ...fixes]
}
