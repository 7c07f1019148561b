// Values beside rows, which further requests answer: what is known of a row stays while they are on their way, or fail.

/** Null: there is none. A text says why it could not be read. Undefined: it is on its way. */
export type ValueOfRow<Value> = Value | null | string | undefined

/** By id; null where an answer has none. */
export type KnownValues<Value> = ReadonlyMap<string, Value | null>

/** @param answer for all of these rows; undefined while there is none, or once it failed */
export function knownValues<Value>(
  before: KnownValues<Value>,
  ids: readonly string[],
  answer: ReadonlyMap<string, Value> | undefined,
): KnownValues<Value> {
  if (answer !== undefined) return new Map(ids.map((id) => [id, answer.get(id) ?? null]))
  return new Map(
    ids.flatMap((id) => {
      const value = before.get(id)
      return value === undefined ? [] : [[id, value]]
    }),
  )
}

/** The rows as they were, where they are still the same ones. */
export const sameRows = <Row>(before: readonly Row[], now: readonly Row[]): readonly Row[] =>
  before.length === now.length && before.every((row, n) => row === now[n]) ? before : now
