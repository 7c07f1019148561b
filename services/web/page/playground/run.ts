// One answer of a model, while it comes and afterwards.
import type { Answer } from '../engine/completion-stream.ts'

export type Run = {
  answer: Answer
  isRunning: boolean
  /** What was refused or broke, as the server or the provider said it. */
  fault: string | null
  /** The name of the API key that the server lacks for the model. */
  secret: string | null
  callId: string | null
  firstMs: number | null
  totalMs: number | null
}
