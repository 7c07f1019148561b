// The order of what "Go to" finds: what is named exactly comes first, then names that begin with the words.

type Found = { label: string; hint: string }

/** Places of the product: their names are typed by those who know them. */
const places = new Set(['page', 'settings', 'dashboard', 'project'])

/** @returns the smaller, the earlier */
function rankOf({ label, hint }: Found, words: string): number {
  if (!places.has(hint)) return 2
  const name = label.toLowerCase()
  // Projects by their own name, too.
  const names = hint === 'project' ? [name, ...name.split('/').slice(1)] : [name]
  if (names.includes(words)) return 0
  return names.some((one) => one.startsWith(words)) ? 1 : 2
}

/** @param found in the order of their kinds, which stays among those that fit equally well */
export function ranked<Target extends Found>(found: readonly Target[], text: string): Target[] {
  const words = text.trim().toLowerCase()
  if (words === '') return [...found]
  return found
    .map((one, place) => ({ one, place, rank: rankOf(one, words) }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ one }) => one)
}
