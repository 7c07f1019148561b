// Whether the server can be reached: asked once a request was not answered, every few seconds while it is away.

/** @param leftS seconds until it is asked again while it is away; 0 = it is being asked */
export type ConnectionState = { isAway: boolean; leftS: number }

const everyS = 5
const here: ConnectionState = { isAway: false, leftS: 0 }

type Parts = {
  /** Whether it answers anything. Never rejects. */
  reach(): Promise<boolean>
  /** The same as `repeat` of this folder. */
  repeat(work: () => void, everyMs: number): () => void
  /** Called when the server is back: the page may show older data. */
  onBack(): void
}

export function watchedConnection({ reach, repeat, onBack }: Parts) {
  let state = here
  let asked: Promise<boolean> | undefined
  let stop: (() => void) | undefined
  const listeners = new Set<() => void>()
  const become = (next: ConnectionState) => {
    state = next
    for (const listener of listeners) listener()
  }
  const tick = () => {
    if (asked !== undefined) return
    if (state.leftS > 1) become({ isAway: true, leftS: state.leftS - 1 })
    else void look()
  }
  async function ask(): Promise<boolean> {
    const isThere = await reach()
    asked = undefined
    const wasAway = state.isAway
    if (isThere) {
      stop?.()
      stop = undefined
      if (wasAway) become(here)
      if (wasAway) onBack()
    } else {
      become({ isAway: true, leftS: everyS })
      stop ??= repeat(tick, 1_000)
    }
    return isThere
  }
  /** Asks it now; those who ask at the same time have one answer. */
  function look(): Promise<boolean> {
    if (asked !== undefined) return asked
    asked = ask()
    if (state.isAway) become({ isAway: true, leftS: 0 })
    return asked
  }
  return {
    look,
    state: () => state,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
