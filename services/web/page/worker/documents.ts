// JSON documents that are open in the worker, as bytes, and what the page sees of them.
import {
  findBytes,
  holdsJson,
  type Kind,
  kindAt,
  type LongEnds,
  type Members,
  membersAt,
  skipSpace,
  skipValue,
  stringAt,
  stringHead,
  textBetween,
} from '../engine/json-index.ts'

export type NodeRef = { doc: number; start: number; end: number; kind: Kind; count: number | null }
export type NodeRow = NodeRef & {
  key: string | null
  preview: string
  bytes: number
  /** A string whose text is JSON. */
  holdsJson: boolean
}
export type Hits = { offsets: number[]; isCut: boolean }

type Doc = { bytes: Uint8Array; long: LongEnds; members: Map<number, Members>; lines: Map<number, string[]> }

/** Bytes of all documents together; the oldest are let go first. */
const keptBytes = 64 * 2 ** 20
/** Members of smaller containers are counted when their row is shown. */
const countBelowBytes = 64 * 1024
const previewCharacters = 200
const lineCharacters = 2_000

const documents = new Map<number, Doc>()
let lastDoc = 0

function keep(bytes: Uint8Array): number {
  const doc = ++lastDoc
  documents.set(doc, { bytes, long: new Map(), members: new Map(), lines: new Map() })
  let held = 0
  for (const [, one] of [...documents].reverse()) held += one.bytes.length
  for (const [old, one] of documents) {
    if (held <= keptBytes || old === doc) break
    held -= one.bytes.length
    documents.delete(old)
  }
  return doc
}

const docOf = (doc: number): Doc => {
  const found = documents.get(doc)
  if (found === undefined) throw new Error('gone')
  return found
}

function membersOf(doc: Doc, at: number): Members {
  let members = doc.members.get(at)
  if (members === undefined) {
    members = membersAt(doc.bytes, at, doc.long)
    doc.members.set(at, members)
  }
  return members
}

const isContainer = (kind: Kind): boolean => kind === 'object' || kind === 'array'

function refOf(number: number, start: number, end: number): NodeRef {
  const doc = docOf(number)
  const kind = kindAt(doc.bytes, start)
  const counts = isContainer(kind) && end - start < countBelowBytes
  return { doc: number, start, end, kind, count: counts ? membersOf(doc, start).count : null }
}

export function openDocument(bytes: Uint8Array): NodeRef {
  const start = skipSpace(bytes, 0)
  const doc = keep(bytes)
  return refOf(doc, start, skipValue(bytes, start, docOf(doc).long))
}

/** Members of an object by name, without opening any of them. */
export function memberRefs({ doc, start }: NodeRef): Map<string, NodeRef> {
  const { bytes } = docOf(doc)
  const { count, keys, starts, ends } = membersOf(docOf(doc), start)
  const refs = new Map<string, NodeRef>()
  for (let n = 0; n < count; n++) {
    const key = keys[n] as number
    const name = key < 0 ? String(n) : stringAt(bytes, key, skipValue(bytes, key))
    refs.set(name, refOf(doc, starts[n] as number, ends[n] as number))
  }
  return refs
}

function previewOf({ bytes }: Doc, { start, end, kind }: NodeRef): string {
  if (kind === 'string') return stringHead(bytes, start, end, previewCharacters)
  if (isContainer(kind)) return ''
  return textBetween(bytes, start, Math.min(end, start + previewCharacters))
}

export const membersCount = (doc: number, start: number): number => membersOf(docOf(doc), start).count

export function slice(number: number, at: number, from: number, to: number): NodeRow[] {
  const doc = docOf(number)
  const { count, keys, starts, ends } = membersOf(doc, at)
  const rows: NodeRow[] = []
  for (let n = Math.max(0, from); n < Math.min(to, count); n++) {
    const start = starts[n] as number
    const end = ends[n] as number
    const key = keys[n] as number
    const ref = refOf(number, start, end)
    rows.push({
      ...ref,
      key: key < 0 ? null : stringHead(doc.bytes, key, skipValue(doc.bytes, key), 1_000),
      preview: previewOf(doc, ref),
      bytes: end - start,
      holdsJson: ref.kind === 'string' && holdsJson(doc.bytes, start, end, 262_144),
    })
  }
  return rows
}

/** A string's text as a document of its own. */
export function unwrap(number: number, start: number, end: number): NodeRef {
  return openDocument(new TextEncoder().encode(stringAt(docOf(number).bytes, start, end)))
}

/** The JSON of a value as it is spelled. */
export const jsonTextOf = ({ doc, start, end }: Pick<NodeRef, 'doc' | 'start' | 'end'>): string =>
  textBetween(docOf(doc).bytes, start, end)

/** The stored text: a string's characters, everything else as it is spelled. */
export function copyText(number: number, start: number, end: number): string {
  const { bytes } = docOf(number)
  return bytes[start] === 0x22 ? stringAt(bytes, start, end) : textBetween(bytes, start, end)
}

/** Lines of a text, long ones broken, so that one of 10 MB can be windowed. */
function linesOf(number: number, start: number, end: number): string[] {
  const doc = docOf(number)
  let lines = doc.lines.get(start)
  if (lines === undefined) {
    lines = []
    for (const line of copyText(number, start, end).split('\n')) {
      for (let at = 0; at === 0 || at < line.length; at += lineCharacters)
        lines.push(line.slice(at, at + lineCharacters))
    }
    doc.lines.set(start, lines)
  }
  return lines
}

export const lineCount = (number: number, start: number, end: number): number => linesOf(number, start, end).length
export const lineSlice = (number: number, start: number, end: number, from: number, to: number): string[] =>
  linesOf(number, start, end).slice(from, to)

const maxHits = 1_000
const sliceBytes = 2 ** 20

/** Offsets of a text between two places, a slice at a time so that other requests pass. */
export async function find(number: number, start: number, end: number, text: string): Promise<Hits> {
  const { bytes } = docOf(number)
  // The text as it is in JSON; a quote or a line feed is escaped there.
  const needle = new TextEncoder().encode(JSON.stringify(text).slice(1, -1))
  const offsets: number[] = []
  for (let from = start; from < end && offsets.length < maxHits; from += sliceBytes) {
    const to = Math.min(end, from + sliceBytes)
    offsets.push(...findBytes(bytes, needle, from, to, maxHits - offsets.length))
    await new Promise((resolve) => setTimeout(resolve))
  }
  return { offsets, isCut: offsets.length >= maxHits }
}

/** The members of the containers on the way to an offset. */
export function locate(number: number, at: number, offset: number): number[] {
  const doc = docOf(number)
  const path: number[] = []
  let start = at
  while (isContainer(kindAt(doc.bytes, start))) {
    const { count, starts, ends } = membersOf(doc, start)
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) <= offset) low = middle + 1
      else high = middle
    }
    if (count === 0) break
    path.push(low)
    if ((starts[low] as number) > offset) break
    start = starts[low] as number
  }
  return path
}
