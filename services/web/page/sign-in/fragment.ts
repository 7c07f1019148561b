// The key in the fragment of a link, taken out of the address before anything else happens.

let key: string | undefined

/** To be called first: the address is in the history and in sight until then. */
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
