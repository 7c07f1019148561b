// Clients that send all that a server takes and more, in a thread of their own, so that what is measured beside them is not
// held up by their work.
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { createPayloads } from './payloads.ts'
import { createClient } from './process.ts'

const path = '/call/upsert_batch'
const [senders, perRequest] = [8, 200]
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Requests since the start that were taken, and that were refused and came again. */
type Sent = { taken: number; refused: number }

/** Bodies of calls that never come twice: three digits of every id are those of the round, the same in a whole body. */
function createBodies(project: string): () => string {
  const payloads = createPayloads(3, project)
  const prepared = Array.from({ length: 40 }, () => payloads.upsertBatch(perRequest))
  let made = 0
  return () => {
    const round = Math.floor(made / prepared.length)
      .toString(16)
      .padStart(3, '0')
    return (prepared[made++ % prepared.length] as string).replaceAll(/-7[0-9a-f]{3}-a/g, `-7${round}-a`)
  }
}

async function sendUntilEnd({ port, project }: { port: number; project: string }): Promise<void> {
  const send = createClient(port, senders)
  const nextBody = createBodies(project)
  const sent: Sent = { taken: 0, refused: 0 }
  let isOver = false
  parentPort?.on('message', (text) => {
    isOver ||= text === 'end'
    parentPort?.postMessage(sent)
  })
  const one = async () => {
    let body = Buffer.from(nextBody())
    while (!isOver) {
      if ((await send(path, body)).status === 200) {
        sent.taken++
        body = Buffer.from(nextBody())
      } else {
        sent.refused++
        await pause(20)
      }
    }
  }
  await Promise.all(Array.from({ length: senders }, one))
  parentPort?.close()
}

export type BusyClients = {
  callsPerRequest: number
  sent(): Promise<Sent>
  /** Ends once no request is under way. */
  end(): Promise<void>
}

export function startBusyClients(port: number, project: string): BusyClients {
  const worker = new Worker(new URL(import.meta.url), { workerData: { port, project } })
  return {
    callsPerRequest: perRequest,
    async sent() {
      worker.postMessage('sent')
      const [sent] = (await once(worker, 'message')) as [Sent]
      return sent
    },
    async end() {
      worker.postMessage('end')
      await once(worker, 'exit')
    },
  }
}

if (workerData?.port !== undefined && parentPort !== null) await sendUntilEnd(workerData)
