// A pause that ends early when its work does.

/** @param ms 0 or less: until the next turn of the event loop */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, signal.aborted ? 0 : Math.max(0, ms))
    signal.addEventListener('abort', done, { once: true })
  })
