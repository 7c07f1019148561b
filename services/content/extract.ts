// Content extraction: long base64 texts in calls become stored files behind an object, and the text becomes its ref.
import { hash } from 'node:crypto'
import type { Blobs } from '../core/blobs/blobs.ts'
import type { Clock } from '../core/clock/clock.ts'
import type { ProjectId } from '../core/ids.ts'
import type { Log } from '../core/log/log.ts'
import { createRecent } from '../core/memory/lru-cache.ts'
import { fileDigest } from '../events/digest.ts'
import { fileRecord } from '../events/files.ts'
import { type ObjectContent, objectContent, objectRecord } from '../events/objects.ts'
import { type ContentStore, inlineTextLength } from './content-port.ts'
import { extensionOf, sniffMime } from './media-types.ts'

/** The content of a text, by calls.md section 7. */
type Found = { form: 'data_url' | 'base64'; mime: string; bytes: Buffer }

const base64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Contents that calls name may be erased with them; then they have to be stored again. */
const rememberedMs = 600_000
/** Base64 digits whose bytes decide the media type. */
const headDigits = 2736
const maxMimeLength = 200

function dataUri(text: string): Found | null {
  const semicolon = text.indexOf(';')
  if (text.slice(semicolon, semicolon + 8).toLowerCase() !== ';base64,') return null
  const mime = text.slice(5, semicolon)
  const digits = text.slice(semicolon + 8)
  if (!/^[\x21-\x7e]+$/.test(mime) || mime.length > maxMimeLength) return null
  if (digits.length % 4 !== 0 || !base64.test(digits)) return null
  return { form: 'data_url', mime, bytes: Buffer.from(digits, 'base64') }
}

function bareBase64(text: string): Found | null {
  if (text.length % 4 !== 0 || !base64.test(text)) return null
  // Most such texts are no files: look at their beginning before decoding all of them.
  const mime = sniffMime(Buffer.from(text.slice(0, headDigits), 'base64'))
  return mime === null ? null : { form: 'base64', mime, bytes: Buffer.from(text, 'base64') }
}

function find(text: string): Found | null {
  if (text.length <= inlineTextLength) return null
  return text.slice(0, 5).toLowerCase() === 'data:' ? dataUri(text) : bareBase64(text)
}

type Content = {
  projectId: ProjectId
  userId: string
  objectId: string
  object: ObjectContent
  files: { name: string; digest: string; bytes: Buffer }[]
}

/** The files and the object of a content; null when it gives no valid object name. */
function describe(projectId: ProjectId, userId: string, { form, mime, bytes }: Found, sha256: string): Content | null {
  const main = (mime.split('/')[0] as string).replace(/^application$/i, 'file')
  const extension = extensionOf(mime)
  const filename = `${main}-${sha256.slice(0, 4)}${extension}`
  const objectId = filename
    .toLowerCase()
    .replace(/[ /]/g, '_')
    .replace(/[^a-z0-9_.-]/g, '')
  if (objectId.length > 128) return null
  const metadata = Buffer.from(
    JSON.stringify({
      size: bytes.length,
      mimetype: mime,
      digest: sha256,
      filename,
      content_type: form === 'data_url' ? 'data_url:base64' : 'base64',
      input_type: 'str',
      encoding: form === 'data_url' ? 'us-ascii' : 'base64',
      metadata: null,
      extension,
    }),
  )
  const files = [
    { name: 'content', digest: fileDigest(bytes), bytes },
    { name: 'metadata.json', digest: fileDigest(metadata), bytes: metadata },
  ]
  const value = {
    _type: 'CustomWeaveType',
    weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
    files: Object.fromEntries(files.map((file) => [file.name, file.digest])),
  }
  return { projectId, userId, objectId, object: objectContent(JSON.stringify(value)), files }
}

/**
 * @param deps.recentLimit how many contents are remembered as stored; about 300 bytes each
 */
export function createContent(deps: {
  log: Pick<Log, 'append'>
  clock: Clock
  blobs: Blobs
  recentLimit?: number
}): ContentStore {
  const { log, clock, blobs } = deps
  /** Refs of contents that are durable. */
  const stored = createRecent<string>(deps.recentLimit ?? 10_000, rememberedMs)

  return {
    begin() {
      const pending = new Map<string, { ref: string; content: Content }>()
      return {
        extract(project, userId, text) {
          try {
            const found = find(text)
            if (found === null) return null
            const projectId = project as ProjectId
            const sha256 = hash('sha256', found.bytes, 'hex')
            const key = `${projectId}\n${sha256}\n${found.form}\n${found.mime}`
            const known = stored.get(key) ?? pending.get(key)?.ref
            if (known !== undefined) return known
            const content = describe(projectId, userId, found, sha256)
            if (content === null) return null
            const ref = `weave:///${projectId}/object/${content.objectId}:${content.object.digest}`
            pending.set(key, { ref, content })
            return ref
          } catch {
            // The text stays where it is, so nothing is lost; a call is never refused for its content.
            return null
          }
        },
        async append() {
          if (pending.size === 0) return []
          const batch = [...pending]
          const contents = batch.map(([, { content }]) => content)
          const files = await Promise.all(
            contents.flatMap(({ projectId, files }) =>
              files.map(({ name, digest, bytes }) =>
                fileRecord(blobs, { projectId, digest, clock: clock.next(), name, sizeBytes: bytes.length }, bytes),
              ),
            ),
          )
          const objects = contents.map(({ projectId, userId, objectId, object }) =>
            objectRecord({
              ...object,
              projectId,
              objectId,
              kind: 'object',
              clock: clock.next(),
              userId,
              baseClass: '',
              leafClass: '',
              refs: [],
            }),
          )
          const positions = [await log.append('files', files), await log.append('objects', objects)]
          for (const [key, { ref }] of batch) {
            stored.set(key, ref)
            pending.delete(key)
          }
          return positions
        },
      }
    },
  }
}
