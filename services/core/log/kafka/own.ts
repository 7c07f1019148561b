// Counts the bytes that this process appended to a partition and nobody has applied yet, by project.
import type { ProjectBytes } from '../segments/unapplied.ts'

export type OwnAppends = {
  appended(lastOffset: number, bytes: number, projects: ProjectBytes): void
  /** Gives back what lies at or before the position. */
  committed(offset: number): void
}

/** Appends up to `end` that follow those of the entry before. */
type Entry = { end: number; bytes: number; projects: Map<string, number> }

/** Older entries are joined beyond this number: memory stays the same however long the lag. */
const maxEntries = 512

function merged(one: Entry, { end, bytes, projects }: Entry): Entry {
  for (const [project, more] of projects) one.projects.set(project, (one.projects.get(project) ?? 0) + more)
  return { end: Math.max(one.end, end), bytes: one.bytes + bytes, projects: one.projects }
}

export function createOwnAppends(give: (bytes: number, projects: ProjectBytes) => void): OwnAppends {
  let entries: Entry[] = []
  let position = 0
  return {
    appended(lastOffset, bytes, projects) {
      // It may be applied before its acknowledgement is seen.
      if (lastOffset <= position) return give(bytes, projects)
      entries.push({ end: lastOffset, bytes, projects: new Map(projects) })
      if (entries.length <= maxEntries) return
      const kept: Entry[] = []
      for (let at = 0; at < entries.length; at += 2) {
        const next = entries[at + 1]
        kept.push(next === undefined ? (entries[at] as Entry) : merged(entries[at] as Entry, next))
      }
      entries = kept
    },
    committed(offset) {
      position = Math.max(position, offset)
      while (entries[0] !== undefined && entries[0].end <= position) {
        const { bytes, projects } = entries.shift() as Entry
        give(bytes, projects)
      }
    },
  }
}
