// Cells of a row that has an address: a link over each, so that the browser's ways of opening a link work on the whole row.
import type { CSSProperties, MouseEvent, ReactNode } from 'react'

const RowLink = ({ href }: { href: string }) => (
  // biome-ignore lint/a11y/useAnchorContent: the link of the row's name is the one that is read out
  <a
    className="whole"
    href={href}
    tabIndex={-1}
    aria-hidden="true"
    draggable={false}
    // The tooltip of the cell lies below the link.
    onPointerEnter={({ currentTarget }) => {
      const tip = currentTarget.parentElement?.querySelector<HTMLElement>(':not(.whole)[title]')?.title
      if (tip) currentTarget.title = tip
      else currentTarget.removeAttribute('title')
    }}
  />
)

type CellProps = { href: string; className?: string; title?: string; style?: CSSProperties; children: ReactNode }

export const LinkedCell = ({ href, className = '', children, ...rest }: CellProps) => (
  <span role="cell" className={`linked ${className}`} {...rest}>
    {children}
    <RowLink href={href} />
  </span>
)

/** Whether a click opens the row here; a new tab or window is the browser's. */
export function isOfRowLink(event: MouseEvent): boolean {
  if (!(event.target as HTMLElement).matches('a.whole')) return false
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false
  event.preventDefault()
  return true
}
