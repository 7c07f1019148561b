// Columns of a CSV file that say what the whole trace of a call comes to, from the figures that the list of traces shows.
import { csvCell } from '../../../../schemas/csv.ts'
import type { TraceFigures, TracesQueryResponse } from '../../../../schemas/traces.ts'
import type { Invoke, InvokeCaller } from '../../../core/http/invoke.ts'
import { placeOf } from '../../../core/json/byte-walk.ts'

/** Traces of one look, as many as the route takes. */
const atOnce = 500

const number = (name: keyof TraceFigures) => (of: TraceFigures) => String(of[name] ?? '')

/** By their names, which are those of the fields of conditions. */
const traceCells: Readonly<Record<string, (of: TraceFigures) => string>> = {
  'trace.errors': number('errors'),
  'trace.spans': number('spans'),
  'trace.duration_ms': number('duration_ms'),
  'trace.models': ({ models }) => csvCell(models.join(', '), true),
  'trace.input_tokens': number('input_tokens'),
  'trace.output_tokens': number('output_tokens'),
  'trace.total_tokens': number('total_tokens'),
  'trace.cost': number('cost'),
}

export const isTraceColumn = (name: string): boolean => Object.hasOwn(traceCells, name)

function traceIdOf(record: Buffer): string {
  const place = placeOf(record, ['trace_id'])
  return place === null ? '' : (JSON.parse(record.toString('utf8', place.start, place.end)) as string)
}

/** Records with what their traces come to, some hundred at a time. @param lines JSON texts of calls of a project */
export async function* withTraces(
  lines: AsyncIterable<string>,
  project: string,
  invoke: Pick<Invoke, 'json'>,
  as: InvokeCaller,
): AsyncGenerator<{ record: Buffer; traceCell(name: string): string }> {
  const [entity = '', name = ''] = project.split('/')
  let records: Buffer[] = []
  async function* known() {
    const trace_ids = [...new Set(records.map(traceIdOf))]
    const { traces } = await invoke.json<TracesQueryResponse>('traces.query', { trace_ids }, as, {
      entity,
      project: name,
    })
    const byId = new Map(traces.map((one) => [one.trace_id, one]))
    for (const record of records) {
      const figures = byId.get(traceIdOf(record))
      // A trace that is gone by now has no figures.
      yield { record, traceCell: (column: string) => (figures && traceCells[column]?.(figures)) ?? '' }
    }
    records = []
  }
  for await (const line of lines) {
    records.push(Buffer.from(line))
    if (records.length === atOnce) yield* known()
  }
  if (records.length > 0) yield* known()
}
