// The findings of `callhouse doctor` about the brokers, the topics and the workers' group.
import type { KafkaGroup } from '../core/log/kafka/group.ts'
import type { KafkaSurvey, TopicSurvey } from '../core/log/kafka/survey.ts'
import type { Store } from '../core/store/store.ts'
import { compare } from '../worker/applied/compare.ts'
import { readApplied } from '../worker/applied/table.ts'
import { type Finding, fail, ok, warn } from './doctor.ts'

/** `hiddenAfterMs`: the age at which calls of some project are hidden; Infinity = none ever are. */
type KafkaDoctorConfig = { logRetentionHours: number; hiddenAfterMs: number }

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Time that records of a topic stay, if that is longer than the age at which calls are hidden; a segment goes as a
 * whole.
 */
export function keptPast({ settings }: Pick<TopicSurvey, 'settings'>, hiddenAfterMs: number): number | undefined {
  const [kept, rolled] = [Number(settings['retention.ms']), Number(settings['segment.ms'])]
  const longest = kept === -1 ? Number.POSITIVE_INFINITY : kept + rolled
  return longest > hiddenAfterMs ? longest : undefined
}

/** Finds topics that keep records longer than their settings say. */
function keptTooLong(survey: TopicSurvey, { hiddenAfterMs }: KafkaDoctorConfig): Finding[] {
  const { topic, settings } = survey
  const rolled = Number(settings['segment.ms'])
  if (rolled > dayMs)
    return [
      warn(
        'topics',
        `${topic}: segment.ms is ${rolled}, records stay that much longer than retention.ms: ${dayMs} lets them go within a day`,
      ),
    ]
  const longest = keptPast(survey, hiddenAfterMs)
  if (longest === undefined) return []
  return [
    warn(
      'topics',
      `${topic}: retention.ms and segment.ms keep records for ${longest} ms, calls of some project are hidden after ${hiddenAfterMs}`,
    ),
  ]
}

/** Finds settings of a topic that lose records or refuse rows that others take. */
function wrongSettings({ topic, replicas, inSync, settings }: TopicSurvey, retentionMs: number): Finding[] {
  const found: Finding[] = []
  const say = (finding: Finding) => found.push(finding)
  const numberOf = (name: string) => (settings[name] === undefined ? undefined : Number(settings[name]))
  const policy = settings['cleanup.policy']
  if (policy !== undefined && policy !== 'delete')
    say(fail('topics', `${topic}: cleanup.policy is ${policy}; records have no keys and must not be compacted`))
  const kept = numberOf('retention.ms')
  if (kept !== undefined && kept !== -1 && kept < retentionMs)
    say(
      warn(
        'topics',
        `${topic}: retention.ms is ${kept}, CALLHOUSE_LOG_RETENTION_HOURS says ${retentionMs}: existing topics keep their settings`,
      ),
    )
  const keptBytes = numberOf('retention.bytes')
  if (keptBytes !== undefined && keptBytes !== -1)
    say(warn('topics', `${topic}: retention.bytes is ${keptBytes}: records may go before they are applied`))
  const messageBytes = numberOf('max.message.bytes')
  if (messageBytes !== undefined && messageBytes < 8 * 2 ** 20)
    say(warn('topics', `${topic}: max.message.bytes is ${messageBytes}; 8388608 lets large calls go in one record`))
  if (settings['message.timestamp.type'] === 'CreateTime')
    say(
      warn('topics', `${topic}: message.timestamp.type is CreateTime; retention and lag then follow the edges' clocks`),
    )
  if (settings['unclean.leader.election.enable'] === 'true')
    say(fail('topics', `${topic}: unclean.leader.election.enable loses acknowledged records`))
  const least = numberOf('min.insync.replicas')
  if (least !== undefined && inSync < least)
    say(fail('topics', `${topic}: ${inSync} copies are up to date, ${least} are needed: writes are refused`))
  else if (least === 1 && replicas > 1)
    say(warn('topics', `${topic}: min.insync.replicas is 1: what is acknowledged may be on one broker only`))
  else if (least !== undefined && least > 1 && least >= replicas)
    say(warn('topics', `${topic}: min.insync.replicas is all ${replicas} copies: one broker down stops writes`))
  if (inSync < replicas) say(warn('replicas', `${topic}: ${inSync} of ${replicas} copies are up to date`))
  return found
}

function workersOf({ group, topics }: KafkaSurvey): Finding {
  const { members, state } = group
  const partitions = topics.find(({ topic }) => topic === 'calls')?.partitions ?? 0
  if (members === 0) return warn('workers', 'none is in the group: what is accepted waits')
  if (partitions > 0 && members > partitions)
    return warn('workers', `${members} for ${partitions} partitions of the calls: some have nothing to do`)
  return ok('workers', `${members} for ${partitions} partitions of the calls, group ${state}`)
}

/** @param look at the brokers and at how long calls are seen, or throws */
export async function examineKafka(
  { logRetentionHours }: Pick<KafkaDoctorConfig, 'logRetentionHours'>,
  look: () => Promise<{ survey: KafkaSurvey; hiddenAfterMs: number }>,
): Promise<Finding[]> {
  try {
    const { survey, hiddenAfterMs } = await look()
    return kafkaFindings(survey, { logRetentionHours, hiddenAfterMs })
  } catch (error) {
    return [fail('brokers', error instanceof Error ? error.message : String(error))]
  }
}

type Group = Pick<KafkaGroup, 'identity' | 'committed' | 'close'>

/** Whether the tables were filled from the topics that are there. */
export async function examineMatch(store: Pick<Store, 'rows'>, open: () => Promise<Group>): Promise<Finding> {
  try {
    const applied = await readApplied(store)
    if (applied.size === 0) return warn('log', 'the tables remember no log: no worker of this version has started yet')
    const group = await open()
    try {
      const [committed, identities] = [await group.committed(), await group.identity()]
      const { mismatch, missing } = compare({
        committed,
        identities,
        applied,
        tables: { areEmpty: false, covered: new Map() },
      })
      if (mismatch) return fail('log', mismatch.message)
      const lost = [...new Set(missing.map(({ topic }) => topic))]
      return lost.length > 0
        ? fail('log', `records of ${lost.join(', ')} went before they were applied`)
        : ok('log', 'the one that the tables were filled from')
    } finally {
      await group.close()
    }
  } catch (error) {
    return fail('log', error instanceof Error ? error.message : String(error))
  }
}

export function kafkaFindings(survey: KafkaSurvey, config: KafkaDoctorConfig): Finding[] {
  const wrong = survey.topics.flatMap((topic) => [
    ...wrongSettings(topic, config.logRetentionHours * hourMs),
    ...keptTooLong(topic, config),
  ])
  const replicas = Math.min(...survey.topics.map((one) => one.replicas))
  if (survey.topics.length > 0 && replicas < 2)
    wrong.push(warn('replicas', 'topics have one copy: a lost disk loses records'))
  const { missing } = survey
  return [
    ok('brokers', `${survey.brokers}`),
    ...(missing.length > 0 ? [warn('topics', `missing, made by the next start: ${missing.join(', ')}`)] : []),
    ...(wrong.length > 0 || missing.length > 0 ? wrong : [ok('topics', `${survey.topics.length}, settings are sound`)]),
    workersOf(survey),
  ]
}
