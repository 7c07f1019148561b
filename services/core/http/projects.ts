// The projects of one request: each is parsed, and checked against the caller's rights, before anything is read of it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type ProjectId, parseProjectId } from '../ids.ts'
import { fault, type LongAnswer, TooLongHere } from './errors.ts'
import { rightText } from './roles.ts'
import type { Caller, Reply, Route, RouteContext } from './route.ts'

/** What the handler that runs may read of the store. */
type Opened = { route: string; withoutProject: boolean; projects: ReadonlySet<string>; work: Work | undefined }

/** Whether the work of a request may still begin anew elsewhere: not once something was written or its answer began. */
type Work = { mayMove: boolean; moved: TooLongHere | undefined }

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

/** @param mayMove the request may begin anew in a thread; handlers that it invokes are a part of its work */
export function projectsOf(
  caller: Caller,
  { name, right, withoutProject }: Route,
  mayMove: boolean | undefined = undefined,
): RequestProjects {
  const asked = new Set<ProjectId>()
  const own: Work | undefined = mayMove === undefined ? undefined : { mayMove, moved: undefined }
  const work = own ?? running.getStore()?.work
  const opened: Opened = { route: name, withoutProject: withoutProject === true, projects: asked, work }
  async function handled(handle: () => Promise<Reply>): Promise<Reply> {
    // Whatever a handler makes of it: the answer was too long, and the work begins anew.
    const reply = await handle().catch((error: unknown) => {
      throw own?.moved ?? error
    })
    // What an answer reads ahead may have been too long before anybody waited for it.
    if (own?.moved !== undefined) {
      await leave(reply)
      throw own.moved
    }
    if (own !== undefined) own.mayMove = false
    return replyIn(opened, reply)
  }
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
        if (project === null) throw fault(403, `Key has no right to ${rightText(right)} in this project`)
        return project
      },
      projectOrNull,
      projects: () => [...asked],
    },
    run: (handle) => running.run(opened, () => handled(handle)),
  }
}

/** Nobody reads the answer. */
async function leave(reply: Reply): Promise<void> {
  const pieces = 'lines' in reply ? reply.lines : 'bytes' in reply ? reply.bytes : undefined
  if (pieces !== undefined && !Buffer.isBuffer(pieces)) await pieces[Symbol.asyncIterator]().return?.()
}

/** @throws TooLongHere when the work of the request that runs may begin anew in a thread */
export function moveWork(answer?: LongAnswer): void {
  const work = running.getStore()?.work
  if (work?.mayMove !== true) return
  work.moved = new TooLongHere(answer)
  throw work.moved
}

/** Something is written: from now on the work stays here. @throws TooLongHere when it has moved already */
export function keepWork(): void {
  const work = running.getStore()?.work
  if (work?.moved !== undefined) throw work.moved
  if (work !== undefined) work.mayMove = false
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
