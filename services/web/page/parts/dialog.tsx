// A dialog of the browser's own: it keeps the focus inside and gives it back. It lies in the body, so that no style of what
// opened it reaches its fields.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { Button, IconButton } from './button.tsx'

type DialogProps = {
  title: string
  onClose(): void
  children: ReactNode
  className?: string
  acts?: ReactNode
  /** A click beside it closes it. */
  closesOutside?: boolean
}

export function Dialog({ title, onClose, children, className = '', acts, closesOutside = false }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before it leaves the document: only then does closing give the focus back.
  useLayoutEffect(() => {
    const element = box.current
    if (element && !element.open) {
      element.showModal()
      // Else the button that closes has the focus, and Enter of somebody who is typing closes what has just opened.
      element.querySelector<HTMLElement>('[role=group] :is(input, textarea, select)')?.focus()
    }
    return () => element?.close()
  }, [])
  return createPortal(
    <dialog
      ref={box}
      className={className}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={onClose}
      // A click beside the dialog hits its backdrop; Escape is the key for that.
      onClick={({ target }) => closesOutside && target === box.current && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {acts}
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      {/* Keys scroll contents that are longer than the dialog, too. */}
      <div tabIndex={0} role="group" aria-labelledby={id}>
        {children}
      </div>
    </dialog>,
    document.body,
  )
}

type ActsProps = {
  onClose(): void
  /** Name of the button that closes: of work that has begun, or is over, it is no cancelling. */
  close?: string
  /** Buttons that do what the dialog is for, the first one last. */
  children?: ReactNode
}

/** The end of every dialog that does something: the way out, then the way on. Dialogs that only show have the cross alone. */
export const DialogActs = ({ onClose, close = 'Cancel', children }: ActsProps) => (
  <div className="acts end">
    <Button onClick={onClose}>{close}</Button>
    {children}
  </div>
)
