// The projects of one request: each is parsed, and checked against the caller's rights, before anything is read of it.
import { type ProjectId, parseProjectId } from '../ids.ts'
import { fault } from './errors.ts'
import type { Caller, Right, RouteContext } from './route.ts'

export function projectsOf(caller: Caller, right: Right): Pick<RouteContext, 'project' | 'projects'> {
  const asked = new Set<ProjectId>()
  return {
    project(projectId) {
      const parsed = parseProjectId(projectId)
      if (!caller.may(right, parsed)) throw fault(403, `Key has no right to ${right} in this project`)
      asked.add(parsed)
      return parsed
    },
    projects: () => [...asked],
  }
}
