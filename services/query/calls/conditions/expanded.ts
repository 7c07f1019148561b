// The dotted paths of `expand_columns`, at which refs are read through, as a tree.
import { fault } from '../../../core/http/errors.ts'

export type Expanded = { isListed: boolean; below: Map<string, Expanded> }

/** More segments than a document may nest lead to nothing. */
const maxSegments = 512
const maxPaths = 1_000

function add(root: Expanded, [first = '', ...rest]: readonly string[]): void {
  let place = root
  for (const name of [first.endsWith('_dump') ? first.slice(0, -5) : first, ...rest]) {
    let next = place.below.get(name)
    if (next === undefined) {
      next = { isListed: false, below: new Map() }
      place.below.set(name, next)
    }
    place = next
  }
  place.isListed = true
}

/** @throws Fault 400 for too many paths */
export function expandedPaths(columns: readonly string[] | null | undefined): Expanded {
  const root: Expanded = { isListed: false, below: new Map() }
  const paths = new Set(columns)
  if (paths.size > maxPaths) throw fault(400, `expand_columns has ${paths.size} paths, at most ${maxPaths} are taken`)
  for (const path of paths) {
    const segments = path.split('.')
    if (segments.length <= maxSegments) add(root, segments)
  }
  return root
}

/** The numbers of names that lead to the ends of listed paths, fewest first. */
export function listedAmong(names: readonly string[], root: Expanded): number[] {
  const found: number[] = []
  let place: Expanded | undefined = root
  for (let n = 0; n < names.length; n++) {
    place = place.below.get(names[n] as string)
    if (place === undefined) break
    if (place.isListed) found.push(n + 1)
  }
  return found
}
