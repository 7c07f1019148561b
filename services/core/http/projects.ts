// The projects of one request: each is parsed, and checked against the caller's rights, before anything is read of it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type ProjectId, parseProjectId } from '../ids.ts'
import { fault } from './errors.ts'
import type { Caller, Reply, Route, RouteContext } from './route.ts'

/** What the handler that runs may read of the store. */
type Opened = { route: string; withoutProject: boolean; projects: ReadonlySet<string> }

/** Follows a handler through everything that it awaits; handlers that it invokes have their own. */
const running = new AsyncLocalStorage<Opened>()

/** The same items, each made as the handler's own work: whoever sends them out does so later. */
const madeIn = <T>(opened: Opened, source: AsyncIterable<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]() {
    const iterator = running.run(opened, () => source[Symbol.asyncIterator]())
    return {
      next: () => running.run(opened, () => iterator.next()),
      return: async (value) =>
        (await running.run(opened, () => iterator.return?.(value))) ?? { done: true as const, value },
    }
  },
})

function replyIn(opened: Opened, reply: Reply): Reply {
  if ('lines' in reply) return { ...reply, lines: madeIn(opened, reply.lines) }
  if ('bytes' in reply && !Buffer.isBuffer(reply.bytes)) return { ...reply, bytes: madeIn(opened, reply.bytes) }
  return reply
}

type RequestProjects = {
  /** What the handler gets. */
  context: Pick<RouteContext, 'project' | 'projectOrNull' | 'projects'>
  /** Runs the handler: its reads, those of a streamed answer included, are held to the projects that it opens. */
  run(handle: () => Promise<Reply>): Promise<Reply>
}

export function projectsOf(caller: Caller, { name, right, withoutProject }: Route): RequestProjects {
  const asked = new Set<ProjectId>()
  const opened: Opened = { route: name, withoutProject: withoutProject === true, projects: asked }
  const projectOrNull = (projectId: string): ProjectId | null => {
    const parsed = parseProjectId(projectId)
    if (!caller.may(right, parsed)) return null
    asked.add(parsed)
    return parsed
  }
  return {
    context: {
      project(projectId) {
        const project = projectOrNull(projectId)
        if (project === null) throw fault(403, `Key has no right to ${right} in this project`)
        return project
      },
      projectOrNull,
      projects: () => [...asked],
    },
    run: (handle) => running.run(opened, async () => replyIn(opened, await handle())),
  }
}

/**
 * Throws unless the handler that runs has opened the project of a statement, or any project for a statement that is
 * about none: a handler that forgets to ask for its caller's right gets no rows.
 */
export function throwUnlessOpened(statement: { name: string; projectId?: ProjectId }): void {
  const opened = running.getStore()
  if (opened === undefined) throw new Error(`${statement.name} is read by no handler`)
  const { projectId } = statement
  const isOpened =
    projectId === undefined ? opened.withoutProject || opened.projects.size > 0 : opened.projects.has(projectId)
  if (!isOpened) throw new Error(`${opened.route} reads ${statement.name} of a project that it has not opened`)
}
