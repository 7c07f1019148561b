// Why a batch is not applied although the store is there: nothing is decided, nothing is given up, and someone has to look.

/** Tried again later. `message` is for everyone to read: it quotes nothing of rows, paths or the engine; `detail` may. */
export class Held extends Error {
  readonly detail: string
  constructor(message: string, detail = '') {
    super(message)
    this.detail = detail
  }
}
