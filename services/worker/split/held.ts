// A batch that waits although the store answers: nothing is decided about its rows, and an operator has to look.

/** Retried later. `message` is public: it quotes nothing of rows, paths or the engine; `detail` may. */
export class Held extends Error {
  readonly detail: string
  constructor(message: string, detail = '') {
    super(message)
    this.detail = detail
  }
}
