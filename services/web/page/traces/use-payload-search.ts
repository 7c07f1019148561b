// Calls of a trace whose inputs or output hold a text: the server looks, a while after the last letter.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { ask } from '../worker/client.ts'

const pauseMs = 300
/** Calls that are looked at no further. */
const maxFound = 10_000

export type PayloadSearch = {
  found: ReadonlySet<string> | undefined
  isLooking: boolean
  isCut: boolean
  fault: string
}

export function usePayloadSearch(projectId: string, traceId: string, text: string): PayloadSearch {
  const [asked, setAsked] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  const { data, error, isFetching } = useQuery({
    queryKey: ['trace.payloads', projectId, traceId, asked],
    queryFn: async ({ signal }) => {
      const holds = (field: string) => ({
        $contains: { input: { $getField: field }, substr: { $literal: asked }, case_insensitive: true },
      })
      const query = { $expr: { $or: [holds('inputs'), holds('output')] } }
      const body = { project_id: projectId, filter: { trace_ids: [traceId] }, query, limit: maxFound }
      return new Set(await ask('ids', [baseUrl, body], { signal }))
    },
    enabled: asked !== '' && asked === text,
    staleTime: 60_000,
  })
  const isOf = text !== '' && asked === text
  return {
    found: isOf ? data : undefined,
    isLooking: text !== '' && (!isOf || isFetching),
    isCut: isOf && (data?.size ?? 0) === maxFound,
    fault: isOf ? (error?.message.slice(0, 200) ?? '') : '',
  }
}
