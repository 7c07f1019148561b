// `npm run bench <name>`: ingest [calls] [rounds], fairness [writes], growth [calls], reads [calls] [repetitions] [folder to keep], readers [calls] [calls per second], resent, restart [calls] [repetitions] [folder to keep], sustained [seconds] [calls per second], kafka [calls] [rounds], workers [calls] [rounds], objects [rows of the long table], safety [stored calls] [part], page [calls] [repetitions] [parts, by commas].
import { benchFairness } from './fairness.ts'
import { benchGrowth } from './growth.ts'
import { benchIngest } from './ingest.ts'
import { benchKafka } from './kafka.ts'
import { benchKafkaClients } from './kafka-clients.ts'
import { benchObjects } from './objects.ts'
import { benchEdgeOfOtlp, benchJoinsOfOtlp, benchOtlp } from './otlp.ts'
import { benchPage } from './page.ts'
import { benchReaders } from './readers.ts'
import { benchReads } from './reads.ts'
import { benchResent } from './resent.ts'
import { benchRestart } from './restart.ts'
import { benchSafety } from './safety.ts'
import { benchSustained } from './sustained.ts'
import { benchWorkers } from './workers.ts'

const [name, size, times, folder] = process.argv.slice(2)
const benches: Record<string, () => Promise<void>> = {
  ingest: () => benchIngest(Number(size ?? 20_000), Number(times ?? 3)),
  fairness: () => benchFairness(Number(size ?? 60)),
  growth: () => benchGrowth(Number(size ?? 50_000_000)),
  otlp: () => benchOtlp(Number(size ?? 20_000), Number(times ?? 3)),
  'otlp-edge': () => benchEdgeOfOtlp(Number(size ?? 3)),
  'otlp-joins': () => benchJoinsOfOtlp(Number(size ?? 3)),
  reads: () => benchReads(Number(size ?? 1_000_000), Number(times ?? 15), folder),
  kafka: () => benchKafka(Number(size ?? 20_000), Number(times ?? 3)),
  resent: () => benchResent(),
  readers: () => benchReaders(Number(size ?? 1_000_000), Number(times ?? 8_000)),
  'kafka-clients': () => benchKafkaClients(Number(size ?? 20_000), Number(times ?? 3)),
  objects: () => benchObjects(Number(size ?? 1_000_000)),
  safety: () => benchSafety(Number(size ?? 500_000), times),
  page: () => benchPage(Number(size ?? 20_000), Number(times ?? 9), folder?.split(',')),
  sustained: () => benchSustained(Number(size ?? 600), Number(times ?? 0)),
  workers: () => benchWorkers(Number(size ?? 100_000), Number(times ?? 1)),
  restart: () => benchRestart(Number(size ?? 1_000_000), Number(times ?? 5), folder),
}
const bench = benches[name ?? '']
if (bench) await bench()
else {
  process.stderr.write(`usage: npm run bench ${Object.keys(benches).join(' | ')}\n`)
  process.exitCode = 2
}
