// HTML that somebody recorded, drawn in a frame that may do nothing: no scripts, no forms, no other address, an origin of its
// own. Its source stands first; this is asked for.
import { useLayoutEffect, useRef, useState } from 'react'
import { isHtml } from '../engine/html.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import './html-preview.css'

type Rules = { createHTML(text: string): string }
type Factory = { createPolicy(name: string, rules: Rules): Rules }
const rules: Rules = { createHTML: (text) => text }
let policy: Rules | undefined
/** A document's policy is made once, when the first frame needs it. */
const trusted = (text: string): string => {
  policy ??= (globalThis as { trustedTypes?: Factory }).trustedTypes?.createPolicy('callhouse-preview', rules) ?? rules
  return policy.createHTML(text)
}

function Frame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  useLayoutEffect(() => {
    // The sandbox stands before the text does.
    if (frame.current) frame.current.srcdoc = trusted(html)
  }, [html])
  return <iframe ref={frame} title="Preview" sandbox="" referrerPolicy="no-referrer" />
}

/** A button that shows it; nothing where the text is no HTML. */
export function HtmlPreview({ text }: { text: string }) {
  const [isOpen, setIsOpen] = useState(false)
  if (!isHtml(text)) return null
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Preview</Button>
      {isOpen && (
        <Dialog title="Preview" className="html-preview" onClose={() => setIsOpen(false)}>
          <p className="dim">Shown without scripts, its own styles and external content.</p>
          <Frame html={text} />
        </Dialog>
      )}
    </>
  )
}
