// Suggestions for the line that filters: fields and values of the latest calls, with how many have them.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { json } from '../api/client.ts'
import { fieldOfPath, plainFields, type Written } from '../engine/completion.ts'
import { pathOf } from '../engine/query-request.ts'
import { opNameOf } from '../engine/rows.ts'

export type Suggestion = { value: string | number; shown: string; calls: number | null }

const maxShown = 12
const keptMs = 30_000

/** Prefixes of paths that the server is asked for; fields of the line that begin otherwise are looked for among all. */
const documents = /^(?:inputs|output|attributes|summary)\b/

/** A field without values of its own: numbers and times are not chosen from a list. */
const hasValues = (field: string): boolean => !/^(?:latency|started|ended|id|parent|error|has|is|ref)$/.test(field)

/** Names of ops go by their plain name, whatever their version. */
function ofOps(values: readonly { value: string | number; calls: number }[]) {
  const found = new Map<string, number>()
  for (const { value, calls } of values) {
    const name = opNameOf(String(value))
    found.set(name, (found.get(name) ?? 0) + calls)
  }
  return [...found].map(([value, calls]) => ({ value, calls }))
}

export function useCompletion(project: string, written: Written | undefined): Suggestion[] {
  const asked = useDeferredValue(written)
  const prefix = asked?.prefix ?? ''
  const fields = useQuery({
    queryKey: ['calls.fields', project, documents.test(prefix) ? prefix : ''],
    queryFn: ({ signal }) =>
      json(
        'calls.fields',
        { project_id: project, prefix: documents.test(prefix) ? prefix : '' },
        { signal, fresh: 'any' },
      ),
    enabled: asked?.of === 'field',
    meta: { isAside: true },
    staleTime: keptMs,
    placeholderData: keepPreviousData,
  })
  const field = asked?.of === 'value' ? asked.field : ''
  const path = pathOf(field)
  const values = useQuery({
    queryKey: ['calls.values', project, path, field === 'op' ? '' : prefix],
    queryFn: ({ signal }) =>
      json(
        'calls.values',
        { project_id: project, fields: [path], limit: 50, ...(field !== 'op' && { prefix }) },
        { signal, fresh: 'any' },
      ),
    enabled: asked?.of === 'value' && hasValues(field),
    meta: { isAside: true },
    staleTime: keptMs,
  })
  return useMemo(() => {
    if (asked === undefined) return []
    const low = prefix.toLowerCase()
    if (asked.of === 'field') {
      const plain = plainFields.map((name) => ({ value: name, shown: name, calls: null }))
      const known = (fields.data?.fields ?? []).flatMap(({ path: one, calls }) => {
        const name = fieldOfPath(one)
        return name === null ? [] : [{ value: `${name}:`, shown: name, calls }]
      })
      return [...plain, ...known]
        .filter(({ shown }) => shown.toLowerCase().startsWith(low) && shown !== prefix)
        .slice(0, maxShown)
    }
    const all = values.data?.fields[path]?.values ?? []
    return (field === 'op' ? ofOps(all) : all)
      .filter(({ value }) => String(value).toLowerCase().startsWith(low))
      .slice(0, maxShown)
      .map(({ value, calls }) => ({ value, shown: String(value), calls }))
  }, [asked, prefix, field, path, fields.data, values.data])
}
