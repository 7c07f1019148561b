// Projects that may be meant by a name that none has.
import { editDistance } from './filter-fields.ts'

/** Number of projects that are offered. */
const most = 5
const maxLength = 200

/** Letters by which two names differ, but for their case; names within each other are near. */
function farness(typed: string, name: string): number {
  if (typed !== '' && name.includes(typed)) return 1
  return editDistance(typed, name)
}

/**
 * The nearest first: those whose name, or whose part behind the slash, differs by few letters, else the first of all.
 * @param all names that the reader may open
 */
export function nearProjects(typed: string, all: readonly string[]): { names: string[]; areNear: boolean } {
  const low = typed.slice(0, maxLength).toLowerCase()
  const partOf = (name: string) => name.slice(name.indexOf('/') + 1)
  const near = all
    .map((name) => {
      const one = name.slice(0, maxLength).toLowerCase()
      return { name, far: Math.min(farness(low, one), farness(partOf(low), partOf(one))) }
    })
    .filter(({ far }) => far <= Math.floor((partOf(low).length + 1) / 3))
    .sort((a, b) => a.far - b.far)
    .map(({ name }) => name)
  return { names: (near.length > 0 ? near : all).slice(0, most), areNear: near.length > 0 }
}
