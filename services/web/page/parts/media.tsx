// An image, a sound or a film of a recorded value, where its first bytes are what its type says; anything else is a
// file to be saved. Media at other addresses are never loaded.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { send } from '../api/send.ts'
import { bytes as written } from '../engine/format.ts'
import { followed } from '../engine/markdown.ts'
import { type FoundMedia, fileName, filesObject, type MediaSource, shownAs } from '../engine/media.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { OutLink } from './markdown.tsx'
import { T } from './text.tsx'
import './media.css'

/** Larger files are loaded when somebody asks for them. */
export const maxUnasked = 8 * 2 ** 20

type Loaded = { blob: Blob; head: Uint8Array } | { tooLarge: number }

async function fileOf(project_id: string, digest: string, most: number, signal: AbortSignal): Promise<Loaded> {
  const control = new AbortController()
  const response = await send(
    baseUrl,
    'files.content',
    { project_id, digest },
    { signal: AbortSignal.any([signal, control.signal]) },
  )
  const size = Number(response.headers.get('content-length') ?? 0)
  if (size > most) {
    control.abort()
    return { tooLarge: size }
  }
  return loadedOf(await response.blob())
}

const loadedOf = async (blob: Blob): Promise<Loaded> => ({
  blob,
  head: new Uint8Array(await blob.slice(0, 16).arrayBuffer()),
})

function decoded(base64: string): Blob {
  const letters = atob(base64.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/'))
  return new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))])
}

/** The bytes of a medium; of what lies elsewhere there are none. @param most bytes of a file that are loaded */
export async function load(project: string, source: MediaSource, most: number, signal: AbortSignal): Promise<Loaded> {
  if (source.from === 'base64') return loadedOf(decoded(source.base64))
  if (source.from === 'file') return fileOf(project, source.digest, most, signal)
  if (source.from === 'address') throw new Error('not loaded')
  const { vals } = await json('refs.read_batch', { refs: [source.ref] }, { signal })
  const inner = filesObject(vals[0])
  const [, owner] = /^weave:\/\/\/([^/]+\/[^/]+)\//.exec(source.ref) ?? []
  if (inner?.from !== 'file' || owner === undefined) throw new Error('This object has no file')
  return fileOf(owner, inner.digest, most, signal)
}

const keyOf = (source: MediaSource): string =>
  source.from === 'base64'
    ? `${source.base64.length} ${source.base64}`
    : 'digest' in source
      ? source.digest
      : source.name

/** The address of the bytes while the element is there. */
function useBlobUrl(blob: Blob | undefined, type: string): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (blob === undefined) return
    const made = URL.createObjectURL(new Blob([blob], { type }))
    setUrl(made)
    return () => {
      URL.revokeObjectURL(made)
      setUrl(undefined)
    }
  }, [blob, type])
  return url
}

function Elsewhere({ address, name }: { address: string; name: string }) {
  const target = followed(address)
  return (
    <p className="media elsewhere">
      <Icon name="image" label="media" />
      <span>
        <T text={name} max={80} /> <span className="dim">is external and not loaded:</span>{' '}
        {target === null ? <T text={address} max={300} /> : <OutLink address={target}>{address.slice(0, 120)}</OutLink>}
      </span>
    </p>
  )
}

type MediaProps = { projectId: string; source: MediaSource }

/** A medium as it is loaded, what it shows as, and its address while the element is there. */
function useMedium({ projectId, source }: MediaProps, most: number) {
  const { data, error } = useQuery({
    queryKey: ['media', projectId, source.from, 'ref' in source ? source.ref : keyOf(source), most],
    queryFn: ({ signal }) => load(projectId, source, most, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  })
  const loaded = data !== undefined && 'blob' in data ? data : undefined
  const shown = loaded && shownAs(loaded.head, source.from === 'base64' ? source.type : null)
  const url = useBlobUrl(loaded?.blob, shown?.type ?? 'application/octet-stream')
  return { data, error, loaded, shown, url }
}

function Stored({ projectId, source }: MediaProps) {
  const [isAsked, setAsked] = useState(false)
  const most = isAsked ? Number.POSITIVE_INFINITY : maxUnasked
  const { data, error, loaded, shown, url } = useMedium({ projectId, source }, most)
  if (error !== null)
    return (
      <p className="media second">
        <Icon name="error" label="not shown" /> <T text={source.name} max={80} />{' '}
        <span className="dim">
          <T text={error.message} max={200} />
        </span>
      </p>
    )
  if (data !== undefined && 'tooLarge' in data)
    return (
      <Button onClick={() => setAsked(true)}>
        Load <T text={source.name} max={60} /> <span className="dim">{written(data.tooLarge)}</span>
      </Button>
    )
  if (loaded === undefined || url === undefined) return <div className="media ghost" style={{ height: '6.4rem' }} />
  // Recordings come without captions.
  // biome-ignore lint/a11y/useMediaCaption: see above
  if (shown?.kind === 'audio') return <audio className="media" controls preload="metadata" src={url} />
  // biome-ignore lint/a11y/useMediaCaption: see above
  if (shown?.kind === 'video') return <video className="media" controls preload="metadata" src={url} />
  if (shown?.kind !== 'image')
    return (
      <a className="media" href={url} download={fileName(source.name)}>
        Save <T text={source.name} max={80} /> <span className="dim">{written(loaded.blob.size)}</span>
      </a>
    )
  return <Picture url={url} name={source.name} className="media picture" />
}

type PictureProps = { url: string; name: string; className: string; tabIndex?: number }

/** An image as a button that shows it as large as it is. */
function Picture({ url, name, className, tabIndex }: PictureProps) {
  const [isLarge, setLarge] = useState(false)
  return (
    <>
      <button type="button" className={className} tabIndex={tabIndex} title="Enlarge" onClick={() => setLarge(true)}>
        <img src={url} alt={name.slice(0, 120)} decoding="async" />
      </button>
      {isLarge && (
        <Dialog title={name.slice(0, 80)} className="large" onClose={() => setLarge(false)}>
          <img className="whole" src={url} alt={name.slice(0, 120)} />
        </Dialog>
      )}
    </>
  )
}

/** Rows of a list show many of them. */
const maxSmall = 2 * 2 ** 20

type SmallProps = MediaProps & {
  /** Text beside the picture in place of the default one. */
  label?: string
  tabIndex?: number
  children: ReactNode
}

/** A small picture within a row, where the medium is an image; else what stands there without it. */
export function SmallMedia({ projectId, source, label, tabIndex = -1, children }: SmallProps) {
  const { shown, url } = useMedium({ projectId, source }, maxSmall)
  if (shown?.kind !== 'image' || url === undefined) return children
  return (
    // The row that it stands in has clicks and keys of its own, also when the large one is open.
    <span
      className="small-picture"
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onContextMenu={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Picture url={url} name={source.name} className="picture" tabIndex={tabIndex} />{' '}
      {label === undefined ? children : <span className="dim">{label}</span>}
    </span>
  )
}

export const Media = ({ projectId, source }: MediaProps) =>
  source.from === 'address' ? (
    <Elsewhere address={source.address} name={source.name} />
  ) : (
    <Stored projectId={projectId} source={source} />
  )

/** The media of a payload, each with where it stands. */
export const MediaList = ({ projectId, found }: { projectId: string; found: readonly FoundMedia[] }) => (
  <ul className="media-list">
    {found.map(({ path, source }) => (
      <li key={path}>
        <Media projectId={projectId} source={source} />
        <code className="dim">
          <T text={path} max={120} />
        </code>
      </li>
    ))}
  </ul>
)
