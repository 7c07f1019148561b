// Keys that are pressed one after the other, as `g c`: what a key means after the one before.

/** Longest wait for the second key of a sequence, in milliseconds. */
const patienceMs = 1_000

/**
 * @param keys of the table, those of sequences with a space between them
 * @returns what a key means at a time: a whole sequence, or itself, also behind a first key that it does not belong to
 */
export function sequences(keys: readonly string[]): (key: string, ms: number) => string {
  const whole = new Set(keys.filter((key) => key.includes(' ')))
  const firsts = new Set([...whole].map((key) => key.split(' ')[0]))
  let first = ''
  let sinceMs = 0
  return (key, ms) => {
    const both = `${first} ${key}`
    const typed = first !== '' && ms - sinceMs <= patienceMs && whole.has(both) ? both : key
    first = typed === key && firsts.has(key) ? key : ''
    sinceMs = ms
    return typed
  }
}
