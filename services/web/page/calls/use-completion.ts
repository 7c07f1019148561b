// Suggestions for the line that filters: fields and values of the latest calls, with how many have them.
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { json } from '../api/client.ts'
import { fieldSuggestions, type Suggestion, valueSuggestions, type Written, withSearch } from '../engine/completion.ts'
import { type FieldKind, fieldFault, kindOfField, pathsOf, type RowsOf } from '../engine/filter-fields.ts'
import { useFields } from './use-fields.ts'

const keptMs = 30_000

/** Prefixes of paths that the server is asked for; fields of the line that begin otherwise are looked for among all. */
const documents = /^(?:inputs|output|attributes|summary)\b/

const kindsWithValues: readonly (FieldKind | undefined)[] = ['text', 'list', 'status', undefined]
/** Numbers, times and ids are not chosen from a list. */
const hasValues = (field: string): boolean =>
  kindsWithValues.includes(kindOfField(field)) && !/^(?:id|parent|error|has|is|ref)$/.test(field)

/** Where the server finds values: of models by the text that names all of a call. */
const askedPaths = (field: string): string[] => (field === 'model' ? ['summary.weave.model'] : [...pathsOf(field)])

/** Attributes of spans are counted in the latest few. */
const isOfFew = (path: string): boolean => path.startsWith('attributes.otel_span.')

/** @property counted of how many calls the numbers are; undefined where no suggestion has one */
type Completion = { suggestions: Suggestion[]; counted: number | undefined }

export function useCompletion(project: string, written: Written | undefined, rows: RowsOf): Completion {
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
    if (asked === undefined) return { suggestions: [], counted: undefined }
    const places = askedPaths(field).map((path) => ({
      values: values.data?.fields[path]?.values ?? [],
      isOfFew: isOfFew(path),
    }))
    const suggestions =
      asked.of === 'field'
        ? withSearch(fieldSuggestions(fields.data, prefix, rows), prefix)
        : valueSuggestions(field, places, prefix)
    const sampled = (asked.of === 'field' ? fields.data : values.data)?.sampled_calls
    return { suggestions, counted: suggestions.some(({ calls }) => calls !== null) ? sampled : undefined }
  }, [asked, prefix, field, fields.data, values.data, rows])
}
