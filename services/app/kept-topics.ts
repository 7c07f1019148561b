// Topics on Kafka whose records stay for longer than the calls of some project are seen: /health names them.
import { hiddenAfterMs, type RetentionSource } from '../core/directory/retention.ts'
import type { KafkaSurvey } from '../core/log/kafka/survey.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Services } from '../core/process/services.ts'
import type { Config } from './config.ts'
import { keptPast } from './doctor-kafka.ts'
import { hasSharedLog, surveyLog } from './drivers.ts'
import { does, type ServerRole } from './roles.ts'

const everyMs = 3_600_000

/**
 * Looks at the topics now and each hour; what projects say counts at once.
 * @param survey looks at the brokers, or throws
 */
export function watchKeptTopics(
  survey: () => Promise<Pick<KafkaSurvey, 'topics'>>,
  retention: RetentionSource,
  onError: (error: Error) => void,
) {
  let topics: KafkaSurvey['topics'] = []
  const look = async (): Promise<void> => {
    try {
      topics = (await survey()).topics
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const looking = setInterval(() => void look(), everyMs)
  looking.unref()
  return {
    first: look(),
    /** Undefined = none is known. */
    problem(): string | undefined {
      const least = hiddenAfterMs(retention)
      const names = topics.filter((topic) => keptPast(topic, least) !== undefined).map(({ topic }) => topic)
      if (names.length === 0) return undefined
      return `records stay for longer than calls of some project are seen: ${names.join(', ')} (callhouse doctor)`
    },
    close: () => clearInterval(looking),
  }
}

/** Retention of the topics of a process that applies the log; undefined where the log is of this machine alone. */
export function keptTopicsOf(
  { config, logger, services }: { config: Config; logger: Logger; services: Services },
  role: ServerRole,
  retention: RetentionSource,
) {
  return services.start({
    name: 'settings of topics',
    start() {
      if (!hasSharedLog(config) || !does(role, 'apply')) return undefined
      const onError = (error: Error) => logger.warn({ error: error.message }, 'settings of topics were not looked at')
      return watchKeptTopics(() => surveyLog(config, logger), retention, onError)
    },
    stop: (watched) => watched.close(),
    stopMs: 1_000,
  })
}
