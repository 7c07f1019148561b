// `npm run bench <name>`: ingest [calls] [rounds], reads [calls] [repetitions] [folder to keep], restart [calls] [repetitions] [folder to keep].
import { benchIngest } from './ingest.ts'
import { benchOtlp } from './otlp.ts'
import { benchReads } from './reads.ts'
import { benchRestart } from './restart.ts'

const [name, size, times, folder] = process.argv.slice(2)
const benches: Record<string, () => Promise<void>> = {
  ingest: () => benchIngest(Number(size ?? 20_000), Number(times ?? 3)),
  otlp: () => benchOtlp(Number(size ?? 20_000), Number(times ?? 3)),
  reads: () => benchReads(Number(size ?? 1_000_000), Number(times ?? 15), folder),
  restart: () => benchRestart(Number(size ?? 1_000_000), Number(times ?? 5), folder),
}
const bench = benches[name ?? '']
if (bench) await bench()
else {
  process.stderr.write(`usage: npm run bench ${Object.keys(benches).join(' | ')}\n`)
  process.exitCode = 2
}
