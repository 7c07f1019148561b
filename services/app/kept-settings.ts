// Settings of what is kept, and for how long.
import { integer, truth } from './setting-kinds.ts'

export const keptSettings = {
  logRetentionHours: integer(168, 'how long applied log segments are kept'),
  retentionDays: integer(0, 'default retention of calls in days; 0 = forever', 0, 36_500),
  purgeHour: integer(3, 'hour of the day (UTC) at which expired data is deleted', 0, 23),
  purgeDays: integer(35, 'days within which deleted rows are removed from files', 1, 3_650),
  eraseHours: integer(72, 'hours within which deleted data is permanently removed; 0 = immediately', 0, 720),
  receiptYears: integer(10, 'retention of erasure receipts in years', 1, 100),
  logsDays: integer(30, 'retention of OTLP log records in days; deleted by whole months', 1),
  auditDays: integer(400, 'retention of audit events in days; 0 = forever; deleted by whole months'),
  auditReads: truth(false, 'also record read requests as audit events'),
}
