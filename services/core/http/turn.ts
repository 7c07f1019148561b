// Long bodies are handled one in each round of the event loop: those that arrive together do not add up to one pause.

/** Bodies up to this size are handled at once. */
const longBytes = 32 * 1024

let last: Promise<void> = Promise.resolve()

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Resolves when a body of this size may be handled. */
export async function turnOf(bytes: number): Promise<void> {
  if (bytes <= longBytes) return
  const mine = last
  last = mine.then(nextRound)
  await mine
}
