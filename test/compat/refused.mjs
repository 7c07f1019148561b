// Traces calls, in two bursts, with the published Node SDK; prints how many ran as one JSON line.
import * as weave from 'weave'

const [project, first, second] = process.argv.slice(2)
const client = await weave.init(project)
const work = weave.op(async function work(n) {
  return n + 1
})
let results = 0
for (const count of [Number(first), Number(second)]) {
  for (let n = 0; n < count; n++) results += (await work(n)) > 0 ? 1 : 0
  await client.waitForBatchProcessing()
}
process.stdout.write(`\n${JSON.stringify({ results })}\n`)
