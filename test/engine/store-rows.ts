// For tests of the store: rows of the topic calls, and what a statement fails with.
import { StoreError } from '../../services/core/store/store.ts'

export type CallLine = {
  project: string
  id: string
  startedUs?: number
  parent?: string
  clock?: number
  /** JSON text that stands in the row. */
  inputs?: string
}

/** A whole call as one JSON line, without the line's end. */
export const callLine = ({
  project,
  id,
  startedUs = 1_790_000_000_000_000,
  parent = '',
  clock = 1000,
  inputs = '{}',
}: CallLine): string =>
  `{"kind":"complete","project_id":${JSON.stringify(project)},"id":${JSON.stringify(id)},"clock":${clock},` +
  `"started_us":${startedUs},"ended_us":${startedUs + 1000},"trace_id":"t-${id}",${parent === '' ? '' : `"parent_id":"${parent}",`}` +
  `"op_name":"op","attributes":{},"inputs":${inputs},"output":"null","summary":{"a":1}}`

export const linesOf = (lines: string[]): string => lines.map((line) => `${line}\n`).join('')

export async function failure(promise: Promise<unknown>): Promise<StoreError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof StoreError)) throw new Error(`expected a StoreError, got ${outcome}`)
  return outcome
}
