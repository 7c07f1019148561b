// The rule by which each token counts once: spans that report the sum of those below them count what these lack
// (docs/adr/0059).

/** Numbers of usage, summed over models: requests, input, output, total, cache read, cache write, and what is billed. */
export type UsageNumbers = readonly number[]

/** Indices of the input among the numbers, and of the cached tokens that it includes. */
const [input, inside] = [1, 6]

/** Own share of a span: of each number the part that the spans below it do not count together, never below 0. */
function shareOf(reported: UsageNumbers, below: UsageNumbers): number[] {
  const share = reported.map((value, n) => Math.max(0, value - (below[n] ?? 0)))
  const included = share[inside]
  if (included !== undefined) share[inside] = Math.min(included, share[input] ?? 0)
  return share
}

function addTo(sum: number[] | undefined, numbers: UsageNumbers): number[] {
  if (sum === undefined) return [...numbers]
  for (const [n, value] of numbers.entries()) sum[n] = (sum[n] ?? 0) + value
  return sum
}

/** Places of calls, each after all of its children; calls of a cycle, and those above it, do not come. */
export function* bottomUp(parents: Int32Array): Generator<number> {
  const waiting = new Uint32Array(parents.length)
  for (const parent of parents) if (parent >= 0) waiting[parent] = (waiting[parent] as number) + 1
  const ready: number[] = []
  for (const [place, children] of waiting.entries()) if (children === 0) ready.push(place)
  for (let place = ready.pop(); place !== undefined; place = ready.pop()) {
    yield place
    const parent = parents[place] as number
    if (parent < 0) continue
    const left = (waiting[parent] as number) - 1
    waiting[parent] = left
    if (left === 0) ready.push(parent)
  }
}

/**
 * The shares of the calls that others with usage are below: what each of them counts for itself. Every other call counts
 * what it reports, and a call and all below it together count the sum of these.
 * @param parents places of parents, -1 = none
 * @param reported of a call; null = it reports no usage
 * @param isSummed whether what is below a call is in what it reports, if anything is: of calls of SDKs it is not asked
 */
export function sharesOf(
  parents: Int32Array,
  reported: (place: number) => UsageNumbers | null,
  isSummed: (place: number) => boolean,
): Map<number, number[]> {
  const below = new Map<number, number[]>()
  const shares = new Map<number, number[]>()
  for (const place of bottomUp(parents)) {
    let own = reported(place)
    let all = below.get(place)
    below.delete(place)
    if (own !== null && all !== undefined && isSummed(place)) {
      own = shareOf(own, all)
      shares.set(place, own as number[])
    }
    if (own !== null) all = addTo(all, own)
    const parent = parents[place] as number
    if (parent >= 0 && all !== undefined) below.set(parent, addTo(below.get(parent), all))
  }
  return shares
}
