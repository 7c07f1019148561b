// How many pieces of work of a project run at one time; shared by all threads of a process.

export type Slots = {
  /** @returns gives the slot back, once. @throws Fault 429 when all are taken */
  take(projectId: string): Promise<() => void>
}
