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

/** Projects that may be meant; whether they are near to the name, or just the first. */
export type OtherProjects = { names: string[]; areNear: boolean }

/** Whether somebody was given this project by its whole name: it is one then, also before its first call. */
export const isGivenByName = (projectId: string, grants: '*' | readonly string[] | undefined): boolean =>
  grants !== '*' && grants?.includes(projectId) === true

/**
 * @param same projects that were found by the name
 * @param all projects that the reader may open
 * @returns null where there is such a project, or no other one
 */
export const otherProjects = (
  projectId: string,
  same: readonly string[],
  all: readonly string[],
): OtherProjects | null => (all.length === 0 || same.includes(projectId) ? null : nearProjects(projectId, all))

/**
 * The nearest first: those whose name, or whose part behind the slash, differs by few letters, else the first of all.
 * @param all names that the reader may open
 */
export function nearProjects(typed: string, all: readonly string[]): OtherProjects {
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
