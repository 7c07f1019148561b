// Asks the worker from the page. The worker's address is the only one that its Trusted Types policy lets pass.
import { ApiFault } from '../api/send.ts'
import type { Methods, Told } from './main.ts'
import workerUrl from './main.ts?worker&url'

type Waiting = {
  part: ((part: unknown) => void) | undefined
  resolve(value: unknown): void
  reject(error: unknown): void
}
type Rest<F> = F extends (context: never, ...args: infer Args) => unknown ? Args : never
type Answer<F> = F extends (...args: never[]) => Promise<infer Value> ? Value : never

const allowed = new URL(workerUrl, import.meta.url).href
type Policy = { createScriptURL(url: string): string }
type Factory = { createPolicy(name: string, rules: Policy): Policy }
const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes
const rules: Policy = {
  createScriptURL(url) {
    if (url !== allowed) throw new TypeError('not the worker of the page')
    return url
  },
}
const policy = factory?.createPolicy('callhouse-worker', rules) ?? rules

const waiting = new Map<number, Waiting>()
let last = 0
let worker: Worker | undefined

/** Its code is fetched while the page has other things to do. */
export const startWorker = (): void => void started()

function started(): Worker {
  if (worker !== undefined) return worker
  worker = new Worker(policy.createScriptURL(allowed), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    const one = waiting.get(data.id)
    if (one === undefined) return
    if ('part' in data) return one.part?.(data.part)
    waiting.delete(data.id)
    if ('value' in data) one.resolve(data.value)
    else if ('fault' in data) one.reject(new ApiFault(data.fault))
    else one.reject(new Error(data.error))
  })
  worker.addEventListener('error', () => {
    for (const one of waiting.values()) one.reject(new Error('The worker of the page stopped'))
    waiting.clear()
    worker = undefined
  })
  return worker
}

/** @property part takes what is there of an answer that takes long */
export type Asking = { signal?: AbortSignal | undefined; part?: ((part: never) => void) | undefined }

/** Runs a method of the worker; what it fetches is given up with the signal. */
export function ask<Name extends keyof Methods>(
  method: Name,
  args: Rest<Methods[Name]>,
  { signal, part }: Asking = {},
): Promise<Answer<Methods[Name]>> {
  const id = ++last
  const target = started()
  return new Promise((resolve, reject) => {
    waiting.set(id, { part: part as Waiting['part'], resolve: resolve as Waiting['resolve'], reject })
    signal?.addEventListener('abort', () => {
      if (!waiting.delete(id)) return
      target.postMessage({ id, abort: true })
      reject(signal.reason)
    })
    target.postMessage({ id, method, args })
  })
}

/** The open documents go with the worker. */
export function stopWorker(): void {
  worker?.terminate()
  worker = undefined
  waiting.clear()
}
