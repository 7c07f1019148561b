// A link to what the page shows: all of it is in the address.
import { useState } from 'react'
import { Icon } from '../parts/icon.tsx'

export function CopyLink() {
  const [isCopied, setCopied] = useState(false)
  const label = isCopied ? 'Link copied' : 'Copy link'
  return (
    <button
      type="button"
      className="icon line"
      aria-label={label}
      title={label}
      onClick={() => void navigator.clipboard.writeText(location.href).then(() => setCopied(true))}
    >
      <Icon name={isCopied ? 'success' : 'copy'} />
    </button>
  )
}
