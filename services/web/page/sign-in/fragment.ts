// The key in the fragment of a link, taken out of the address before anything else happens.

let key: string | undefined

/** Must be called first: until then the address is in the history and in sight. */
export function hideKey(): void {
  const found = /^#key=(.+)$/.exec(location.hash)?.[1]
  if (found === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  try {
    key = decodeURIComponent(found)
  } catch {
    key = found
  }
}

export function takeKey(): string | undefined {
  const taken = key
  key = undefined
  return taken
}
