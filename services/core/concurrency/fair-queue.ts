// A fair queue: a bounded number of slots, and those that wait for one take turns by key, whoever came first.

type Begin = (leave: () => void) => void

export type FairQueue<Key> = {
  /**
   * Calls `begin` at once when there is a place, else when its turn has come. `leave` gives the place back.
   * @param key absent: a key of its own
   * @param request the work that this is a part of: its parts count once, and when one was let in the others are too
   * @returns takes it back as long as it waits
   * @throws what `refused` makes, when too many of the key wait
   */
  request(key: Key | undefined, begin: Begin, request?: object): () => void
  waiting(): number
  /** Keys that wait or have a place. */
  keys(): number
}

type Options = {
  /** Number of slots. */
  slots: number
  /** Limit of waiting requests of one key; default: any number. */
  maxWaitingPerKey?: number
  /** Limit of waiting parts of all keys, an equal share for each, at least one; default: any number. */
  maxWaiting?: number
  refused?(): Error
}

/** State of a key while it has a place or waits for one. */
type KeyQueue = {
  running: number
  waiting: number
  /** Requests that wait, with the number of their parts that do. */
  requests: Map<object, number>
  first: Waiting | undefined
  last: Waiting | undefined
  /** Its neighbours in the circle of lines that wait. */
  before: KeyQueue
  after: KeyQueue
}

type Waiting = { begin(): void; request: object; before: Waiting | undefined; after: Waiting | undefined }

function newKeyQueue(): KeyQueue {
  const line = { running: 0, waiting: 0, requests: new Map(), first: undefined, last: undefined } as unknown as KeyQueue
  line.before = line
  line.after = line
  return line
}

function add(line: KeyQueue, one: Waiting): void {
  one.before = line.last
  if (line.last === undefined) line.first = one
  else line.last.after = one
  line.last = one
  line.waiting++
  line.requests.set(one.request, (line.requests.get(one.request) ?? 0) + 1)
}

function remove(line: KeyQueue, { request, before, after }: Waiting): void {
  if (before === undefined) line.first = after
  else before.after = after
  if (after === undefined) line.last = before
  else after.before = before
  line.waiting--
  const parts = line.requests.get(request) as number
  if (parts > 1) line.requests.set(request, parts - 1)
  else line.requests.delete(request)
}

/**
 * One of each key in turn. While another key waits, a key has at most half of the slots, rounded up; and the last free
 * place is for a key that has none, so that whoever comes beside slow work of others need not wait for its end. Every
 * operation takes the same time however many wait, and nothing is kept of a key that neither waits nor has a place.
 */
export function createFairQueue<Key>(options: Options): FairQueue<Key> {
  const { slots, maxWaitingPerKey = Number.POSITIVE_INFINITY, maxWaiting = Number.POSITIVE_INFINITY } = options
  const half = Math.ceil(slots / 2)
  const lines = new Map<Key, KeyQueue>()
  const letIn = new WeakSet<object>()
  /** Between the line that had its turn last and the one whose turn is next. */
  const circle = newKeyQueue()
  let linesWaiting = 0
  let waiting = 0
  let free = slots

  function enterCircle(line: KeyQueue): void {
    line.before = circle.before
    line.after = circle
    circle.before.after = line
    circle.before = line
    linesWaiting++
  }

  function leaveCircle(line: KeyQueue): void {
    line.before.after = line.after
    line.after.before = line.before
    linesWaiting--
  }

  const mayGo = ({ running }: KeyQueue, areOthersWaiting: boolean): boolean =>
    running === 0 ? free > 0 : free > 1 && (running < half || !areOthersWaiting)

  function forget(key: Key | undefined, line: KeyQueue): void {
    if (key !== undefined && line.running + line.waiting === 0) lines.delete(key)
  }

  function start(key: Key | undefined, line: KeyQueue, begin: Begin): void {
    free--
    line.running++
    let hasLeft = false
    begin(() => {
      if (hasLeft) return
      hasLeft = true
      free++
      line.running--
      forget(key, line)
      next()
    })
  }

  function next(): void {
    // Those that are passed over have a place each, so there are few of them.
    for (let line = circle.after; line !== circle && free > 0; line = line.after) {
      if (!mayGo(line, linesWaiting > 1)) continue
      const one = line.first as Waiting
      take(line, one)
      if (line.waiting > 0) {
        leaveCircle(line)
        enterCircle(line)
      }
      one.begin()
      // The begun work may have left already, or asked for more: the search starts over.
      line = circle
    }
  }

  function take(line: KeyQueue, one: Waiting): void {
    remove(line, one)
    waiting--
    if (line.waiting === 0) leaveCircle(line)
  }

  function throwUnlessRoom(line: KeyQueue, isLetIn: boolean): void {
    const share = Math.max(1, Math.floor(maxWaiting / (linesWaiting + (line.waiting === 0 ? 1 : 0))))
    const isRoom = isLetIn
      ? line.waiting < Math.max(maxWaitingPerKey, share)
      : line.waiting < share && line.requests.size < maxWaitingPerKey
    if (!isRoom) throw options.refused?.() ?? new Error('too many wait')
  }

  return {
    request(key, begin, request) {
      const line = (key === undefined ? undefined : lines.get(key)) ?? newKeyQueue()
      const isNext = line.waiting === 0 && mayGo(line, linesWaiting > 0)
      if (!isNext) throwUnlessRoom(line, request !== undefined && letIn.has(request))
      if (request !== undefined) letIn.add(request)
      if (key !== undefined) lines.set(key, line)
      if (isNext) {
        start(key, line, begin)
        return () => undefined
      }
      let isWaiting = true
      const one: Waiting = {
        request: request ?? {},
        before: undefined,
        after: undefined,
        begin() {
          isWaiting = false
          start(key, line, begin)
        },
      }
      if (line.waiting === 0) enterCircle(line)
      add(line, one)
      waiting++
      return () => {
        if (!isWaiting) return
        isWaiting = false
        take(line, one)
        forget(key, line)
        next()
      }
    },
    waiting: () => waiting,
    keys: () => lines.size,
  }
}

/**
 * Resolves to the function that gives the place back, when the turn has come.
 * Rejects with the reason of `signal` when that is aborted before, and with what `ask` throws.
 */
export function slotIn<Key>(
  queue: FairQueue<Key>,
  key: Key | undefined,
  { signal, request }: { signal?: AbortSignal; request?: object | undefined } = {},
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    let isWaiting = true
    const onAbort = (): void => {
      takeBack()
      reject(signal?.reason)
    }
    const begin: Begin = (leave) => {
      isWaiting = false
      signal?.removeEventListener('abort', onAbort)
      resolve(leave)
    }
    const takeBack = queue.request(key, begin, request)
    if (isWaiting) signal?.addEventListener('abort', onAbort, { once: true })
  })
}
