// Removing a project: it is closed at once, and what is stored of it is erased.
import { projectDeleteRequest, projectDeleteResponse } from '../../../schemas/projects.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { isHeld } from '../../core/directory/holds.ts'
import { maxItemBytes } from '../../core/directory/items.ts'
import { projectRemoval } from '../../core/directory/removed-projects.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { queryOfProject, sql } from '../../core/store/sql.ts'
import type { Store } from '../../core/store/store.ts'
import type { RequestErasure } from '../request-erasure.ts'

export type ProjectRemovalDeps = {
  directory: Pick<Directory, 'state' | 'append' | 'look'>
  requestErasure: RequestErasure
  store: Pick<Store, 'rows'>
}

export function projectDeleteRoute({ directory, requestErasure, store }: ProjectRemovalDeps): Route {
  return route({
    name: 'projects.delete',
    method: 'DELETE',
    path: '/v2/{entity}/{project}',
    summary: 'Permanently closes a project and erases all of its data; `confirm` is its full name',
    body: { type: 'json', schema: projectDeleteRequest, check: 'schema', maxBytes: maxItemBytes },
    response: projectDeleteResponse,
    opensRemoved: true,
    topics: ['erasures'],
    tables: ['call_counts_hourly'],
    async handle(context) {
      const { input, caller, params, signal } = context
      const projectId = context.project(`${params.entity}/${params.project}`)
      if (input.confirm !== projectId)
        throw invalid({ loc: ['body', 'confirm'], msg: `must be ${projectId}`, type: 'value_error' })
      directory.look()
      if (isHeld(directory.state(), projectId))
        throw fault(409, 'Some data of this project is under a legal hold. Release it first')
      const counting = queryOfProject<'call_counts_hourly'>('projects.removed-calls', projectId, (project) => {
        return sql`SELECT toFloat64(sum(calls)) AS n ${project.from('call_counts_hourly', { final: true, where: sql`1` })}`
      })
      const [row] = await store.rows<{ n: number }>(counting, { signal })
      const removedAt = () => directory.state().removedProjects.get(projectId)?.at
      // A repeated request erases the data that was stored since, too.
      if (removedAt() === undefined)
        await directory.append(projectRemoval(directory.state(), projectId, Date.now()), caller.userId)
      const asked = {
        calls: Number(row?.n ?? 0),
        reason: 'the project was removed',
        selector: { project_id: projectId },
      }
      const { id, deadlineUs } = await requestErasure(context, projectId, asked)
      const deadline = new Date(deadlineUs / 1_000).toISOString()
      return { status: 202, json: { project_id: projectId, removed_at: removedAt(), erasure_id: id, deadline } }
    },
  })
}
