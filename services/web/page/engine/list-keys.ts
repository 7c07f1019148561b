// The keys of the page that belong to its list: those that move in it or open its row, unless the focused element takes
// them.

/** `nothing` has the focus; text is typed into a `text`; a `list` and an `overlay` (dialog, menu) have keys of their own. */
export type KeyPlace = 'nothing' | 'control' | 'text' | 'list' | 'overlay'

const letters = new Set(['j', 'k'])
/** Controls, and what scrolls around them, take these. */
const others = new Set([
  'ArrowDown',
  'ArrowUp',
  'ArrowLeft',
  'ArrowRight',
  'PageDown',
  'PageUp',
  'Home',
  'End',
  'Enter',
])

/** @param hasLetters whether single letters are keys of the page */
export function isForList(key: string, place: KeyPlace, hasLetters: boolean): boolean {
  if (place === 'text' || place === 'list' || place === 'overlay') return false
  if (letters.has(key)) return hasLetters
  return place === 'nothing' && others.has(key)
}

const boxes = new Set(['checkbox', 'radio'])

/** Whether letters are text in an element: a box to check takes Space, arrows and Enter alone. */
export const takesText = (tagName: string, type: string | undefined): boolean =>
  tagName === 'INPUT' ? !boxes.has(type ?? '') : ['TEXTAREA', 'SELECT'].includes(tagName)
