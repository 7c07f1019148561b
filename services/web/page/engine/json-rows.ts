// Maps lines of an open JSON tree to members: containers as counts, so that a million members cost nothing.

/** A container that is open, or a group of a long array. Members are named by their place. */
export type Open = { count: number; children: Map<number, Open> }

export const opened = (count: number): Open => ({ count, children: new Map() })

/** Lines that a container takes up, without its own. */
export function linesOf(open: Open): number {
  let lines = open.count
  for (const child of open.children.values()) lines += linesOf(child)
  return lines
}

/** The way of places to a line; undefined behind the last one. */
export function pathOfLine(open: Open, line: number): number[] | undefined {
  const path: number[] = []
  let at = open
  let left = line
  for (;;) {
    const children = [...at.children].sort(([a], [b]) => a - b)
    let before = 0
    let found: [number, Open] | undefined
    for (const [place, child] of children) {
      if (left <= place + before) break
      const size = linesOf(child)
      if (left <= place + before + size) {
        found = [place, child]
        break
      }
      before += size
    }
    if (found === undefined) {
      const place = left - before
      if (place >= at.count) return undefined
      path.push(place)
      return path
    }
    const [place, child] = found
    path.push(place)
    left -= place + before + 1
    at = child
  }
}

/** The line of a member that is shown. */
export function lineOfPath(open: Open, path: readonly number[]): number {
  let line = 0
  let at: Open | undefined = open
  for (const [level, place] of path.entries()) {
    if (at === undefined) return line
    line += place
    for (const [other, child] of at.children) if (other < place) line += linesOf(child)
    if (level < path.length - 1) line++
    at = at.children.get(place)
  }
  return line
}

export function childAt(open: Open, path: readonly number[]): Open | undefined {
  let at: Open | undefined = open
  for (const place of path) at = at?.children.get(place)
  return at
}
