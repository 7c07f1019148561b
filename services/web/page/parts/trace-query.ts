// The questions of a trace: all of its spans, and one call whole.
import { baseUrl } from '../api/client.ts'
import { ask } from '../worker/client.ts'

export const traceQuery = (projectId: string, traceId: string) => ({
  queryKey: ['trace', projectId, traceId],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('trace', [baseUrl, projectId, traceId], { signal }),
  staleTime: 60_000,
})

export const openQuery = (projectId: string, id: string) => ({
  queryKey: ['call', projectId, id],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('open', [baseUrl, projectId, id], { signal }),
  staleTime: 60_000,
  gcTime: 120_000,
})
