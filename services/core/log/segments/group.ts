// Chooses which waiting appends share the next write, so that nobody waits for everything that others have sent.
import type { ProjectBytes } from './unapplied.ts'

export type Waiting = { sizeBytes: number; projects: ProjectBytes }

/** More than this waits for the write after the next one: a write and its sync take the longer the more they hold. */
export const groupBytes = 2 ** 20

/**
 * The appends in the order in which they are written. Up to half of a write is for projects of which so little waits that
 * all of it fits there, the least first; the rest is for what has waited longest: neither waits for long. Appends of one
 * project keep their order.
 */
export function inFairOrder<A extends Waiting>(appends: A[]): A[] {
  const sums = new Map<string, number>()
  let total = 0
  for (const { sizeBytes, projects } of appends) {
    total += sizeBytes
    for (const project of projects.keys()) sums.set(project, (sums.get(project) ?? 0) + sizeBytes)
  }
  if (total <= groupBytes) return appends
  const quiet = new Set<string>()
  let size = 0
  for (const [project, bytes] of [...sums].sort(([, a], [, b]) => a - b)) {
    size += bytes
    if (size > groupBytes / 2) break
    quiet.add(project)
  }
  const first: A[] = []
  const later: A[] = []
  for (const append of appends) {
    const projects = [...append.projects.keys()]
    if (projects.length > 0 && projects.every((project) => quiet.has(project))) first.push(append)
    else {
      later.push(append)
      // Later appends of one of its projects stay behind it.
      for (const project of projects) quiet.delete(project)
    }
  }
  return [...first, ...later]
}
