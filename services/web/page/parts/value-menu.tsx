// Actions on one value of a JSON view: copying it or its path, opening its target, and those of the page.
import { type ReactNode, useEffect, useState } from 'react'
import { jsonPath, type Segment } from '../engine/json-paths.ts'
import { parsedRef } from '../engine/refs.ts'
import { ask } from '../worker/client.ts'
import type { NodeRow } from '../worker/documents.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { RefLink } from './ref-link.tsx'
import { T } from './text.tsx'

/** Longer values are copied, not shown or filtered by. */
const maxShown = 2_400

/** @param json of a short value as it is spelled */
export type ValueActs = (path: readonly Segment[], json: string, onClose: () => void) => ReactNode

type MenuProps = {
  row: NodeRow
  /** Path from the document on; null where it lies in a text that holds JSON. */
  path: readonly Segment[] | null
  acts: ValueActs | undefined
  onClose(): void
}

export function ValueMenu({ row, path, acts, onClose }: MenuProps) {
  const [json, setJson] = useState<string>()
  const [copied, setCopied] = useState('')
  const { doc, start, end, kind } = row
  useEffect(() => {
    if (end - start > maxShown) return
    ask('jsonText', [doc, start, end]).then(setJson, () => undefined)
  }, [doc, start, end])
  const asText = kind === 'string' && json !== undefined ? (JSON.parse(json) as string) : json
  const ref = kind === 'string' && asText !== undefined ? parsedRef(asText) : undefined
  const copy = (work: Promise<string>) =>
    void work
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => setCopied('Copied'),
        () => setCopied('Could not copy'),
      )
  const copyAct = (label: string, text: () => Promise<string>) => (
    <Button onClick={() => copy(text())}>
      <Icon name="copy" /> {label}
    </Button>
  )
  const name = path === null ? (row.key ?? 'Value') : jsonPath(path)
  return (
    <Dialog title={name.slice(0, 120)} onClose={onClose}>
      {ref && asText !== undefined ? (
        <p>
          <RefLink text={asText} of={ref} />
        </p>
      ) : (
        <p className="said">
          <T text={asText ?? row.preview} max={600} />
        </p>
      )}
      {path !== null && json !== undefined && acts?.(path, json, onClose)}
      <div className="acts">
        {copyAct('Copy value', () => ask('copy', [doc, start, end]))}
        {kind === 'string' && copyAct('Copy as JSON', () => ask('jsonText', [doc, start, end]))}
        {path !== null && copyAct('Copy path', () => Promise.resolve(jsonPath(path)))}
      </div>
      <p className="dim" role="status">
        {copied}
      </p>
    </Dialog>
  )
}
