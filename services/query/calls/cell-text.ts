// What a table shows of one value of a JSON document: found in the stored bytes, cut, never parsed as a whole.
import type { Cell } from '../../../schemas/call-values.ts'
import { byteStringEnd, byteValueEnd, skipByteSpace } from '../../core/json/byte-walk.ts'
import type { PathSegment } from '../language/types.ts'

/** Keys of an object that are looked at for its cell. */
const maxKeys = 1_000

type Place = { start: number; end: number }

const keyAt = (text: Buffer, at: number, end: number): string => JSON.parse(text.toString('utf8', at, end)) as string

/** The members of the object at a place, in their order. */
function* membersAt(text: Buffer, at: number): Generator<{ key: string } & Place> {
  let i = skipByteSpace(text, at + 1)
  while (text[i] === 0x22) {
    const keyEnd = byteStringEnd(text, i)
    const key = keyAt(text, i, keyEnd)
    const start = skipByteSpace(text, skipByteSpace(text, keyEnd) + 1)
    const end = byteValueEnd(text, start)
    yield { key, start, end }
    i = skipByteSpace(text, end)
    if (text[i] === 0x2c) i = skipByteSpace(text, i + 1)
  }
}

function* itemsAt(text: Buffer, at: number): Generator<Place> {
  let i = skipByteSpace(text, at + 1)
  while (i < text.length && text[i] !== 0x5d) {
    const end = byteValueEnd(text, i)
    yield { start: i, end }
    i = skipByteSpace(text, end)
    if (text[i] === 0x2c) i = skipByteSpace(text, i + 1)
  }
}

function childOf(text: Buffer, at: number, segment: PathSegment): Place | null {
  if (text[at] === 0x7b) {
    for (const member of membersAt(text, at)) if (member.key === String(segment)) return member
    return null
  }
  if (text[at] !== 0x5b || typeof segment !== 'number') return null
  let n = 0
  for (const item of itemsAt(text, at)) if (n++ === segment) return item
  return null
}

/** Where the value of a path lies in a valid JSON text; null when there is none. Of members that come again, the first. */
export function placeOf(text: Buffer, path: readonly PathSegment[]): Place | null {
  const start = skipByteSpace(text, 0)
  if (start >= text.length) return null
  let place: Place = { start, end: byteValueEnd(text, start) }
  for (const segment of path) {
    const child = childOf(text, place.start, segment)
    if (child === null) return null
    place = child
  }
  return place
}

/** Index before which a string token can be cut so that at least `chars` of its characters are there. */
function cutOf(text: Buffer, { start, end }: Place, chars: number): number {
  let i = start + 1
  for (let n = 0; n < chars && i < end - 1; n++) {
    const byte = text[i] as number
    if (byte === 0x5c) i += text[i + 1] === 0x75 ? 6 : 2
    else i += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
  }
  return Math.min(i, end - 1)
}

/** A text of at most `chars` characters, with no half of a pair at its end. */
const cutText = (text: string, chars: number): string =>
  text
    .slice(0, chars)
    .toWellFormed()
    .replace(/\ufffd$/, '')

const dataUri = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,/

function stringCell(text: Buffer, place: Place, chars: number): Cell {
  const size = place.end - place.start - 2
  // One more than is shown tells whether something is left out; a data URI shows its type within these.
  const until = cutOf(text, place, Math.max(chars + 1, 100))
  const head = JSON.parse(`${text.toString('utf8', place.start, until)}"`) as string
  const media = dataUri.exec(head)
  if (media)
    return {
      type: 'media',
      text: media[1] as string,
      size: Math.floor(((size - media[0].length) * 3) / 4),
      is_cut: false,
    }
  const isCut = until < place.end - 1 || head.length > chars
  return { type: 'string', text: isCut ? cutText(head, chars) : head.toWellFormed(), size, is_cut: isCut }
}

/** Longer names and digests are none that a file of the project has. */
const maxFileText = 300

/** The file with the contents of an object of files: not what describes it, nor code that loads it. */
function fileOf(object: Buffer): Cell['file'] {
  const files = placeOf(object, ['files'])
  if (files === null || object[files.start] !== 0x7b) return undefined
  for (const { key: name, start, end } of membersAt(object, files.start)) {
    if (name === 'metadata.json') continue
    if (name === 'obj.py' || object[start] !== 0x22 || name.length + end - start > maxFileText) return undefined
    return { name: name.toWellFormed(), digest: keyAt(object, start, end).toWellFormed() }
  }
  return undefined
}

function objectCell(text: Buffer, place: Place, chars: number): Cell {
  const keys: string[] = []
  let isMedia = false
  let length = 0
  let isCut = false
  for (const { key, start, end } of membersAt(text, place.start)) {
    if (keys.length === maxKeys || length > chars) {
      isCut = true
      break
    }
    keys.push(key)
    length += key.length + 2
    if (key === '_type') isMedia = text.toString('utf8', start, end) === '"CustomWeaveType"'
  }
  const size = place.end - place.start
  if (isMedia) {
    const object = text.subarray(place.start, place.end)
    const type = placeOf(object, ['weave_type', 'type'])
    const name = type && stringCell(object, type, chars)
    const file = fileOf(object)
    return { type: 'media', text: name?.text ?? '', size, is_cut: false, ...(file && { file }) }
  }
  const joined = keys.join(', ')
  isCut ||= joined.length > chars
  return { type: 'object', text: cutText(joined, chars).toWellFormed(), size, is_cut: isCut }
}

function arrayCell(text: Buffer, place: Place): Cell {
  let count = 0
  for (const _ of itemsAt(text, place.start)) count++
  return { type: 'array', text: String(count), size: place.end - place.start, is_cut: false }
}

/** The cell of the value at a path; null when there is none. */
export function cellOf(text: Buffer, path: readonly PathSegment[], chars: number): Cell | null {
  const place = placeOf(text, path)
  if (place === null) return null
  const first = text[place.start]
  if (first === 0x22) return stringCell(text, place, chars)
  if (first === 0x7b) return objectCell(text, place, chars)
  if (first === 0x5b) return arrayCell(text, place)
  const word = text.toString('latin1', place.start, Math.min(place.end, place.start + chars))
  const size = place.end - place.start
  if (first === 0x6e) return { type: 'null', text: 'null', size, is_cut: false }
  const type = first === 0x74 || first === 0x66 ? 'bool' : 'number'
  return { type, text: word, size, is_cut: size > chars }
}
