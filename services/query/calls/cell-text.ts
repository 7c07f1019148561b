// The text of one value of a JSON document in a table: found in the stored bytes, cut, never parsed as a whole.
import type { Cell } from '../../../schemas/call-values.ts'
import { type BytePlace, itemsAt, membersAt, placeOf } from '../../core/json/byte-walk.ts'
import { ownValueKey, ownValueLead } from '../../core/json/own-value.ts'
import type { PathSegment } from '../language/types.ts'

/** Keys of an object that are looked at for its cell. */
const maxKeys = 1_000

/** Index before which a string token can be cut so that at least `chars` of its characters are there. */
function cutOf(text: Buffer, { start, end }: BytePlace, chars: number): number {
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

function stringCell(text: Buffer, place: BytePlace, chars: number): Cell {
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
  for (const { key: name, valueStart, end } of membersAt(object, files.start)) {
    if (name === 'metadata.json') continue
    if (name === 'obj.py' || object[valueStart] !== 0x22 || name.length + end - valueStart > maxFileText)
      return undefined
    const digest = JSON.parse(object.toString('utf8', valueStart, end)) as string
    return { name: name.toWellFormed(), digest: digest.toWellFormed() }
  }
  return undefined
}

function objectCell(text: Buffer, place: BytePlace, chars: number): Cell {
  const keys: string[] = []
  let isMedia = false
  let length = 0
  let isCut = false
  for (const { key, valueStart, end } of membersAt(text, place.start)) {
    if (keys.length === maxKeys || length > chars) {
      isCut = true
      break
    }
    keys.push(key)
    length += key.length + 2
    if (key === '_type') isMedia = text.toString('utf8', valueStart, end) === '"CustomWeaveType"'
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

function arrayCell(text: Buffer, place: BytePlace): Cell {
  let count = 0
  for (const _ of itemsAt(text, place.start)) count++
  return { type: 'array', text: String(count), size: place.end - place.start, is_cut: false }
}

function cellAt(text: Buffer, place: BytePlace, chars: number): Cell {
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

/** The cell of the value at a path; null when there is none. */
export function cellOf(text: Buffer, path: readonly PathSegment[], chars: number): Cell | null {
  const place = placeOf(text, path)
  return place && cellAt(text, place, chars)
}

/** The same of an attribute: of an object with a value of its own it is that of this value. */
export function attributeCell(text: Buffer, path: readonly PathSegment[], chars: number): Cell | null {
  const place = placeOf(text, path)
  if (place === null) return null
  const isOwn = text.toString('latin1', place.start, place.start + ownValueLead.length) === ownValueLead
  return cellAt(text, (isOwn && placeOf(text, [...path, ownValueKey])) || place, chars)
}
