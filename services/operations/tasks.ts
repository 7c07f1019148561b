// Long tasks of an installation, one at a time: begun, polled, and stopped with the process.

export type TaskStatus = {
  /** `export /folder` */
  task: string
  phase: 'working' | 'done' | 'failed'
  rows: number
  /** Rows in all; 0 while that is not known. */
  of: number
  /** The current step of the task. */
  doing: string
  notes: string[]
  /** The reason of a failure. */
  reason?: string
}

export type Task = {
  signal: AbortSignal
  advanced(rows: number): void
  expects(rows: number): void
  doing(what: string): void
  note(text: string): void
  notes(): string[]
  /** Rows that are done so far. */
  rows(): number
}

export type Tasks = {
  /** @throws Error while another one runs */
  begin(name: string, work: (task: Task) => Promise<void>): TaskStatus
  status(): TaskStatus | null
  stop(): Promise<void>
}

export function createTasks(onEnd: (status: TaskStatus) => void): Tasks {
  const stopping = new AbortController()
  let current: TaskStatus | null = null
  let running: Promise<void> | undefined

  return {
    begin(name, work) {
      if (running) throw new Error(`${current?.task} is running; there is one such task at a time`)
      if (stopping.signal.aborted) throw new Error('the server is shutting down')
      const status: TaskStatus = { task: name, phase: 'working', rows: 0, of: 0, doing: '', notes: [] }
      current = status
      const task: Task = {
        signal: stopping.signal,
        advanced(rows) {
          status.rows += rows
        },
        expects(rows) {
          status.of = rows
        },
        doing(what) {
          status.doing = what
        },
        note: (text) => void status.notes.push(text),
        notes: () => [...status.notes],
        rows: () => status.rows,
      }
      running = (async () => {
        try {
          await work(task)
          status.phase = 'done'
        } catch (error) {
          status.phase = 'failed'
          status.reason = error instanceof Error ? error.message : String(error)
        }
        status.doing = ''
        running = undefined
        onEnd(status)
      })()
      return status
    },
    status: () => current,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
