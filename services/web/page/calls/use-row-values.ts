// Values of the rows in view by one request for all of them; those that are known stay until it is answered.
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { type KnownValues, knownValues, type ValueOfRow } from '../engine/row-values.ts'

/** A request that failed is sent again. */
const againMs = 10_000

type Asked<Value extends object> = {
  kind: string
  project: string
  ids: readonly string[]
  /** What else an answer depends on: with another one it is asked for again. */
  more: unknown
  isOn: boolean
  everyMs?: number | undefined
  read(signal: AbortSignal): Promise<ReadonlyMap<string, Value>>
}

export function useRowValues<Value extends object>({ kind, project, ids, more, isOn, everyMs, read }: Asked<Value>) {
  const { data, error } = useQuery({
    queryKey: [kind, project, ids, more],
    queryFn: ({ signal }) => read(signal),
    enabled: isOn && ids.length > 0,
    refetchInterval: ({ state }) => (state.status === 'error' ? againMs : (everyMs ?? false)),
    staleTime: 60_000,
  })
  const before = useRef<{ project: string; values: KnownValues<Value> }>({ project, values: new Map() })
  const values = knownValues(before.current.project === project ? before.current.values : new Map(), ids, data)
  before.current = { project, values }
  return (id: string): ValueOfRow<Value> => {
    const value = values.get(id)
    return value === undefined ? error?.message : value
  }
}
