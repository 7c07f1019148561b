// A link to what the page shows: all of it is in the address.
import { useState } from 'react'
import { IconButton } from '../parts/button.tsx'

export function CopyLink() {
  const [isCopied, setCopied] = useState(false)
  const label = isCopied ? 'Link copied' : 'Copy link'
  return (
    <IconButton
      icon={isCopied ? 'success' : 'copy'}
      className="icon line"
      label={label}
      title={label}
      onClick={() => void navigator.clipboard.writeText(location.href).then(() => setCopied(true))}
    />
  )
}
