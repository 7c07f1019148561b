// Images and PDFs of a message: from files or pasted, small enough to be part of a request.
import { useRef } from 'react'
import { bytes } from '../engine/format.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import {
  type Attached,
  type DraftMessage,
  documentType,
  imageTypes,
  isElsewhere,
  maxDocuments,
  maxImages,
} from './draft.ts'

export const maxBytes = 4 * 2 ** 20

export const dataAddressOf = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

type Found = { images: string[]; documents: Attached[]; fault?: string }

/** The images and PDFs among files; why one of them is neither is told. */
async function attachedOf(files: Iterable<File>): Promise<Found> {
  const found: Found = { images: [], documents: [] }
  for (const file of files) {
    const isDocument = file.type === documentType
    if (!isDocument && !imageTypes.includes(file.type))
      return { ...found, fault: 'Only images (PNG, JPEG, GIF, WebP) and PDFs can be attached' }
    if (file.size > maxBytes) return { ...found, fault: `${bytes(file.size)} is too large: at most ${bytes(maxBytes)}` }
    const data = await dataAddressOf(file)
    if (isDocument) found.documents.push({ name: file.name.slice(0, 200), data })
    else found.images.push(data)
  }
  return found
}

export type Attachments = Required<Pick<DraftMessage, 'images' | 'documents'>>
export const attachmentsOf = ({ images = [], documents = [] }: DraftMessage): Attachments => ({ images, documents })

/** The files of a message and some more; beyond the limit of each kind they are left out. */
export async function withFiles(
  { images, documents }: Attachments,
  files: Iterable<File>,
): Promise<Attachments & { fault: string | undefined }> {
  const found = await attachedOf(files)
  return {
    images: [...images, ...found.images].slice(0, maxImages),
    documents: [...documents, ...found.documents].slice(0, maxDocuments),
    fault: found.fault,
  }
}

type Props = {
  label: string
  attached: Attachments
  /** The reason why some of the files were not added. */
  fault: string | undefined
  onFiles(files: Iterable<File>): void
  onChange(attached: Attachments): void
}

export function Attach({ label, attached, fault, onFiles, onChange }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const { images, documents } = attached
  const isFull = images.length >= maxImages && documents.length >= maxDocuments
  return (
    <div className="message-images">
      {images.map((address, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal images may stand twice
        <span key={place} className="message-image">
          {isElsewhere(address) ? (
            <span>
              <Icon name="image" label="image" /> <T text={address} max={60} />{' '}
              <span className="dim">is external and not loaded here</span>
            </span>
          ) : (
            <img src={address} alt={`${place + 1} of ${label}`} />
          )}
          <Remove
            label={`image ${place + 1} of ${label}`}
            onPick={() => onChange({ images: images.filter((_, n) => n !== place), documents })}
          />
        </span>
      ))}
      {documents.map(({ name, data }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal files may stand twice
        <span key={place} className="message-image">
          <Icon name="text" label="PDF" /> <T text={name} max={60} />{' '}
          <span className="dim">{bytes(Math.floor((data.length * 3) / 4))}</span>
          <Remove
            label={`PDF ${place + 1} of ${label}`}
            onPick={() => onChange({ images, documents: documents.filter((_, n) => n !== place) })}
          />
        </span>
      ))}
      {!isFull && (
        <>
          <Button onClick={() => input.current?.click()}>
            <Icon name="image" /> Attach files
          </Button>
          <span className="dim">or drop images and PDFs here</span>
          <input
            ref={input}
            type="file"
            hidden
            multiple
            accept={[...imageTypes, documentType].join()}
            aria-label={`Images and PDFs of ${label}`}
            onChange={({ target }) => {
              onFiles([...(target.files ?? [])])
              target.value = ''
            }}
          />
        </>
      )}
      {fault && (
        <span className="s-error" role="alert">
          {fault}
        </span>
      )}
    </div>
  )
}

const Remove = ({ label, onPick }: { label: string; onPick(): void }) => (
  <IconButton icon="close" label={`Remove ${label}`} onClick={onPick} />
)
