// Tracks the last record of each project, so that a reader of a quiet project does not wait for a busy one.
import type { RecordInput } from './log.ts'

export type ProjectEnds = {
  /** A record was acknowledged under `offset`. */
  note(offset: number, records: readonly Pick<RecordInput, 'projects'>[]): void
  /** Position that is at least the last offset of any of them. */
  of(projects: readonly string[]): number
}

/**
 * @param end of the log by now
 * @param limit projects that are told apart; the others share the newest end of those that were forgotten
 */
export function createProjectEnds(end: number, limit = 10_000): ProjectEnds {
  /** Least recently written first. */
  const ends = new Map<string, number>()
  let others = end

  return {
    note(offset, records) {
      if (records.some(({ projects }) => projects === undefined)) {
        ends.clear()
        others = Math.max(others, offset)
        return
      }
      for (const { projects } of records)
        for (const project of (projects as ReadonlyMap<string, number>).keys()) {
          const known = ends.get(project) ?? 0
          ends.delete(project)
          ends.set(project, Math.max(known, offset))
        }
      while (ends.size > limit) {
        const [project, last] = ends.entries().next().value as [string, number]
        ends.delete(project)
        others = Math.max(others, last)
      }
    },
    of: (projects) => projects.reduce((last, project) => Math.max(last, ends.get(project) ?? others), 0),
  }
}
