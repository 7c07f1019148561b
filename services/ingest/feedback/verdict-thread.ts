// The thread that checks values against schemas that may take for ever: it is ended when one does.
import { parentPort } from 'node:worker_threads'
import { verdictOf } from './verdict.ts'

parentPort?.on('message', ({ schema, value }: { schema: string; value: string }) => {
  parentPort?.postMessage({ verdict: verdictOf(JSON.parse(schema), JSON.parse(value)) })
})
parentPort?.postMessage('ready')
