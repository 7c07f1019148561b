// Summary of a run: means of the scores and of the outputs of its predictions.
import { objectOf } from './calls.ts'

type Mean = { sum: number; count: number }

/** Booleans count as 1 and 0; objects, texts, null and what no double can hold do not count. */
const numberOf = (value: unknown): number | null =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'number' && Number.isFinite(value) ? value : null

const add = (mean: Mean, value: number): Mean => ({ sum: mean.sum + value, count: mean.count + 1 })

export type RunSummary = {
  /** @param output of a call around a prediction and its scores; what is no object does not count */
  add(output: unknown): void
  /** `{"<scorer>": {"mean"}, …, "output": {"mean"}}`; what had no number is left out. */
  value(): Record<string, { mean: number }>
}

/** Keeps two numbers for each scorer, however many predictions there are. */
export function createRunSummary(): RunSummary {
  const scorers = new Map<string, Mean>()
  let outputs: Mean = { sum: 0, count: 0 }
  const none: Mean = { sum: 0, count: 0 }
  return {
    add(output) {
      const row = objectOf(output)
      for (const [scorer, score] of Object.entries(objectOf(row.scores))) {
        const value = numberOf(score)
        if (value !== null) scorers.set(scorer, add(scorers.get(scorer) ?? none, value))
      }
      const value = numberOf(row.output)
      if (value !== null) outputs = add(outputs, value)
    },
    value() {
      const all = outputs.count > 0 ? [...scorers].filter(([name]) => name !== 'output') : [...scorers]
      if (outputs.count > 0) all.push(['output', outputs])
      // Not by assignment: a scorer may be named like a property of all objects. A sum beyond doubles has no mean.
      return Object.fromEntries(
        all
          .filter(([, { sum }]) => Number.isFinite(sum))
          .map(([name, { sum, count }]) => [name, { mean: sum / count }]),
      )
    },
  }
}
