// Images, sound and files in recorded values: where their bytes are, and what they are by their first bytes.

export type MediaSource =
  /** Written into the value itself. */
  | { from: 'base64'; type: string | null; base64: string; name: string }
  /** A file of the project. */
  | { from: 'file'; digest: string; name: string }
  /** An object that holds files. */
  | { from: 'ref'; ref: string; name: string }
  /** Somewhere else: never loaded. */
  | { from: 'address'; address: string; name: string }
export type FoundMedia = { path: string; source: MediaSource }

type Members = Record<string, unknown>
const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Members)[key] : undefined
const textIn = (value: unknown, keys: readonly string[]): string | null => {
  for (const key of keys) {
    const found = own(value, key)
    if (typeof found === 'string' && found !== '') return found
  }
  return null
}

const dataUri = /^data:([\w.+-]{1,80}\/[\w.+-]{1,80})?(?:;[\w.+-]{1,40}=[^;,]{0,100})*;base64,/
/** Refs to the contents that a server takes out of calls, and to objects of files. */
const objectRef = /^weave:\/\/\/[^/\s]+\/[^/\s]+\/object\/([^/:\s]+):[^/:\s]+$/

/** Contents that a server took out of a call are named by their kind and the first digits of their hash. */
const contentRef = /^weave:\/\/\/[^/\s]+\/[^/\s]+\/object\/[a-z]{1,20}-[\da-f]{4}(?:\.\w{1,12})?:[^/:\s]+$/

export const isContentRef = (text: string): boolean => contentRef.test(text)

/** The media of a text that is given as an image, a sound or a file. */
function mediaText(text: string, type: string | null, name: string): MediaSource | null {
  const uri = dataUri.exec(text)
  if (uri !== null) return { from: 'base64', type: uri[1] ?? type, base64: text.slice(uri[0].length), name }
  const ref = objectRef.exec(text)
  if (ref !== null) return { from: 'ref', ref: text, name: ref[1] as string }
  if (/^[a-z][\w+.-]*:/i.test(text)) return { from: 'address', address: text, name }
  return /^[\w+/=\s-]{16,}$/.test(text.slice(0, 4_000)) ? { from: 'base64', type, base64: text, name } : null
}

const pictureUri = /data:(image\/(?:png|jpe?g|gif|webp|avif));base64,([\w+/-]{16,}={0,2})/g
/** Longer ones stay text. */
const maxPicture = 2 ** 18
const maxPictures = 20

type Picture = Extract<MediaSource, { from: 'base64' }>

/** A text cut where images are written into it as data URIs. */
export function withPictures(text: string): (string | Picture)[] {
  if (!text.includes(';base64,')) return [text]
  const found: (string | Picture)[] = []
  let [from, pictures] = [0, 0]
  for (const { 0: uri, 1: type = '', 2: base64 = '', index } of text.matchAll(pictureUri)) {
    if (base64.length > maxPicture || pictures === maxPictures) continue
    pictures++
    if (index > from) found.push(text.slice(from, index))
    found.push({ from: 'base64', type, base64, name: type })
    from = index + uri.length
  }
  if (from < text.length || found.length === 0) found.push(text.slice(from))
  return found
}

/** Whether a text that begins so, and is so long, may be an image and nothing else. */
export const maybePicture = (head: string, length: number): boolean =>
  length <= maxPicture && /^data:image\/(?:png|jpe?g|gif|webp|avif);base64,/.test(head)

/** The media of an object in which SDKs keep images, sound and other contents. */
export function filesObject(value: unknown): MediaSource | null {
  if (own(value, '_type') !== 'CustomWeaveType') return null
  const files = own(value, 'files')
  if (typeof files !== 'object' || files === null) return null
  const found = Object.entries(files).find(([name, digest]) => name !== 'metadata.json' && typeof digest === 'string')
  return found === undefined || found[0] === 'obj.py' ? null : { from: 'file', digest: found[1], name: found[0] }
}

const typeKeys = ['mime_type', 'mediaType', 'media_type', 'mimeType', 'image_mimetype']
const nameKeys = ['filename', 'file_name', 'name', 'title']
/** A file that a provider keeps is named by its id. */
const fileIdKeys = ['file_id', 'fileId']
const innerKeys = [
  'image_url',
  'input_audio',
  'source',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'file',
  'image',
  'audio',
  'video',
  'document',
  's3Location',
]
const valueKeys = [
  'url',
  'data',
  'file_data',
  'fileUri',
  'file_uri',
  'file_url',
  'uri',
  'content',
  'base64',
  'blob',
  'bytes',
  'base64_image',
  'document_url',
]
/** The type of a part that names a format alone. */
const formatType = (kind: string, format: string): string =>
  kind === 'document' ? `application/${format}` : `${/^(?:image|video)/.exec(kind)?.[0] ?? 'audio'}/${format}`

/** Source of the bytes of a message's part: the part itself, or one of its members, holds them or names them. */
export function mediaSourceOf(part: unknown, kind: string, outer: string | null = null, depth = 0): MediaSource | null {
  if (typeof part === 'string') return mediaText(part, outer, kind)
  const files = filesObject(part)
  if (files !== null || depth > 3 || typeof part !== 'object' || part === null) return files
  const name = textIn(part, nameKeys) ?? kind
  const format = textIn(part, ['format'])
  const type = textIn(part, typeKeys) ?? (format === null ? outer : formatType(kind, format))
  const value = textIn(part, valueKeys)
  if (value !== null) return mediaText(value, type, name)
  for (const key of [...innerKeys, ...valueKeys]) {
    const inner = own(part, key)
    const found = typeof inner === 'string' ? mediaText(inner, type, name) : mediaSourceOf(inner, name, type, depth + 1)
    if (found !== null) return found
  }
  const id = textIn(part, fileIdKeys)
  return id === null ? null : { from: 'address', address: id, name }
}

const maxFound = 24
const maxVisited = 50_000

/** The media of a payload, with the path of each; a text counts where it names its own type. */
export function mediaIn(value: unknown, start: string): FoundMedia[] {
  const found: FoundMedia[] = []
  let visited = 0
  const visit = (one: unknown, path: string, depth: number): void => {
    if (found.length >= maxFound || ++visited > maxVisited || depth > 24) return
    if (typeof one === 'string') {
      const isMedia = dataUri.test(one) || isContentRef(one)
      const source = isMedia ? mediaText(one, null, path.slice(path.lastIndexOf('.') + 1)) : null
      if (source !== null) found.push({ path, source })
      return
    }
    if (typeof one !== 'object' || one === null) return
    const source = filesObject(one)
    if (source !== null) return void found.push({ path, source })
    for (const [key, inner] of Object.entries(one)) visit(inner, `${path}.${key}`, depth + 1)
  }
  visit(value, start, 0)
  return found
}

type Kind = 'image' | 'audio' | 'video'
const ascii = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))

/** Types by first bytes; these and no others are shown. */
const known: readonly { type: string; is(bytes: Uint8Array): boolean }[] = [
  { type: 'image/png', is: (bytes) => ascii(bytes, 0, 8) === '\u0089PNG\r\n\u001a\n' },
  { type: 'image/jpeg', is: (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff },
  { type: 'image/gif', is: (bytes) => /^GIF8[79]a/.test(ascii(bytes, 0, 6)) },
  { type: 'image/webp', is: (bytes) => /^RIFF.{4}WEBP/s.test(ascii(bytes, 0, 12)) },
  { type: 'image/avif', is: (bytes) => /^.{4}ftypavi[fs]/s.test(ascii(bytes, 0, 12)) },
  { type: 'audio/wav', is: (bytes) => /^RIFF.{4}WAVE/s.test(ascii(bytes, 0, 12)) },
  { type: 'audio/ogg', is: (bytes) => ascii(bytes, 0, 4) === 'OggS' },
  { type: 'video/webm', is: (bytes) => ascii(bytes, 0, 4) === '\u001aE\u00df\u00a3' },
  { type: 'video/mp4', is: (bytes) => ascii(bytes, 4, 8) === 'ftyp' },
  {
    type: 'audio/mpeg',
    is: (bytes) => ascii(bytes, 0, 3) === 'ID3' || (bytes[0] === 0xff && [0xfb, 0xf3, 0xf2].includes(bytes[1] ?? 0)),
  },
]
const otherNames: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/webm': 'video/webm',
  'audio/mp4': 'video/mp4',
}

/** The type by which bytes are shown: their own, where it is the declared one; null = as a download. */
export function shownAs(bytes: Uint8Array, said: string | null): { type: string; kind: Kind } | null {
  const found = known.find(({ is }) => is(bytes))
  if (found === undefined) return null
  const named = said === null ? found.type : (otherNames[said.toLowerCase()] ?? said.toLowerCase())
  return named === found.type ? { type: found.type, kind: found.type.split('/')[0] as Kind } : null
}

/** A name that a file may be saved by. */
export const fileName = (name: string): string =>
  name
    .replaceAll(/[^\p{L}\p{N} ._-]+/gu, '-')
    .replace(/^[ .]+/, '')
    .slice(0, 100) || 'file'
