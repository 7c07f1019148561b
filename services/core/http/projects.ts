// The projects of one request: each is parsed, and checked against the caller's rights, before anything is read of it.

import { rightText } from '../directory/roles.ts'
import { type ProjectId, parseProjectId } from '../ids.ts'
import { staleHeader } from '../log/freshness.ts'
import {
  type Cutoffs,
  type RunningFor,
  type RunningHandler,
  runAs,
  runningFor,
  runningWork,
  type Work,
} from '../process/running-handler.ts'
import { asFault, fault } from './errors.ts'
import type { Caller, Reply, Route, RouteContext } from './route.ts'

/** The same items, each made as the handler's own work: whoever sends them out does so later. */
const madeIn = <T>(handler: RunningHandler, source: AsyncIterable<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]() {
    const iterator = runAs(handler, () => source[Symbol.asyncIterator]())
    return {
      next: () => runAs(handler, () => iterator.next()),
      return: async (value) => (await runAs(handler, () => iterator.return?.(value))) ?? { done: true as const, value },
    }
  },
})

/** Says that the answer may lack writes where a wait of the handler, or of one that it invoked, came to that. */
function saidStale(reply: Reply, staleness: { ms: number }): Reply {
  if (staleness.ms === 0 || reply.headers?.[staleHeader] !== undefined) return reply
  return { ...reply, headers: { ...reply.headers, [staleHeader]: String(staleness.ms) } }
}

function replyIn(handler: RunningHandler, reply: Reply): Reply {
  if ('lines' in reply) return { ...reply, lines: madeIn(handler, reply.lines) }
  if ('bytes' in reply && !Buffer.isBuffer(reply.bytes)) return { ...reply, bytes: madeIn(handler, reply.bytes) }
  return reply
}

type RequestProjects = {
  /** The context of the handler. */
  context: Pick<RouteContext, 'project' | 'projectOrNull' | 'projects'>
  /** Runs the handler: its reads, those of a streamed answer included, are held to the projects that it opens. */
  run(handle: () => Promise<Reply>): Promise<Reply>
}

/**
 * @param mayMove the request may begin anew in a thread; handlers that it invokes are a part of its work
 * @param running what the handler runs for; absent: what the one that invokes it runs for
 */
export function projectsOf(
  caller: Caller,
  { name, right, withoutProject, opensRemoved }: Route,
  mayMove: boolean | undefined = undefined,
  { account, request, cutoffsOf, staleness = { ms: 0 } }: RunningFor = runningFor(),
): RequestProjects {
  const asked = new Set<ProjectId>()
  const cutoffs = new Map<string, Cutoffs>()
  const own: Work | undefined = mayMove === undefined ? undefined : { mayMove, moved: undefined }
  const work = own ?? runningWork()
  const handler: RunningHandler = {
    route: name,
    withoutProject: withoutProject === true,
    projects: asked,
    cutoffs,
    cutoffsOf,
    work,
    account,
    request,
    staleness,
  }
  async function handled(handle: () => Promise<Reply>): Promise<Reply> {
    let reply: Reply
    try {
      reply = await handle()
    } catch (error) {
      // Whatever a handler makes of it: the answer was too long, and the work begins anew.
      throw own?.moved ?? asFault(error) ?? error
    }
    // An answer may have read ahead too long before anybody waited for it.
    if (own?.moved !== undefined) {
      await leave(reply)
      throw own.moved
    }
    if (own !== undefined) own.mayMove = false
    return saidStale(replyIn(handler, reply), staleness)
  }
  const projectOrNull = (projectId: string): ProjectId | null => {
    const parsed = parseProjectId(projectId)
    if (!caller.may(right, parsed)) return null
    const isNew = !asked.has(parsed)
    // Batches open their project with each item.
    const hidden = isNew ? cutoffsOf?.(parsed) : undefined
    if (hidden?.isRemoved && opensRemoved !== true) return null
    account?.open(parsed)
    if (isNew) {
      asked.add(parsed)
      if (hidden !== undefined) cutoffs.set(parsed, hidden)
    }
    return parsed
  }
  return {
    context: {
      project(projectId) {
        const project = projectOrNull(projectId)
        if (project === null && caller.may(right, parseProjectId(projectId)))
          throw fault(410, 'This project was removed')
        if (project === null) throw fault(403, `Key has no right to ${rightText(right)} in this project`)
        return project
      },
      projectOrNull,
      projects: () => [...asked],
    },
    run: (handle) => runAs(handler, () => handled(handle)),
  }
}

/** Nobody reads the answer. */
async function leave(reply: Reply): Promise<void> {
  const pieces = 'lines' in reply ? reply.lines : 'bytes' in reply ? reply.bytes : undefined
  if (pieces !== undefined && !Buffer.isBuffer(pieces)) await pieces[Symbol.asyncIterator]().return?.()
}
