// Suggestions for the line that filters: fields and values of the latest calls, with how many have them.
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { json } from '../api/client.ts'
import { beginsSo, namedFields, plainFieldsOf, type Written } from '../engine/completion.ts'
import { type FieldKind, fieldFault, kindOfField, pathsOf, type RowsOf, statusValues } from '../engine/filter-fields.ts'
import { opNameOf } from '../engine/rows.ts'
import { useFields } from './use-fields.ts'

export type Suggestion = { value: string | number; shown: string; calls: number | null }

const maxShown = 12
const keptMs = 30_000

/** Prefixes of paths that the server is asked for; fields of the line that begin otherwise are looked for among all. */
const documents = /^(?:inputs|output|attributes|summary)\b/

const kindsWithValues: readonly (FieldKind | undefined)[] = ['text', 'list', 'status', undefined]
/** Numbers, times and ids are not chosen from a list. */
const hasValues = (field: string): boolean =>
  kindsWithValues.includes(kindOfField(field)) && !/^(?:id|parent|error|has|is|ref)$/.test(field)

/** Where the server finds values: of models by the text that names all of a call. */
const askedPaths = (field: string): string[] => (field === 'model' ? ['summary.weave.model'] : [...pathsOf(field)])

type Valued = { value: string | number; calls: number }

/** Values that go by other names than they are stored under, counted together. */
function namedValues(field: string, values: readonly Valued[]): Valued[] {
  const found = new Map<string | number, number>()
  const add = (value: string | number, calls: number) => found.set(value, (found.get(value) ?? 0) + calls)
  for (const { value, calls } of values)
    if (field === 'op') add(opNameOf(String(value)), calls)
    else if (field === 'model') for (const one of String(value).split(', ')) add(one, calls)
    else add(value, calls)
  return [...found].map(([value, calls]) => ({ value, calls })).sort((a, b) => b.calls - a.calls)
}

export function useCompletion(project: string, written: Written | undefined, rows: RowsOf): Suggestion[] {
  const asked = useDeferredValue(written)
  const prefix = asked?.prefix ?? ''
  const fields = useFields(project, documents.test(prefix) ? prefix : '', asked?.of === 'field')
  const field = asked?.of === 'value' ? asked.field : ''
  const paths = askedPaths(field)
  // What is stored under other names cannot be looked for by how it begins.
  const isNamed = field === 'op' || field === 'model'
  const values = useQuery({
    queryKey: ['calls.values', project, paths, isNamed ? '' : prefix],
    queryFn: ({ signal }) =>
      json(
        'calls.values',
        { project_id: project, fields: paths, limit: 50, ...(!isNamed && { prefix }) },
        { signal, fresh: 'any' },
      ),
    enabled: asked?.of === 'value' && hasValues(field) && fieldFault(field, rows) === undefined,
    meta: { isAside: true },
    staleTime: keptMs,
  })
  return useMemo(() => {
    if (asked === undefined) return []
    const low = prefix.toLowerCase()
    if (asked.of === 'field') {
      const plain = plainFieldsOf(rows).map((name) => ({ value: name, shown: name, calls: null }))
      const known = namedFields(fields.data?.fields ?? [])
      const all = [...plain, ...known.map(({ name, shown, calls }) => ({ value: `${name}:`, shown, calls }))]
      const matching = all.filter(({ shown }) => beginsSo(shown, low) && shown !== prefix)
      // What begins so stands before what has a part that does.
      const isFirst = ({ shown }: Suggestion) => shown.toLowerCase().startsWith(low)
      return [...matching.filter(isFirst), ...matching.filter((one) => !isFirst(one))].slice(0, maxShown)
    }
    const stored = namedValues(
      field,
      askedPaths(field).flatMap((path) => values.data?.fields[path]?.values ?? []),
    )
    const isStatus = kindOfField(field) === 'status'
    const all = isStatus
      ? statusValues.map((value) => ({ value, calls: stored.find((one) => one.value === value)?.calls ?? null }))
      : stored
    return all
      .filter(({ value }) => String(value).toLowerCase().startsWith(low))
      .slice(0, maxShown)
      .map(({ value, calls }) => ({ value, shown: String(value), calls }))
  }, [asked, prefix, field, fields.data, values.data, rows])
}
