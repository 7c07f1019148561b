// `npm run bench <name>`: ingest [calls] [rounds], reads [calls] [repetitions].
import { benchIngest } from './ingest.ts'

const [name, size, times] = process.argv.slice(2)
const benches: Record<string, () => Promise<void>> = {
  ingest: () => benchIngest(Number(size ?? 20_000), Number(times ?? 3)),
}
const bench = benches[name ?? '']
if (bench) await bench()
else {
  process.stderr.write(`usage: npm run bench ${Object.keys(benches).join(' | ')}\n`)
  process.exitCode = 2
}
