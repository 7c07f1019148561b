// A ref as a sign with the name of what it is of; one of the project that is open leads there.
import { Link } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { isContentRef } from '../engine/media.ts'
import { parsedRef, type Ref } from '../engine/refs.ts'
import { Icon, type IconName } from './icon.tsx'
import { useProject } from './project.ts'
import { T } from './text.tsx'

const signs: Record<Ref['kind'], IconName> = { call: 'calls', object: 'other', op: 'tool', table: 'columns' }

/** The sign of a medium by its type, its class or its name. */
export const mediaSign = (type: string): IconName =>
  /image/i.test(type) ? 'image' : /audio|video|wave/i.test(type) ? 'play' : 'text'

// The surrounding element has its own click.
const inLine = { display: 'inline-flex', alignItems: 'center', gap: '0.4rem', color: 'inherit' }
const alone = { onClick: (event: MouseEvent) => event.stopPropagation(), style: inLine }

type RefLinkProps = {
  text: string
  of: Ref
  /** -1 within rows, which have keys of their own. */
  tabIndex?: number
}

export function RefLink({ text, of, tabIndex }: RefLinkProps) {
  const { projectId } = useProject()
  const { entity, project, kind, name, version } = of
  const sign = isContentRef(text) ? mediaSign(name) : signs[kind]
  const shown = (
    <>
      <Icon name={sign} label={isContentRef(text) ? 'media' : kind} /> <T text={name} max={120} />
      {version !== undefined && (
        <span className="dim">
          :<T text={version} max={8} />
        </span>
      )}
    </>
  )
  const params = { entity, project }
  const own = { ...alone, title: text.slice(0, 300), ...(tabIndex !== undefined && { tabIndex }) }
  if (`${entity}/${project}` !== projectId)
    return (
      <span title={text.slice(0, 300)} style={inLine}>
        {shown}
      </span>
    )
  if (kind === 'call')
    return (
      <Link {...own} to="/p/$entity/$project/calls/$id" params={{ ...params, id: name }}>
        {shown}
      </Link>
    )
  if (kind === 'table')
    return (
      <Link {...own} to="/p/$entity/$project/tables/$digest" params={{ ...params, digest: name }} search={{}}>
        {shown}
      </Link>
    )
  const search = kind === 'op' ? { op: '1' as const } : {}
  return version === undefined ? (
    <Link {...own} to="/p/$entity/$project/objects/$objectId" params={{ ...params, objectId: name }} search={search}>
      {shown}
    </Link>
  ) : (
    <Link
      {...own}
      to="/p/$entity/$project/objects/$objectId/$version"
      params={{ ...params, objectId: name, version }}
      search={search}
    >
      {shown}
    </Link>
  )
}

/** A recorded text, where it is no ref as it stands. */
export function RefOrText({ text, max }: { text: string; max: number }) {
  const of = parsedRef(text)
  return of === undefined ? <T text={text} max={max} /> : <RefLink text={text} of={of} />
}

const refs = /(weave:\/\/\/[^\s"'`,;()[\]{}<>]+)/

/** A text in which refs may stand, as links where they are of the project. */
export function RefsInText({ text }: { text: string }) {
  const pieces = text.split(refs)
  if (pieces.length === 1) return <T text={text} />
  return pieces.map((piece, place) => {
    const of = place % 2 === 1 ? parsedRef(piece) : undefined
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
    return of ? <RefLink key={place} text={piece} of={of} tabIndex={-1} /> : <T key={place} text={piece} />
  })
}
