// tier: deep kafka
// The findings of the doctor about brokers, topics and workers: of a real broker, and of settings that lose records.
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { examineKafka, kafkaFindings } from '../../services/app/doctor-kafka.ts'
import { watchKeptTopics } from '../../services/app/kept-topics.ts'
import { createKafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { type KafkaSurvey, surveyKafka, type TopicSurvey } from '../../services/core/log/kafka/survey.ts'
import { type TopicName, topics } from '../../services/events/registry.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

const dayMs = 86_400_000
const config = { logRetentionHours: 1, hiddenAfterMs: Number.POSITIVE_INFINITY }
const topicNames = Object.keys(topics) as TopicName[]
const sound = { 'cleanup.policy': 'delete', 'max.message.bytes': '8388608', 'message.timestamp.type': 'LogAppendTime' }
const surveyOf = (more: Partial<TopicSurvey> = {}, rest: Partial<KafkaSurvey> = {}): KafkaSurvey => ({
  brokers: 3,
  topics: topicNames.map((topic) => ({
    topic,
    partitions: 6,
    replicas: 3,
    inSync: 3,
    ...more,
    settings: { ...sound, 'retention.ms': '3600000', 'min.insync.replicas': '2', ...more.settings },
  })),
  missing: [],
  group: { state: 'Stable', members: 2 },
  ...rest,
})
/** The faults, without the name of the topic. */
const wrong = (survey: KafkaSurvey, of = config) => [
  ...new Set(
    kafkaFindings(survey, of)
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ check, verdict, says }) => `${verdict} ${check}: ${says.replace(/^\w+: /, '')}`),
  ),
]

it('the doctor sees the topics that the log makes, and who is in the group', async () => {
  const settings = kafkaSettings(await kafkaBrokers(), { partitions: 3 })
  const before = await surveyKafka(settings)
  expect(before).toMatchObject({ brokers: 1, topics: [], group: { members: 0 } })
  expect(before.missing).toEqual(topicNames.map((topic) => settings.topicPrefix + topic))
  expect(wrong(before)[0]).toContain('warn topics: missing, made by the next start')

  const log = await createKafkaLog(settings)
  onTestFinished(() => log.close())
  const survey = await surveyKafka(settings)
  expect(survey.missing).toEqual([])
  expect(survey.topics.map(({ topic }) => topic).sort()).toEqual([...topicNames].sort())
  for (const topic of survey.topics)
    expect(topic).toMatchObject({
      partitions: 3,
      replicas: 1,
      inSync: 1,
      settings: { ...sound, 'retention.ms': '3600000' },
    })
  // The topics that we make are as the doctor wants them, but for the one broker of the test.
  expect(wrong(survey)).toEqual([
    'warn replicas: topics have one copy: a lost disk loses records',
    'warn workers: none is in the group: what is accepted waits',
  ])
})

it('topics that keep records for longer than the least days of any project are named by /health', async () => {
  const days = new Map<string, number>()
  const watched = watchKeptTopics(
    async () => surveyOf({ settings: { 'retention.ms': String(2 * dayMs), 'segment.ms': String(dayMs) } }),
    {
      of: (id) => ({ calls_days: days.get(id) ?? null }),
      projectIds: () => days.keys(),
      isRemoved: () => false,
      defaultDays: 30,
      logsDays: 30,
    },
    (error) => expect.unreachable(error.message),
  )
  onTestFinished(() => watched.close())
  await watched.first
  expect(watched.problem()).toBeUndefined()
  days.set('a/long', 3)
  expect(watched.problem()).toBeUndefined()
  days.set('a/short', 2)
  expect(watched.problem()).toContain('calls, ')
})

it('the doctor says that brokers cannot be reached', async () => {
  const settings = kafkaSettings(['127.0.0.1:1'])
  expect(
    await examineKafka(config, async () => ({ survey: await surveyKafka(settings), hiddenAfterMs: dayMs })),
  ).toEqual([{ check: 'brokers', verdict: 'fail', says: expect.stringContaining('127.0.0.1:1') }])
})

it('the doctor names topics whose records stay for longer than calls are seen', () => {
  const days = (retentionMs: number, segmentMs: number) =>
    surveyOf({ settings: { 'retention.ms': String(retentionMs), 'segment.ms': String(segmentMs) } })
  expect(wrong(days(dayMs, 7 * dayMs))).toEqual([
    'warn topics: segment.ms is 604800000, records stay that much longer than retention.ms: 86400000 lets them go within a day',
  ])
  expect(wrong(days(dayMs, dayMs), { ...config, hiddenAfterMs: dayMs })).toEqual([
    'warn topics: retention.ms and segment.ms keep records for 172800000 ms, calls of some project are hidden after 86400000',
  ])
  expect(wrong(days(dayMs, dayMs), { ...config, hiddenAfterMs: 2 * dayMs })).toEqual([])
})

it('the doctor finds nothing wrong with three brokers and two workers', () => {
  expect(wrong(surveyOf())).toEqual([])
  expect(kafkaFindings(surveyOf(), config).map(({ check }) => check)).toEqual(['brokers', 'topics', 'workers'])
})

it.each([
  [{ 'cleanup.policy': 'compact' }, 'fail topics'],
  [{ 'cleanup.policy': 'compact,delete' }, 'fail topics'],
  [{ 'retention.ms': '3599999' }, 'warn topics'],
  [{ 'retention.bytes': '1000000' }, 'warn topics'],
  [{ 'max.message.bytes': '1048588' }, 'warn topics'],
  [{ 'message.timestamp.type': 'CreateTime' }, 'warn topics'],
  [{ 'unclean.leader.election.enable': 'true' }, 'fail topics'],
  [{ 'min.insync.replicas': '1' }, 'warn topics'],
  [{ 'min.insync.replicas': '3' }, 'warn topics'],
  [{ 'min.insync.replicas': '4' }, 'fail topics'],
])('the doctor finds the unsafe topic settings %j', (settings, verdict) => {
  const [first, ...others] = wrong(surveyOf({ settings: settings as Record<string, string> }))
  expect(first).toContain(verdict)
  expect(others).toEqual([])
})

it('the doctor finds copies and workers that are missing, and takes what it may not read as given', () => {
  expect(wrong(surveyOf({ inSync: 2 }))).toEqual(['warn replicas: 2 of 3 copies are up to date'])
  expect(wrong(surveyOf({ inSync: 1 }))).toEqual([
    'fail topics: 1 copies are up to date, 2 are needed: writes are refused',
    'warn replicas: 1 of 3 copies are up to date',
  ])
  expect(wrong(surveyOf({}, { group: { state: 'Stable', members: 7 } }))).toEqual([
    'warn workers: 7 for 6 partitions of the calls: some have nothing to do',
  ])
  const unread = surveyOf()
  for (const topic of unread.topics) topic.settings = {}
  expect(wrong(unread)).toEqual([])
  const forever = surveyOf({ settings: { 'retention.ms': '-1', 'retention.bytes': '-1' } })
  expect(wrong(forever)).toEqual([])
})
