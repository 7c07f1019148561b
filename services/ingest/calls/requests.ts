// Requests that write calls: their bodies, the projects that they open, and the texts of their answers.
import { fault, invalid } from '../../core/http/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { isObject } from '../../core/json/objects.ts'
import type { Json } from './field-checks.ts'
import type { OpenProject } from './items.ts'

/** The body as an object; 422 when it is none. */
export function bodyObject(input: unknown): Json {
  if (isObject(input)) return input
  throw invalid({ loc: ['body'], msg: 'Input should be a valid object', type: 'dict_type' })
}

/** Checks the right on each project once per request. */
export function openedProjects(context: RouteContext): OpenProject {
  const known = new Map<string, ProjectId>()
  return (projectId) => {
    const seen = known.get(projectId)
    if (seen !== undefined) return seen
    const opened = context.project(projectId)
    known.set(projectId, opened)
    return opened
  }
}

/** Opens the project of the path and refuses every other. */
export function pathProject(context: RouteContext): OpenProject {
  const path = context.project(`${context.params.entity}/${context.params.project}`)
  return (projectId) => {
    if (projectId !== path) throw fault(400, 'project_id differs from the project of the path')
    return path
  }
}

/** JSON text of an id; the common form holds nothing to escape. */
const quoted = (id: string): string => (id.length === 36 ? `"${id}"` : JSON.stringify(id))

export const idsText = (id: string, traceId: string): string => `{"id":${quoted(id)},"trace_id":${quoted(traceId)}}`
