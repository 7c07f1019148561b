// Answers of models against that of the first one: offered once two of them are complete.
import { useCallback, useState } from 'react'
import type { ModelColumn } from './draft.ts'

export type AnswerDifferences = {
  isOffered: boolean
  isShown: boolean
  toggle(): void
  /** The text that the column is compared with; undefined where it is shown as it is. */
  beforeOf(place: number): string | undefined
  /** @param text of a complete answer; undefined while there is none */
  onAnswer(key: ModelColumn['key'], text: string | undefined): void
}

export function useDifferences(columns: readonly ModelColumn[]): AnswerDifferences {
  const [texts, setTexts] = useState<ReadonlyMap<ModelColumn['key'], string | undefined>>(new Map())
  const [isWanted, setIsWanted] = useState(false)
  const onAnswer = useCallback(
    (key: ModelColumn['key'], text: string | undefined) => setTexts((before) => new Map(before).set(key, text)),
    [],
  )
  const complete = columns.map(({ key }) => texts.get(key))
  const isOffered = complete[0] !== undefined && complete.filter((text) => text !== undefined).length > 1
  const isShown = isWanted && isOffered
  return {
    isOffered,
    isShown,
    onAnswer,
    toggle: () => setIsWanted(!isShown),
    beforeOf: (place) => (isShown && place > 0 ? complete[0] : undefined),
  }
}
