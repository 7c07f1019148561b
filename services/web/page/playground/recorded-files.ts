// The images and PDFs of recorded messages, as a draft sends them again: read once, known by their first bytes.

import { shownAs } from '../engine/media.ts'
import type { Message, Part } from '../engine/message-parts.ts'
import { load, maxUnasked } from '../parts/media.tsx'
import { type Attachments, attachmentsOf, dataAddressOf, maxBytes } from './attach.tsx'
import { type DraftMessage, documentType, hasFiles, imageTypes, isElsewhere, maxDocuments, maxImages } from './draft.ts'

/** Bytes of all messages: a request is not much larger than this. */
const maxAllBytes = 16 * 2 ** 20
const maxLoaded = 50
const pdfHead = '%PDF-'

type MediaPart = Extract<Part, { is: 'media' }>
type Taken = { files: Attachments; bytes: number }

const typeOf = (head: Uint8Array, said: string | null): string | undefined =>
  String.fromCharCode(...head.subarray(0, pdfHead.length)) === pdfHead ? documentType : shownAs(head, said)?.type

/** The message with one file more; undefined where it is no image or PDF, has no place, or cannot be read. */
async function withPart(
  projectId: string,
  { source, text }: MediaPart,
  { files, bytes }: Taken,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  if (source === null) return undefined
  const { images, documents } = files
  if (source.from === 'address') {
    // The model's provider fetches an address again that it fetched before; the page does not.
    const fits = /image/.test(text) && isElsewhere(source.address) && images.length < maxImages
    return fits ? { files: { images: [...images, source.address], documents }, bytes } : undefined
  }
  const loaded = await load(projectId, source, maxUnasked, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    return undefined
  })
  if (loaded === undefined || !('blob' in loaded)) return undefined
  const size = bytes + loaded.blob.size
  const type = typeOf(loaded.head, source.from === 'base64' ? source.type : null)
  if (type === undefined || loaded.blob.size > maxBytes || size > maxAllBytes) return undefined
  const isDocument = type === documentType
  if (!isDocument && !imageTypes.includes(type)) return undefined
  if (isDocument ? documents.length >= maxDocuments : images.length >= maxImages) return undefined
  const data = await dataAddressOf(new Blob([loaded.blob], { type }))
  const added = isDocument
    ? { images, documents: [...documents, { name: source.name.slice(0, 200), data }] }
    : { images: [...images, data], documents }
  return { files: added, bytes: size }
}

/**
 * @param recorded the messages that the drafts were made of, in their order
 * @returns the drafts with their files, and how many files are not among them
 */
export async function withRecordedFiles(
  projectId: string,
  recorded: readonly Message[],
  drafts: readonly DraftMessage[],
  signal: AbortSignal,
): Promise<{ messages: DraftMessage[]; left: number }> {
  const messages: DraftMessage[] = []
  let [left, tried, bytes] = [0, 0, 0]
  for (const [place, draft] of drafts.entries()) {
    let files = attachmentsOf(draft)
    for (const part of recorded[place]?.parts ?? []) {
      if (part.is !== 'media') continue
      const taken = ++tried > maxLoaded ? undefined : await withPart(projectId, part, { files, bytes }, signal)
      if (taken === undefined) left++
      else ({ files, bytes } = taken)
    }
    const withFiles = { ...draft, ...files }
    messages.push(hasFiles(withFiles) ? withFiles : draft)
  }
  return { messages, left }
}
