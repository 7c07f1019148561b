// Starts the request threads of a process, and tells what they do in its metrics.
import type { Registry } from 'prom-client'
import type { Clock } from '../core/clock/clock.ts'
import type { RequestThreads } from '../core/http/long-requests.ts'
import type { RecordSplit } from '../core/log/log.ts'
import { heapLimitMb } from '../core/memory/heap-room.ts'
import { metricsIn } from '../core/process/metrics-in.ts'
import { createRequestThreads } from '../core/threads/pool.ts'
import type { Ports } from '../core/threads/ports.ts'
import type { ThreadData } from '../core/threads/requests.ts'
import type { Config } from './config.ts'
import type { ServerRole } from './roles.ts'

const minHeapMb = 512

const program = new URL('./request-thread.ts', import.meta.url)

export function startRequestThreads(
  { config, role, split, clock }: { config: Config; role: ServerRole; split: RecordSplit; clock: Clock },
  ports: Omit<Ports, 'clock'>,
  registry: Registry,
): RequestThreads {
  const data: ThreadData<Config, ServerRole> = { config, role, split, clock: clock.shared }
  const heapMb = Math.max(minHeapMb, heapLimitMb(config.maxBodyBytes))
  const threads = createRequestThreads({ program, data, ports: { ...ports, clock }, heapMb })
  const { value } = metricsIn(registry)
  const { counts } = threads
  value('callhouse_request_threads', 'Threads that run requests with long bodies', () => counts().threads)
  value('callhouse_request_threads_running', 'Requests that run in those threads', () => counts().running)
  value('callhouse_request_threads_waiting', 'Requests that wait for such a thread', () => counts().waiting)
  return {
    ...threads,
    run(...request) {
      clock.tell()
      return threads.run(...request)
    },
  }
}
