// Width of the window in steps: the conditions of the style sheets, for decisions of scripts.
import { useSyncExternalStore } from 'react'

const conditions = {
  /** Rows have lines instead of columns, and the pages are in a drawer. */
  narrow: '(max-width: 40em)',
  /** The rail has room for words. */
  wide: '(min-width: 72em)',
} as const
type Step = keyof typeof conditions

const lists = new Map<Step, MediaQueryList>()
function listOf(step: Step): MediaQueryList {
  const known = lists.get(step) ?? matchMedia(conditions[step])
  lists.set(step, known)
  return known
}

const subscriptions = Object.fromEntries(
  (Object.keys(conditions) as Step[]).map((step) => [
    step,
    (listener: () => void) => {
      listOf(step).addEventListener('change', listener)
      return () => listOf(step).removeEventListener('change', listener)
    },
  ]),
) as Record<Step, (listener: () => void) => () => void>

export const useIsWindow = (step: Step): boolean =>
  useSyncExternalStore(subscriptions[step], () => listOf(step).matches)
