// The roles of a server process: what each of them does.

export const serverRoles = ['serve', 'ingest', 'worker', 'query'] as const
/** `serve`: everything in one process; the others share a Kafka log and a ClickHouse server. */
export type ServerRole = (typeof serverRoles)[number]

/** Accepts writes; applies the log to the store; answers reads. */
type Work = 'ingest' | 'apply' | 'query'

const work: Record<ServerRole, readonly Work[]> = {
  serve: ['ingest', 'apply', 'query'],
  ingest: ['ingest'],
  worker: ['apply'],
  query: ['query'],
}

export const does = (role: ServerRole, one: Work): boolean => work[role].includes(one)
