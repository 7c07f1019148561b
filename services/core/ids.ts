// Branded ids, their formats, and the generator of time-ordered ids.
import { randomBytes } from 'node:crypto'
import { malformed } from './errors.ts'

/** `<entity>/<project>`: exactly one slash, both parts non-empty. */
export type ProjectId = string & { readonly __brand: 'ProjectId' }

/** It stands in every row, key and ref of the project. */
const maxProjectLength = 512
/**
 * Two parts that are not `.` or `..`, which addresses cannot hold. Nothing that stands for another text by the time it
 * is stored (U+FFFD is what is left of bytes that were no UTF-8), and none of the characters that keys are joined with.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const projectForm = /^(?!\.{1,2}\/)[^/\u0000-\u001f\u007f\ufffd]+\/(?!\.{1,2}$)[^/\u0000-\u001f\u007f\ufffd]+$/

/**
 * Parses a project id, which is compared byte for byte: letter case, blanks and forms of Unicode count.
 * @throws Refusal `malformed` when it is malformed
 */
export function parseProjectId(value: string): ProjectId {
  if (value.length > maxProjectLength || !projectForm.test(value) || !value.isWellFormed())
    throw malformed(`Invalid project_id: ${JSON.stringify(value.slice(0, 200))}; expected <entity>/<project>`)
  return value as ProjectId
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Call id: canonical lower-case UUID, or exactly 16 lower-case characters (span id form). */
export const isCallId = (value: string): boolean =>
  value.length === 36 ? uuid.test(value) : value.length === 16 && value === value.toLowerCase()

const hexForm = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i

/** An id of a span or a trace as it is stored: hexadecimal digits in small letters. Ids of another form are as they are. */
export const storedId = (id: string): string => (hexForm.test(id) ? id.toLowerCase() : id)

/** Trace id: canonical lower-case UUID, or exactly 32 lower-case characters. */
export const isTraceId = (value: string): boolean =>
  value.length === 36 ? uuid.test(value) : value.length === 32 && value === value.toLowerCase()

let pool = Buffer.alloc(0)
let used = 0

/** UUID version 7 (RFC 9562): 48-bit millisecond timestamp, then random bits. */
export function uuidv7(nowMs = Date.now()): string {
  if (used + 10 > pool.length) {
    pool = randomBytes(4000)
    used = 0
  }
  const time = nowMs.toString(16).padStart(12, '0')
  const random = pool.toString('hex', used, used + 10)
  used += 10
  const variant = ((Number.parseInt(random[3] as string, 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}

let orderedMs = 0
let orderedHead = ''
let orderedTail = 0

/** UUID version 7, greater than every one that this process has had before: the random tail counts up (RFC 9562, 6.2). */
export function orderedUuidv7(nowMs = Date.now()): string {
  orderedTail++
  if (nowMs > orderedMs || orderedTail >= 2 ** 48) {
    orderedMs = Math.max(nowMs, orderedMs + 1)
    const id = uuidv7(orderedMs)
    orderedHead = id.slice(0, 24)
    orderedTail = Number.parseInt(id.slice(24), 16)
  }
  return orderedHead + orderedTail.toString(16).padStart(12, '0')
}
