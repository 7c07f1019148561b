// A long string by lines: windowed, as it was recorded, with line numbers; one line of ten megabytes included.
import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { bytes } from '../engine/format.ts'
import { usePreference } from '../preferences.ts'
import { scaled } from '../text-scale.ts'
import { ask } from '../worker/client.ts'
import type { NodeRow } from '../worker/documents.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { HtmlPreview } from './html-preview.tsx'
import { Icon } from './icon.tsx'
import { Rows } from './rows.tsx'
import { T } from './text.tsx'
import './text-reader.css'

const sliceLines = 200

export function TextReader({ node, title, onClose }: { node: NodeRow; title: string; onClose(): void }) {
  const [count, setCount] = useState(0)
  const [at, setAt] = useState(0)
  const lines = useRef(new Map<number, string>())
  const asked = useRef(new Set<number>())
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const wraps = usePreference('wrap') === 'on'
  const { doc, start, end } = node
  useEffect(() => {
    ask('lineCount', [doc, start, end]).then(setCount, () => undefined)
  }, [doc, start, end])
  const onRange = useCallback(
    (from: number, to: number) => {
      for (let first = Math.floor(from / sliceLines) * sliceLines; first < to; first += sliceLines) {
        if (asked.current.has(first)) continue
        asked.current.add(first)
        ask('lineSlice', [doc, start, end, first, first + sliceLines]).then(
          (slice) => {
            for (const [n, line] of slice.entries()) lines.current.set(first + n, line)
            redraw()
          },
          () => undefined,
        )
      }
    },
    [doc, start, end],
  )
  const copy = () => {
    ask('copy', [doc, start, end]).then(
      (text) => navigator.clipboard.writeText(text),
      () => undefined,
    )
  }
  const isShort = count > 0 && count <= 500
  const shown = isShort ? Array.from({ length: count }, (_, n) => n) : []
  useEffect(() => {
    if (isShort) onRange(0, count)
  }, [isShort, count, onRange])
  return (
    <Dialog
      title={`${title.slice(0, 80)} · ${bytes(node.bytes)}`}
      onClose={onClose}
      className="text-reader"
      acts={
        <>
          {isShort && <HtmlPreview text={shown.map((line) => lines.current.get(line) ?? '').join('\n')} />}
          <Button onClick={copy}>
            <Icon name="copy" /> Copy
          </Button>
        </>
      }
    >
      {isShort ? (
        <section
          aria-label="Text"
          tabIndex={0}
          className="mono"
          style={{ whiteSpace: wraps ? 'pre-wrap' : 'pre', overflow: 'auto' }}
        >
          {shown.map((line) => (
            <div key={line}>
              <T text={lines.current.get(line) ?? ''} max={4_000} />
              {'\n'}
            </div>
          ))}
        </section>
      ) : (
        <Rows
          role="list"
          label="Text"
          count={count}
          height={scaled(18)}
          at={at}
          onAt={setAt}
          onRange={onRange}
          render={(line) => (
            <div role="listitem" className="text-line">
              <span className="n">{line + 1}</span>
              <T text={lines.current.get(line) ?? '…'} max={2_000} />
            </div>
          )}
        />
      )}
    </Dialog>
  )
}
