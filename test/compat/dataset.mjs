// Publishes a dataset twice with the published Node SDK; prints its refs and what it reads back as one JSON line.
import * as weave from 'weave'

const client = await weave.init(process.argv[2])
const rows = Array.from({ length: 12 }, (_, i) => ({ i, half: i / 2, text: `row ${i} é` }))
const first = await client.publish(new weave.Dataset({ name: 'set', rows }))
const again = await client.publish(new weave.Dataset({ name: 'set', rows }))
await client.waitForBatchProcessing()

const read = await client.get(first)
const back = []
for (let i = 0; i < read.length; i++) {
  const { half, text } = await read.getRow(i)
  back.push({ i, half, text })
}
process.stdout.write(`\n${JSON.stringify({ refs: [await first.uri(), await again.uri()], back })}\n`)
process.exit(0)
