// Waits of the consumer of one topic: for records, time, or its end.

export type KafkaDelivery = {
  isConsuming: boolean
  isFlushing: boolean
  lastAt: number
  /** Something has changed. */
  wake(): void
  /** @param ms when something is due; null: not before something comes */
  untilWoken(ms: number | null): Promise<void>
  /** The outcome, or false as soon as the consumer is told to end. */
  unlessEnded(signal: AbortSignal, work: Promise<boolean>): Promise<boolean>
}

export function createKafkaDelivery(): KafkaDelivery {
  let onWake = (): void => {}
  return {
    isConsuming: false,
    isFlushing: false,
    lastAt: Number.NEGATIVE_INFINITY,
    wake: () => onWake(),
    async untilWoken(ms) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        onWake = resolve
        if (ms !== null) timer = setTimeout(resolve, Math.max(1, ms))
      })
      clearTimeout(timer)
      onWake = () => {}
    },
    async unlessEnded(signal, work) {
      const ended = new Promise<false>((resolve) => {
        onWake = () => signal.aborted && resolve(false)
      })
      const outcome = await Promise.race([work, ended])
      onWake = () => {}
      return outcome
    },
  }
}
