// Settings of what is kept, and for how long.
import { integer, truth } from './setting-kinds.ts'

export const keptSettings = {
  logRetentionHours: integer(168, 'how long the applied log is kept'),
  retentionDays: integer(0, 'days that calls are shown, for projects without a setting; 0 = forever', 0, 36_500),
  purgeHour: integer(3, 'hour of the day, UTC, from which expired data is removed', 0, 23),
  purgeDays: integer(35, 'days within which removed rows leave the files', 1, 3_650),
  eraseHours: integer(72, 'hours within which deleted data is removed for good; 0 = at once', 0, 720),
  receiptYears: integer(10, 'years that receipts of erasures are kept', 1, 100),
  logsDays: integer(
    30,
    'days that OTLP log records are kept; a month is removed as a whole, once all of it is older',
    1,
  ),
  auditDays: integer(
    400,
    'days that audit events are kept, 0 = forever; a month is removed as a whole, once all of it is older',
  ),
  auditReads: truth(false, 'record requests that only read as audit events too'),
}
