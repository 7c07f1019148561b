// One answer of a model, while it comes and afterwards.
import type { Answer } from '../engine/completion-stream.ts'

export type Run = {
  answer: Answer
  isRunning: boolean
  /** The fault of a refused or broken request, as the server or the provider worded it. */
  fault: string | null
  /** The name of the API key that the server lacks for the model. */
  secret: string | null
  callId: string | null
  firstMs: number | null
  totalMs: number | null
}
