// Images of a message: from files or pasted, small enough to be part of a request.
import { useState } from 'react'
import { bytes } from '../engine/format.ts'
import { Icon } from '../parts/icon.tsx'
import { imageTypes, maxImages } from './draft.ts'

const maxBytes = 4 * 2 ** 20

const addressOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

/** The images among files; why one of them is none is told. */
export async function imagesOf(files: Iterable<File>): Promise<{ images: string[]; fault?: string }> {
  const images: string[] = []
  for (const file of files) {
    if (!imageTypes.includes(file.type)) return { images, fault: 'Images are PNG, JPEG, GIF or WebP' }
    if (file.size > maxBytes) return { images, fault: `${bytes(file.size)} are too much: at most ${bytes(maxBytes)}` }
    images.push(await addressOf(file))
  }
  return { images }
}

type Props = { label: string; images: readonly string[]; onChange(images: string[]): void }

export function Images({ label, images, onChange }: Props) {
  const [fault, setFault] = useState<string>()
  const take = async (files: Iterable<File>) => {
    const found = await imagesOf(files)
    setFault(found.fault)
    if (found.images.length > 0) onChange([...images, ...found.images].slice(0, maxImages))
  }
  return (
    <div className="message-images">
      {images.map((address, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal images may stand twice
        <span key={place} className="message-image">
          <img src={address} alt={`${place + 1} of ${label}`} />
          <button
            type="button"
            className="icon"
            aria-label={`Remove image ${place + 1} of ${label}`}
            onClick={() => onChange(images.filter((_, n) => n !== place))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {images.length < maxImages && (
        <label className="field">
          <span className="dim">Images</span>
          <input
            type="file"
            multiple
            accept={imageTypes.join()}
            aria-label={`Images of ${label}`}
            onChange={({ target }) => {
              void take([...(target.files ?? [])])
              target.value = ''
            }}
          />
        </label>
      )}
      {fault && (
        <span className="s-error" role="alert">
          {fault}
        </span>
      )}
    </div>
  )
}
