// All topics: what the log, the store, the worker and the commands are told of, and docs/events.md is written from.
import { type Topic, topicIn } from '../core/log/topic.ts'
import { annotationQueuesTopic } from './annotation-queues.ts'
import { auditTopic } from './audit.ts'
import { callsTopic } from './calls.ts'
import { costsTopic } from './costs.ts'
import { erasuresTopic } from './erasures.ts'
import { evaluationJobsTopic } from './evaluation-jobs.ts'
import { feedbackTopic } from './feedback.ts'
import { filesTopic } from './files.ts'
import { logsTopic } from './logs.ts'
import { objectLabelsTopic } from './object-labels.ts'
import { objectsTopic } from './objects.ts'
import { tablesTopic } from './tables.ts'
import { trainingJobsTopic } from './training-jobs.ts'
import { usageTopic } from './usage.ts'

export const topics = {
  calls: callsTopic,
  objects: objectsTopic,
  object_labels: objectLabelsTopic,
  files: filesTopic,
  tables: tablesTopic,
  feedback: feedbackTopic,
  costs: costsTopic,
  annotation_queues: annotationQueuesTopic,
  training_jobs: trainingJobsTopic,
  evaluation_jobs: evaluationJobsTopic,
  logs: logsTopic,
  usage: usageTopic,
  audit: auditTopic,
  erasures: erasuresTopic,
}

/** @throws when there is no such topic */
export const topicNamed = (name: string): Topic => topicIn(topics, name)

export type TopicName = keyof typeof topics

export const topicNames = Object.keys(topics) as TopicName[]
