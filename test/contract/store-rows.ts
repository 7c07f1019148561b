// Rows of the topic calls for tests of the store.

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
