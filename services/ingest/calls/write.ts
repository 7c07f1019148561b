// Stores the calls of a request: content first, then their rows; batches in the common form by the WebAssembly module.
import { type ContentStore, noContent } from '../../content/content-port.ts'
import { type Maskings, maskingsOfRequest, takesLong } from '../../content/masking/maskings.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { TooLongHere } from '../../core/errors.ts'
import { asFault } from '../../core/http/errors.ts'
import type { Reply, RouteContext } from '../../core/http/route.ts'
import type { EdgeLog, Position, RecordSplit } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { rowBuffers as pool } from '../../core/memory/buffer-pool.ts'
import { appendCalls } from '../../events/calls-writer.ts'
import { type BatchModule, batchModule, type ReadBatch } from './batch-module.ts'
import { type Item, recordsOf } from './batch-rows.ts'
import { type BodyReader, createBodyReader, fieldNames, type PayloadSlices } from './envelope.ts'
import { type CheckContext, type RunWireNames, wireNames } from './fragment-checks.ts'
import type { CheckedItem, OpenProject } from './items.ts'
import { takesLongToRedact } from './payload-texts.ts'

export type CallWriteDeps = {
  log: Omit<EdgeLog, 'flush'>
  clock: Clock
  content: ContentStore
  maskings: Maskings
  /** First word of the prefixed fields: `platform` or `wb`. */
  wirePrefix: string
  /** Accept `wb_*` beside the configured spelling. */
  wireAliases: boolean
  /** One partition and records of any size when absent. */
  split?: RecordSplit
  /** The WebAssembly module parses batches in the common form; default: true. */
  edgeWasm?: boolean
  /** Called when a batch was stored in part; gets the refused items, and in `places` the places of the first few. */
  onRefused?(refused: { requestId: string; refused: number; of: number; places: number[] }): void
}

/** State that the routes which write calls share. */
export type CallWrites = CallWriteDeps & {
  names: RunWireNames
  reader: BodyReader
  split: RecordSplit
  module(): BatchModule | null
}

export function createCallWrites(deps: CallWriteDeps): CallWrites {
  const names = wireNames(deps.wirePrefix, deps.wireAliases)
  const fields = fieldNames(names)
  const module = deps.edgeWasm === false ? () => null : () => batchModule(fields)
  return {
    ...deps,
    names,
    reader: createBodyReader(names),
    split: deps.split ?? {},
    module,
  }
}

export const checkContextOf = ({ names }: CallWrites): CheckContext => ({ names, nowMs: Date.now() })

type Sides = { start: PayloadSlices; end: PayloadSlices }

/** An item with the payloads of its sides. */
export const withPayloads = ({ projectId, id, start, end }: CheckedItem, sides: Sides): Item => ({
  projectId,
  id,
  start: start && { head: start, payloads: sides.start },
  end: end && { head: end, payloads: sides.end },
})

const payloadsOf = (payloads: PayloadSlices | undefined) => (payloads ? Object.values(payloads) : [])

/** Whether items take too long for the thread that handles the requests of others. */
const takeLong = (items: readonly Item[], maskings: Maskings, bodyBytes: number): boolean =>
  items.some(({ projectId }) => takesLong(maskings.of(projectId), bodyBytes)) ||
  takesLongToRedact(items.flatMap(({ start, end }) => [start, end].flatMap((side) => payloadsOf(side?.payloads))))

/** Stores extracted content and then the rows; the positions of both. */
export async function writeItems(writes: CallWrites, context: RouteContext, items: Item[]): Promise<Position[]> {
  const { log, clock, content, split } = writes
  const { userId } = context.caller
  const bodyBytes = context.body.bytes.length
  const maskings = maskingsOfRequest(writes.maskings)
  if (!context.mayTakeLong && takeLong(items, maskings, bodyBytes)) throw new TooLongHere()
  const extraction = content.begin()
  const rows = { items, userId, clock, split, pool, bodyBytes, maskings, content }
  let records = recordsOf({ ...rows, extraction })
  let stored: Position[] = []
  try {
    stored = await extraction.append()
  } catch (error) {
    if (asFault(error) !== undefined) throw error
    // Content that cannot be stored stays inline: a call is never refused for it.
    records = recordsOf({ ...rows, extraction: noContent.begin() })
  }
  return [...stored, ...(await appendCalls(log, records))]
}

/** The batch in the module's memory: in the common form, of projects that the caller may write to and that mask nothing. */
export function readFast(
  { module, maskings }: CallWrites,
  context: RouteContext,
  isWhole: boolean,
  open: OpenProject,
): ReadBatch | null {
  const batch = module()?.read(context, isWhole, Date.now()) ?? null
  try {
    return batch?.projects.every((project) => maskings.of(open(project)) === undefined) ? batch : null
  } catch (error) {
    if (asFault(error) === undefined) throw error
    return null
  }
}

/** Stores a batch that `readFast` has read. */
export const writeFast = ({ log, clock, split }: CallWrites, batch: ReadBatch): Promise<Position[]> =>
  appendCalls(log, batch.records({ clock, split, pool }))

export const writtenReply = (jsonText: string, positions: Position[]): Reply => ({
  jsonText,
  headers: positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {},
})
