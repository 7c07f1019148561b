// The question for all spans of a trace; what has come already is shown meanwhile.
import type { QueryClient } from '@tanstack/react-query'
import { baseUrl } from '../api/client.ts'
import { ask } from '../worker/client.ts'
import type { TraceAnswer } from '../worker/main.ts'

export const traceQuery = (client: QueryClient, projectId: string, traceId: string) => {
  const queryKey = ['trace', projectId, traceId]
  return {
    queryKey,
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ask('trace', [baseUrl, projectId, traceId], {
        signal,
        // Unless more is shown already.
        part: (answer: TraceAnswer) =>
          client.setQueryData(queryKey, (before: TraceAnswer | undefined) =>
            before?.isWhole && before.spans.count >= answer.spans.count ? before : answer,
          ),
      }),
    staleTime: 60_000,
  }
}
