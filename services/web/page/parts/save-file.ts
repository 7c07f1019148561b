// A file that the browser saves.

/** @param address of a file of this server, which answers it as an attachment */
export function openAddress(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // Later, so that the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
