// Traces a small program with the published Node SDK; prints what it reads back as one JSON line.
import * as weave from 'weave'

const project = process.argv[2]
const client = await weave.init(project)
const add = weave.op(async function add(a, b) {
  return a + b
})
const outer = weave.op(async function outer(x) {
  return { sum: await add(x, 1), text: 'héllo 😀' }
})
const fails = weave.op(async function fails() {
  throw new Error('boom')
})
await outer(1)
await fails().catch(() => {})
await Promise.all([1, 2, 3].map((n) => add(n, n)))
await client.waitForBatchProcessing()

const calls = await client.getCalls({}, undefined, 100)
const byId = new Map(calls.map((call) => [call.id, call]))
process.stdout.write(
  `\n${JSON.stringify({
    calls: calls.map((call) => ({
      op: call.op_name,
      inputs: call.inputs,
      output: call.output ?? null,
      exception: call.exception ?? null,
      parent: byId.get(call.parent_id)?.op_name ?? null,
      status: call.summary?.weave?.status,
      ended: Boolean(call.ended_at),
    })),
  })}\n`,
)
process.exit(0)
