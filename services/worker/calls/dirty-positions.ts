// Positions under which a batch of calls makes buckets dirty.
import { batchMembers, type CombinedBatch } from '../../core/log/combined-batch.ts'
import type { Batch } from '../../core/log/log.ts'

const afterProject = Buffer.from(',"id":')
/** A row of calls begins with its kind, its project and its id; a longer prefix is not one that the edge wrote. */
const maxPrefixBytes = 4_096

/** Positions under which dirty buckets are written: which partitions the rows of each project came from. */
export type DirtyPositions = {
  partitions: number[]
  positions: number[]
  /** Numbers of partitions, from 1 on; the first set is all of them. */
  sets: number[][]
  projects: string[]
  /** The set of each project; one that is not listed has the first. */
  set_of: number[]
  /** 1: seconds are marked; 0: whole minutes, where other rows may come under the same positions. */
  by_second: 0 | 1
}

/** The same positions for every project. */
export const dirtyAt = (at: Pick<Batch, 'partition' | 'lastOffset'>[]): DirtyPositions => ({
  partitions: at.map(({ partition }) => partition),
  positions: at.map(({ lastOffset }) => lastOffset),
  sets: [at.map((_, i) => i + 1)],
  projects: [],
  set_of: [],
  by_second: 0,
})

/** Positions of a batch of calls: for each project only partitions that hold rows of it, where the rows show it. */
export function dirtyPositionsOf(
  batch: Pick<Batch, 'partition' | 'lastOffset'> | CombinedBatch,
  isBySecond = false,
): DirtyPositions {
  const marked: DirtyPositions = { ...dirtyAt(batchMembers(batch)), by_second: isBySecond ? 1 : 0 }
  if (!('members' in batch)) return marked
  const { sets, projects, set_of } = marked
  const known = new Map<string, number>([[String(sets[0]), 1]])
  for (const [project, places] of memberNumbersByProject(batch) ?? []) {
    const key = String(places)
    const set = known.get(key) ?? sets.push(places)
    known.set(key, set)
    projects.push(project)
    set_of.push(set)
  }
  return marked
}

/** Places of the members that hold rows of a project, in their order; null when rows do not begin as those of calls do. */
function memberNumbersByProject({ members }: CombinedBatch): Map<string, number[]> | null {
  const found = new Map<string, number[]>()
  for (const [i, { source }] of members.entries()) {
    const heads = 'bytes' in source ? rowPrefixesOf(source.bytes) : null
    const projects = heads && new Set(Array.from(heads, projectOf))
    if (!projects || projects.has(null)) return null
    for (const project of projects as Set<string>) {
      const places = found.get(project)
      if (places) places.push(i + 1)
      else found.set(project, [i + 1])
    }
  }
  return found
}

/** The distinct texts before the ids of rows; null when one is too long. */
function rowPrefixesOf(records: readonly Buffer[]): Set<string> | null {
  const heads = new Set<string>()
  for (const rows of records)
    for (let at = 0; at < rows.length; ) {
      const end = rows.indexOf(afterProject, at)
      if (end === -1 || end - at > maxPrefixBytes) return null
      heads.add(rows.toString('utf8', at, end))
      const newline = rows.indexOf(10, end)
      at = newline === -1 ? rows.length : newline + 1
    }
  return heads
}

function projectOf(head: string): string | null {
  try {
    const { project_id } = JSON.parse(`${head}}`) as { project_id?: unknown }
    return typeof project_id === 'string' ? project_id : null
  } catch {
    return null
  }
}
