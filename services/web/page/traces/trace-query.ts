// The question for all spans of a trace.
import { baseUrl } from '../api/client.ts'
import { ask } from '../worker/client.ts'

export const traceQuery = (projectId: string, traceId: string) => ({
  queryKey: ['trace', projectId, traceId],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('trace', [baseUrl, projectId, traceId], { signal }),
  staleTime: 60_000,
})
