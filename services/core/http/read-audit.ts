// Audit events of requests that read: long streams as exports, and every read where the settings say so.
import type { Audit } from '../audit/audit.ts'
import { idsOf } from '../audit/audited.ts'
import type { AuditEvent } from '../audit/chain.ts'
import type { ProjectId } from '../ids.ts'
import type { Reply, Route } from './route.ts'

/** Number of lines from which on a stream is an export. */
const exportLines = 10_000

type ReadRequest = {
  route: Route
  params: Record<string, string>
  input: unknown
  /** Those that the handler has opened. */
  projects(): readonly ProjectId[]
}

/** @returns the answer that goes out. @throws what keeps a read that must be recorded from being so */
export type ReadAudit = (read: ReadRequest, reply: Reply) => Promise<Reply>

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** Members that are lists of ids. @param lead stands before their names */
const idLists = (values: Record<string, unknown>, lead = '') =>
  Object.entries(values).flatMap(([member, value]) =>
    /(?:_ids|digests)$/.test(member) && Array.isArray(value)
      ? [[lead + member, idsOf(value.filter((id): id is string => typeof id === 'string'))]]
      : [],
  )

/** The objects that a request reads, by ids alone. */
function namedIn({ route, params, input }: ReadRequest) {
  const values = membersOf(input)
  const target = [params.object_id, params.id, values.object_id, values.id].find((id) => typeof id === 'string')
  const lists = [...idLists(values), ...idLists(membersOf(values.filter), 'filter.')]
  const { digest } = params
  return {
    ...(typeof target === 'string' && { target }),
    details: { route: route.name, ...(digest !== undefined && { digest }), ...Object.fromEntries(lists) },
  }
}

function linesIn(chunk: string | Buffer): number {
  let count = 0
  for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', at + 1)) count++
  return count
}

/**
 * @param reads whether each read is recorded, before it is answered
 * @param onLost told of an export that could not be recorded: reads go on while the log takes nothing
 */
export function createReadAudit(
  audit: Pick<Audit, 'record'>,
  { reads, onLost }: { reads: boolean; onLost(error: Error): void },
): ReadAudit {
  /** An event for each project that the request opened. */
  const recordOf = (read: ReadRequest, event: Omit<AuditEvent, 'scope'>) =>
    Promise.all(read.projects().map((scope) => audit.record({ ...event, scope })))

  /** The same chunks. */
  async function* counted<T extends string | Buffer>(read: ReadRequest, chunks: AsyncIterable<T>): AsyncGenerator<T> {
    let rows = 0
    let isExport = false
    let isWhole = false
    const note = (event: Omit<AuditEvent, 'scope'>) => recordOf(read, event).catch(onLost)
    try {
      for await (const chunk of chunks) {
        rows += linesIn(chunk)
        if (rows > exportLines && !isExport) {
          isExport = true
          await note({ action: 'export.started', ...namedIn(read) })
        }
        yield chunk
      }
      isWhole = true
    } finally {
      const details = { route: read.route.name, rows }
      if (isExport) await note({ action: 'export.ended', outcome: isWhole ? 'done' : 'failed', details })
    }
  }

  return async (read, reply) => {
    if (reads) await recordOf(read, { action: 'data.read', ...namedIn(read) })
    if ('lines' in reply) return { ...reply, lines: counted(read, reply.lines) }
    if (!('bytes' in reply) || Buffer.isBuffer(reply.bytes) || !reply.contentType.startsWith('text/csv')) return reply
    return { ...reply, bytes: counted(read, reply.bytes) }
  }
}
