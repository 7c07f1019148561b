// Reads the bodies of call writes from their bytes: light fields become values, payloads stay where they are.

import {
  enter,
  type Names,
  namesOf,
  nextItem,
  nextMember,
  nothingRepeated,
  type Repeated,
  type Slice,
  search,
  skipValue,
  takeRepeated,
  takeScalar,
  takeSlice,
  typeOf,
} from '../../content/json-scan.ts'
import { TooLongHere, tooLarge } from '../../core/errors.ts'
import { invalid } from '../../core/http/errors.ts'
import { parseJson } from '../../core/http/json-check.ts'
import type { RouteContext } from '../../core/http/route.ts'
import { isObject } from '../../core/json/objects.ts'
import { endScan } from '../../core/json/strict-walk.ts'
import { type Scan, startScan, Unreadable } from '../../core/json/tokens.ts'
import type { Json } from './field-checks.ts'
import type { RunWireNames } from './fragment-checks.ts'

/** Payloads of one side of an item as they stand in the body; null when the key is absent. */
export type PayloadSlices = {
  attributes: Slice | null
  inputs: Slice | null
  otelDump: Slice | null
  output: Slice | null
  summary: Slice | null
}

/**
 * A start, an end or a whole call: its fields as JSON.parse gives them, but unknown keys are left out, the summary alone
 * is read, and every other payload is only a value of the same type.
 */
export type ReadSide = { fields: unknown; payloads: PayloadSlices }

/** An item of a batch: `value` is what its checks look at. */
export type BatchItem = { value: unknown; start: PayloadSlices; end: PayloadSlices }

const nothing: PayloadSlices = { attributes: null, inputs: null, otelDump: null, output: null, summary: null }

const payloadNames = ['attributes', 'inputs', 'otel_dump', 'output', 'summary'] as const
const repeatedNames = ['project_id', 'trace_id', 'thread_id'] as const
const otherNames = ['id', 'op_name', 'display_name', 'parent_id', 'turn_id', 'started_at', 'ended_at', 'exception']

const bodyNames = namesOf('batch')
const itemNames = namesOf('mode', 'req')
const sideNames = namesOf('start', 'end')

/** Items of a batch. More cannot be valid ones in a body of the usual bound, and the shortest take 100 times their bytes. */
const maxBatchItems = 500_000

/**
 * Limits of work that keeps the event loop for some 25 ms: items, bytes of summaries, which become values, and bytes of
 * a body that does.
 */
export const maxItemsHere = 2_000
const maxHere = { items: maxItemsHere, summaryBytes: 384 * 1024, bodyBytes: 96 * 1024 }

type Bounds = Pick<RouteContext, 'maxJsonDepth' | 'mayTakeLong'>

/** Each bounds the nested containers of the body, and throws `TooLongHere` for what takes too long. */
export type BodyReader = {
  /** The sides of `{"start": {…}}` or `{"end": {…}}`; `value` is the body with their fields. */
  single(body: Buffer, bounds: Bounds): BatchItem
  /** The items of `{"batch": [{"mode", "req": {"start" | "end": {…}}}, …]}`, null when `batch` is no list. */
  upserts(body: Buffer, bounds: Bounds): BatchItem[] | null
  /** The calls of `{"batch": [{…}, …]}`, null when `batch` is no list. */
  calls(body: Buffer, bounds: Bounds): ReadSide[] | null
}

/** The value of a whole body, of which only the faults are told. */
export function wholeBody(body: Buffer, { maxJsonDepth, mayTakeLong }: Bounds): unknown {
  if (!mayTakeLong && body.length > maxHere.bodyBytes) throw new TooLongHere()
  return parseJson(body, maxJsonDepth)
}

/** Fields of a side that are read, and an object that has all of them: a copy of it is filled faster than a new one. */
type Layout = { names: Names; empty: Json }

type Reading = { scan: Scan; layout: Layout; repeated: Repeated[]; mayTakeLong: boolean; summaryBytes: number }

/** The summary as a value: its counts are checked. Nothing of an empty one needs to be read. */
const summaryOf = (slice: Slice): unknown =>
  slice.end - slice.start === 2 || slice.bytes[slice.start] !== 123
    ? typeOf(slice)
    : JSON.parse(slice.bytes.toString('utf8', slice.start, slice.end))

/** Takes the payload at the scan's position; the value that stands for it in checks. */
function takePayload(reading: Reading, payload: number, into: PayloadSlices): unknown {
  const { scan } = reading
  switch (payload) {
    case 0:
      into.attributes = takeSlice(scan, search.credentials)
      return typeOf(into.attributes)
    case 1:
      into.inputs = takeSlice(scan, search.credentials | search.refs | search.content)
      return typeOf(into.inputs)
    case 2:
      into.otelDump = takeSlice(scan, search.credentials)
      return typeOf(into.otelDump)
    case 3:
      into.output = takeSlice(scan, search.refs | search.content)
      return typeOf(into.output)
    default:
      into.summary = takeSlice(scan, 0)
      reading.summaryBytes += into.summary.end - into.summary.start
      if (!reading.mayTakeLong && reading.summaryBytes > maxHere.summaryBytes) throw new TooLongHere()
      return summaryOf(into.summary)
  }
}

function readOneSide(reading: Reading): ReadSide {
  const { scan, layout, repeated } = reading
  const { names, empty } = layout
  if (!enter(scan, 123)) return { fields: takeScalar(scan), payloads: nothing }
  const payloads: PayloadSlices = { attributes: null, inputs: null, otelDump: null, output: null, summary: null }
  const fields: Json = { ...empty }
  for (let name = nextMember(scan, names); name !== -1; name = nextMember(scan, names)) {
    const key = names.texts[name] as string
    if (name < payloadNames.length) fields[key] = takePayload(reading, name, payloads)
    else {
      const memory = repeated[name - payloadNames.length]
      fields[key] = memory === undefined ? takeScalar(scan) : takeRepeated(scan, memory)
    }
  }
  return { fields, payloads }
}

/** Reads the rest of `{"start": …, "end": …}`. */
function readSides(reading: Reading): BatchItem {
  const { scan } = reading
  const value: Json = {}
  const read: BatchItem = { value, start: nothing, end: nothing }
  for (let name = nextMember(scan, sideNames); name !== -1; name = nextMember(scan, sideNames)) {
    const side = readOneSide(reading)
    if (name === 0) {
      value.start = side.fields
      read.start = side.payloads
    } else {
      value.end = side.fields
      read.end = side.payloads
    }
  }
  return read
}

function readItem(reading: Reading): BatchItem {
  const { scan } = reading
  if (!enter(scan, 123)) return { value: takeScalar(scan), start: nothing, end: nothing }
  const value: Json = {}
  let start = nothing
  let end = nothing
  for (let name = nextMember(scan, itemNames); name !== -1; name = nextMember(scan, itemNames)) {
    if (name === 0) value.mode = takeScalar(scan)
    else if (enter(scan, 123)) {
      const read = readSides(reading)
      value.req = read.value
      start = read.start
      end = read.end
    } else value.req = takeScalar(scan)
  }
  return { value, start, end }
}

/** Reads the list under `batch`; of repeated keys the last one counts, as in JSON.parse. */
function readBatch<Item>(reading: Reading, readOne: (reading: Reading) => Item): Item[] | null {
  const { scan, mayTakeLong } = reading
  let items: Item[] | null = null
  for (let name = nextMember(scan, bodyNames); name !== -1; name = nextMember(scan, bodyNames)) {
    if (enter(scan, 91)) {
      items = []
      while (nextItem(scan)) {
        if (items.length === maxBatchItems) throw tooLarge()
        if (items.length === maxHere.items && !mayTakeLong) throw new TooLongHere()
        items.push(readOne(reading))
      }
    } else {
      skipValue(scan)
      items = null
    }
  }
  endScan(scan)
  return items
}

/** Fields of a start or an end that are read. */
export function fieldNames(wire: RunWireNames): string[] {
  const prefixed = [wire.runId, wire.runStep, wire.runStepEnd].flatMap(({ own, alias }) => [own, alias])
  return [...payloadNames, ...repeatedNames, ...otherNames, ...new Set(prefixed)]
}

/**
 * @param wire spellings of the prefixed fields
 */
export function createBodyReader(wire: RunWireNames): BodyReader {
  const names = namesOf(...fieldNames(wire))
  const empty: Json = Object.fromEntries(names.texts.map((text) => [text, undefined]))
  const layout: Layout = { names, empty }

  function read<Read>(body: Buffer, bounds: Bounds, by: (reading: Reading) => Read): Read {
    const { maxJsonDepth, mayTakeLong } = bounds
    try {
      const scan = startScan(body, maxJsonDepth)
      const repeated = repeatedNames.map(nothingRepeated)
      const reading: Reading = { scan, layout, repeated, mayTakeLong, summaryBytes: 0 }
      if (!enter(reading.scan, 123)) throw new Unreadable(reading.scan.at)
      const result = by(reading)
      endScan(reading.scan)
      return result
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      const value = wholeBody(body, bounds)
      if (isObject(value)) throw new Error('a valid body was not understood')
      throw invalid({ loc: ['body'], msg: 'Input should be a valid object', type: 'dict_type' })
    }
  }

  return {
    single: (body, bounds) => read(body, bounds, readSides),
    upserts: (body, bounds) => read(body, bounds, (reading) => readBatch(reading, readItem)),
    calls: (body, bounds) => read(body, bounds, (reading) => readBatch(reading, readOneSide)),
  }
}
