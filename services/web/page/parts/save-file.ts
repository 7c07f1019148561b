// A file that the browser saves.

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // Later, so that the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
