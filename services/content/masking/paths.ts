// Selects the values of a payload that a rule names: by the name of a member, or by the path from the payload's field.

/** Names of members compare without case, `_` and `-`. */
export const normalName = (name: string): string => name.replace(/[_-]/g, '').toLowerCase()

/** Tells whether a normalised name fits a glob of `*` and texts. */
export function globOf(glob: string): (name: string) => boolean {
  const parts = glob.split('*').map(normalName)
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return (name) => name === first
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
    let at = first.length
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at <= name.length - last.length
  }
}

/** A path as its segments: names, `*` for one level, `**` for any number of them. Items of lists are on their list's level. */
export type Path = readonly string[]

export const pathOf = (text: string): Path => text.split('.')

/** Progress along a path: indices of the segments that may be next. One of its length means that it ends here. */
export type PathProgress = readonly number[]

/** `**` may stand for nothing. */
function withSkips(path: Path, indices: Iterable<number>): PathProgress {
  const all = new Set(indices)
  for (const index of all) if (path[index] === '**') all.add(index + 1)
  return [...all]
}

export const beginPath = (path: Path, field: string): PathProgress => stepPath(path, withSkips(path, [0]), field)

/** One level deeper, into the member of this name. */
export function stepPath(path: Path, progress: PathProgress, name: string): PathProgress {
  const next: number[] = []
  for (const index of progress) {
    const segment = path[index]
    if (segment === '**') next.push(index)
    else if (segment === '*' || segment === name) next.push(index + 1)
  }
  return next.length === 0 ? next : withSkips(path, next)
}

export const endsHere = (path: Path, progress: PathProgress): boolean => progress.includes(path.length)
