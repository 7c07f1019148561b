// Where the payloads of each item lie in the bytes of a request body, for every body shape of the write routes.
import {
  enterArray,
  enterObject,
  nameOf,
  nextItem,
  nextMember,
  type Scan,
  type Slice,
  search,
  startScan,
  takeSlice,
} from '../../core/json-slices.ts'

/** Payloads of one item as they stand in the body; null when the key is absent. */
export type PayloadSlices = {
  attributes: Slice | null
  inputs: Slice | null
  otelDump: Slice | null
  output: Slice | null
  summary: Slice | null
}

const payloads = [
  { name: nameOf('attributes'), key: 'attributes', interest: search.credentials },
  { name: nameOf('inputs'), key: 'inputs', interest: search.credentials | search.refs | search.content },
  { name: nameOf('otel_dump'), key: 'otelDump', interest: search.credentials },
  { name: nameOf('output'), key: 'output', interest: search.refs | search.content },
  { name: nameOf('summary'), key: 'summary', interest: 0 },
] as const

const names = payloads.map((payload) => payload.name)
const batchName = [nameOf('batch')]
const requestName = [nameOf('req')]
const startName = nameOf('start')
const endName = nameOf('end')
const sideNames = [startName, endName]

const noPayloads = (): PayloadSlices => ({
  attributes: null,
  inputs: null,
  otelDump: null,
  output: null,
  summary: null,
})

/** The payloads among the members of the object at the scan's position. */
function takePayloads(scan: Scan): PayloadSlices {
  const found = noPayloads()
  if (!enterObject(scan)) return found
  for (let name = nextMember(scan, names); name !== -1; name = nextMember(scan, names)) {
    const { key, interest } = payloads[name] as (typeof payloads)[number]
    found[key] = takeSlice(scan, interest)
  }
  return found
}

/** Both sides of an item: the one that counts is known from the parsed body. */
export type Sides = { start: PayloadSlices; end: PayloadSlices }

const nothing = noPayloads()

function takeSides(scan: Scan): Sides {
  const sides: Sides = { start: nothing, end: nothing }
  if (!enterObject(scan)) return sides
  for (let side = nextMember(scan, sideNames); side !== -1; side = nextMember(scan, sideNames)) {
    if (side === 0) sides.start = takePayloads(scan)
    else sides.end = takePayloads(scan)
  }
  return sides
}

function takeItem(scan: Scan): Sides {
  let sides: Sides = { start: nothing, end: nothing }
  if (!enterObject(scan)) return sides
  // Of repeated keys the last one counts, here as in JSON.parse.
  while (nextMember(scan, requestName) !== -1) sides = takeSides(scan)
  return sides
}

function takeBatch<Item>(body: Buffer, maxDepth: number, take: (scan: Scan) => Item): Item[] {
  const scan = startScan(body, maxDepth)
  let items: Item[] = []
  if (!enterObject(scan)) return items
  while (nextMember(scan, batchName) !== -1) {
    items = []
    if (enterArray(scan)) while (nextItem(scan)) items.push(take(scan))
  }
  return items
}

/** Payloads of a body `{"start": {…}}` or `{"end": {…}}`. */
export const singlePayloads = (body: Buffer, maxDepth: number): Sides => takeSides(startScan(body, maxDepth))

/** Payloads of a body `{"batch": [{"req": {"start" | "end": {…}}}, …]}`, item by item. */
export const batchPayloads = (body: Buffer, maxDepth: number): Sides[] => takeBatch(body, maxDepth, takeItem)

/** Payloads of a body `{"batch": [call, …]}`, call by call. */
export const completePayloads = (body: Buffer, maxDepth: number): PayloadSlices[] =>
  takeBatch(body, maxDepth, takePayloads)
