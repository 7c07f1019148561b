// Members of a provider's answer in its bytes: of an answer of megabytes only what is asked for becomes a value.
import { isUtf8 } from 'node:buffer'
import { enter, type Names, nextMember, skipValue } from '../content/json-scan.ts'
import { endScan } from '../core/json/strict-walk.ts'
import { startScan } from '../core/json/tokens.ts'

/** Nesting at which an answer is refused. */
const maxDepth = 1_000_000

type Place = { start: number; end: number }

export type AnswerMembers = {
  /** The bytes as they came; those that are no UTF-8 are replaced. */
  bytes: Buffer
  /** Places of the values of the requested members, of repeated ones the last. */
  places: Map<string, Place>
  /** End of the object; undefined when the answer is none. */
  close: number | undefined
}

/** @throws when it is no JSON */
export function answerMembers(answer: Buffer, names: Names): AnswerMembers {
  const bytes = isUtf8(answer) ? answer : Buffer.from(answer.toString())
  const scan = startScan(bytes, Math.min(maxDepth, bytes.length))
  const places = new Map<string, Place>()
  // A byte order mark is not JSON.
  if (bytes[0] === 0xef) throw new SyntaxError('a byte order mark is not JSON')
  let close: number | undefined
  if (enter(scan, 123)) {
    for (let name = nextMember(scan, names); name !== -1; name = nextMember(scan, names)) {
      const start = scan.at
      skipValue(scan)
      places.set(names.texts[name] as string, { start, end: scan.at })
    }
    close = scan.at - 1
  } else skipValue(scan)
  endScan(scan)
  return { bytes, places, close }
}

/** JSON text of a member; undefined when it is absent. */
export function answerMember({ bytes, places }: AnswerMembers, name: string): string | undefined {
  const place = places.get(name)
  return place && bytes.toString('utf8', place.start, place.end)
}

/** The object with members that it lacks, or that are null; its very bytes when there are none. Values are JSON texts. */
export function withMembers({ bytes, places, close }: AnswerMembers, filling: [name: string, text: string][]): Buffer {
  if (close === undefined) return bytes
  const nulls: (Place & { text: string })[] = []
  const absent: string[] = []
  for (const [name, text] of filling) {
    const place = places.get(name)
    if (place === undefined) absent.push(`${JSON.stringify(name)}:${text}`)
    else if (bytes.toString('latin1', place.start, place.end) === 'null') nulls.push({ ...place, text })
  }
  if (nulls.length + absent.length === 0) return bytes
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, end, text } of nulls.sort((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(from, start), Buffer.from(text))
    from = end
  }
  const isEmpty = /^\s*\{\s*$/.test(bytes.toString('latin1', 0, Math.min(close, 1000)))
  pieces.push(bytes.subarray(from, close))
  if (absent.length > 0) pieces.push(Buffer.from(`${isEmpty ? '' : ','}${absent.join(',')}`))
  return Buffer.concat([...pieces, bytes.subarray(close)])
}
