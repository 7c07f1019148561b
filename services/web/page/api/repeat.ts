// Work that is repeated while the page is seen: in a hidden tab no timer fires.

/** @returns ends it. Work that was due meanwhile is done once when the tab is visible again. */
export function repeat(work: () => void, everyMs: number): () => void {
  let timer: ReturnType<typeof setInterval> | undefined
  let nextMs = performance.now() + everyMs
  const act = () => {
    nextMs = performance.now() + everyMs
    work()
  }
  const follow = () => {
    clearInterval(timer)
    if (document.hidden) return
    timer = setInterval(act, everyMs)
    if (performance.now() >= nextMs) act()
  }
  document.addEventListener('visibilitychange', follow)
  follow()
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', follow)
  }
}

let lastId = 0
const running = new Map<number, () => void>()

/** Repetitions in the form of a query's timers. */
export const repetitions = {
  begin(work: () => void, everyMs: number): number {
    running.set(++lastId, repeat(work, everyMs))
    return lastId
  },
  end(id: number | undefined): void {
    running.get(id ?? 0)?.()
    running.delete(id ?? 0)
  },
}
