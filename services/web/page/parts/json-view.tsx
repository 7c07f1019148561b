// A JSON value of any size as a tree of lines: the worker keeps the bytes, the page asks for the lines in view.
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import { bytes } from '../engine/format.ts'
import type { Segment } from '../engine/json-paths.ts'
import { childAt, lineOfPath, linesOf, type Open, opened, pathOfLine } from '../engine/json-rows.ts'
import { useKeys } from '../keys.ts'
import { scaled } from '../text-scale.ts'
import { ask } from '../worker/client.ts'
import type { NodeRef, NodeRow } from '../worker/documents.ts'
import { IconButton } from './button.tsx'
import { Input } from './input.tsx'
import { isContainer, JsonNode } from './json-node.tsx'
import { Rows, type RowsHandle } from './rows.tsx'
import { T } from './text.tsx'
import { TextReader } from './text-reader.tsx'
import { type ValueActs, ValueMenu } from './value-menu.tsx'
import './json-view.css'

const sliceRows = 200
const openBelow = 24
const openLevels = 5
const shortBytes = 2_000

/** State of the lines: rows by their container and place, and the document of each container. */
type Store = {
  root: NodeRef
  open: Open
  rows: Map<string, NodeRow>
  targets: Map<string, NodeRef>
  asked: Set<string>
}

const keyOf = (path: readonly number[]): string => path.join('.')

function useJson(root: NodeRef) {
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const store = useRef<Store>(undefined)
  if (store.current?.root !== root)
    store.current = { root, open: opened(0), rows: new Map(), targets: new Map([['', root]]), asked: new Set() }
  const current = store.current

  const load = useCallback(
    async (path: number[], place: number) => {
      const target = current.targets.get(keyOf(path))
      if (target === undefined) return
      const from = Math.floor(place / sliceRows) * sliceRows
      const key = `${keyOf(path)}:${from}`
      if (current.asked.has(key)) return
      current.asked.add(key)
      const rows = await ask('slice', [target.doc, target.start, from, from + sliceRows])
      for (const [n, row] of rows.entries()) current.rows.set(keyOf([...path, from + n]), row)
      redraw()
    },
    [current],
  )
  const expand = useCallback(
    async (path: number[]) => {
      const row = current.rows.get(keyOf(path))
      const parent = childAt(current.open, path.slice(0, -1))
      if (row === undefined || parent === undefined) return
      const target = row.holdsJson ? await ask('unwrap', [row.doc, row.start, row.end]) : row
      const count = target.count ?? (await ask('count', [target.doc, target.start]))
      current.targets.set(keyOf(path), target)
      parent.children.set(path.at(-1) as number, opened(count))
      await load(path, 0)
      redraw()
    },
    [current, load],
  )
  const collapse = useCallback(
    (path: number[]) => {
      childAt(current.open, path.slice(0, -1))?.children.delete(path.at(-1) as number)
      redraw()
    },
    [current],
  )
  useEffect(() => {
    let isLeft = false
    const begin = async () => {
      const count = root.count ?? (isContainer(root) ? await ask('count', [root.doc, root.start]) : 0)
      if (isLeft) return
      current.open.count = count
      await load([], 0)
      // Short containers are open: a few members, some levels deep.
      const openShort = async (path: number[], members: number) => {
        for (let place = 0; place < Math.min(members, openBelow); place++) {
          const way = [...path, place]
          const row = current.rows.get(keyOf(way))
          if (!row || !isContainer(row) || !row.count || row.count > openBelow / 2 || row.bytes > shortBytes) continue
          await expand(way)
          if (way.length < openLevels) await openShort(way, row.count)
        }
      }
      await openShort([], count)
      if (!isLeft) redraw()
    }
    if (current.open.count === 0) begin().catch(() => undefined)
    return () => {
      isLeft = true
    }
  }, [root, current, load, expand])
  return { current, load, expand, collapse }
}

type JsonProps = {
  root: NodeRef
  label: string
  name: string
  /** Path of the value in a record; without it from its own root on. */
  at?: readonly Segment[]
  /** Actions of the page on a value, beside copying it. */
  acts?: ValueActs
}

const noPath: readonly Segment[] = []

export const JsonView = memo(function JsonView({ root, label, name, at: start = noPath, acts }: JsonProps) {
  const { current, load, expand, collapse } = useJson(root)
  const [at, setAt] = useState(0)
  const [reading, setReading] = useState<NodeRow | undefined>()
  const [opened, setOpened] = useState<{ row: NodeRow; path: Segment[] | null }>()
  const [search, setSearch] = useState('')
  const [hits, setHits] = useState<{ offsets: number[]; isCut: boolean; place: number } | undefined>()
  const [hit, setHit] = useState('')
  const rows = useRef<RowsHandle>(null)
  const count = linesOf(current.open)
  const pathAt = (line: number) => pathOfLine(current.open, line)

  const rowAt = (line: number): NodeRow | undefined => {
    const path = pathAt(line)
    return path && current.rows.get(keyOf(path))
  }
  const toggle = (line: number) => {
    const path = pathAt(line)
    const row = path && current.rows.get(keyOf(path))
    if (!path || !row) return
    if (childAt(current.open, path)) collapse(path)
    else if (isContainer(row) || row.holdsJson) expand(path).catch(() => undefined)
    else if (row.kind === 'string') setReading(row)
  }
  /** Opens the menu of a line's value. */
  const openMenu = (line: number) => {
    const places = pathAt(line)
    const row = rowAt(line)
    if (!places || !row) return
    const above = places.map((_, level) => current.rows.get(keyOf(places.slice(0, level + 1))))
    const isInText = above.slice(0, -1).some((one) => one?.holdsJson)
    setOpened({
      row,
      path: isInText ? null : [...start, ...above.map((one, level) => one?.key ?? (places[level] as number))],
    })
  }
  const copy = (row: NodeRow | undefined) => {
    const from = row ?? root
    ask('copy', [from.doc, from.start, from.end]).then(
      (text) => navigator.clipboard.writeText(text),
      () => undefined,
    )
  }
  const goTo = async (found: { offsets: number[]; isCut: boolean; place: number }) => {
    setHits(found)
    const offset = found.offsets[found.place]
    if (offset === undefined) return setHit('')
    const path = await ask('locate', [root.doc, root.start, offset])
    for (let level = 1; level < path.length; level++) {
      const way = path.slice(0, level)
      await load(way.slice(0, -1), way.at(-1) as number)
      if (!childAt(current.open, way)) await expand(way)
    }
    await load(path.slice(0, -1), path.at(-1) ?? 0)
    const line = lineOfPath(current.open, path)
    setHit(keyOf(path))
    setAt(line)
    requestAnimationFrame(() => rows.current?.reveal(line))
  }
  const find = async () => {
    if (search === '') return setHits(undefined)
    const found = await ask('find', [root.doc, root.start, root.end, search])
    await goTo({ ...found, place: 0 })
  }
  const step = (by: number) => {
    if (!hits || hits.offsets.length === 0) return
    const place = (hits.place + by + hits.offsets.length) % hits.offsets.length
    goTo({ ...hits, place }).catch(() => undefined)
  }

  /** Keys of the line at hand; false: there is nothing to do. */
  const keys: Record<string, () => unknown> = {
    Enter: () => toggle(at),
    y: () => copy(rowAt(at)),
    '.': () => openMenu(at),
    ArrowRight() {
      const path = pathAt(at)
      return path && !childAt(current.open, path) ? toggle(at) : false
    },
    ArrowLeft() {
      const path = pathAt(at)
      if (!path) return false
      if (childAt(current.open, path)) collapse(path)
      else if (path.length > 1) setAt(lineOfPath(current.open, path.slice(0, -1)))
      return true
    },
  }
  const onKey = ({ key }: KeyboardEvent): boolean => Object.hasOwn(keys, key) && keys[key]?.() !== false
  const onRange = useCallback(
    (from: number, to: number) => {
      for (let line = from; line < to; line += 1) {
        const path = pathOfLine(current.open, line)
        if (path && !current.rows.has(keyOf(path)))
          load(path.slice(0, -1), path.at(-1) as number).catch(() => undefined)
      }
    },
    [current, load],
  )

  if (!isContainer(root)) return <Single root={root} label={label} onCopy={() => copy(undefined)} />
  return (
    <div className="json">
      {root.end - root.start > 2_000 && (
        <form
          className="find"
          role="search"
          onSubmit={(event) => {
            event.preventDefault()
            find().catch(() => undefined)
          }}
        >
          <Input
            type="search"
            aria-label={`Find in ${label}`}
            placeholder={`Find in ${bytes(root.end - root.start)}`}
            value={search}
            onText={setSearch}
          />
          {hits && (
            <>
              <span className="dim num" role="status">
                {hits.offsets.length === 0
                  ? 'none'
                  : `${hits.place + 1} / ${hits.offsets.length}${hits.isCut ? '+' : ''}`}
              </span>
              <IconButton icon="up" label="Previous match" onClick={() => step(-1)} />
              <IconButton icon="down" label="Next match" onClick={() => step(1)} />
            </>
          )}
        </form>
      )}
      {count === 0 ? (
        <p className="dim" style={{ padding: '2px 12px' }}>
          {root.kind === 'array' ? '[ ] empty' : '{ } empty'}
        </p>
      ) : (
        <Rows
          handle={rows}
          role="tree"
          fits
          label={label}
          count={count}
          height={scaled(22)}
          at={at}
          onAt={setAt}
          onRange={onRange}
          onKey={onKey}
          render={(line, isAt) => {
            const path = pathAt(line) ?? []
            return (
              <JsonNode
                row={current.rows.get(keyOf(path))}
                path={path}
                isOpen={childAt(current.open, path) !== undefined}
                isAt={isAt}
                isHit={hit !== '' && keyOf(path) === hit}
                onToggle={() => toggle(line)}
                onRead={setReading}
                onMenu={() => {
                  setAt(line)
                  openMenu(line)
                }}
              />
            )
          }}
        />
      )}
      {opened && <ValueMenu {...opened} acts={acts} onClose={() => setOpened(undefined)} />}
      {reading && <TextReader node={reading} title={reading.key ?? name} onClose={() => setReading(undefined)} />}
    </div>
  )
})

/** A value that is no container: numbers as they are spelled, strings as text. */
function Single({ root, label, onCopy }: { root: NodeRef; label: string; onCopy(): void }) {
  useKeys({ copy: onCopy })
  const [text, setText] = useState<string>()
  useEffect(() => {
    ask('lineSlice', [root.doc, root.start, root.end, 0, 400]).then(
      (lines) => setText(lines.join('\n').slice(0, 65_536)),
      () => undefined,
    )
  }, [root])
  const shown = useMemo(() => text ?? '', [text])
  return (
    <div
      className="scroll"
      role="group"
      aria-label={label}
      tabIndex={0}
      style={{ padding: '2px 12px', whiteSpace: 'pre-wrap' }}
    >
      {root.kind === 'string' ? <T text={shown} max={65_536} /> : <code className={`v-${root.kind}`}>{shown}</code>}
    </div>
  )
}
