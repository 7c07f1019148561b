// All commands, in the order in which help shows them.

import type { serverRoles } from '../app/roles.ts'
import { roles } from '../core/directory/roles.ts'
import type { Command } from './command.ts'

const rowsPerSecond = { 'rows-per-second': '<n>' }

const auditFilters = {
  scope: '<scope>',
  from: '<time>',
  to: '<time>',
  actor: '<user>',
  action: '<action>',
  target: '<id>',
}

const server = (name: (typeof serverRoles)[number], help: string): Command => ({
  name,
  help,
  run: async ({ config }) => (await import('./serve.ts')).serve(config, name),
})

export const commands: readonly Command[] = [
  server('serve', 'all roles in one process (npm start)'),
  server('ingest', 'accepts writes; for several processes with a Kafka log and a ClickHouse server'),
  server('worker', 'applies the log to the tables'),
  server('query', 'answers reads'),
  {
    name: 'config',
    help: 'all settings with values and descriptions',
    run: async ({ config }) => (await import('./config.ts')).showConfig(config),
  },
  {
    name: 'keys list',
    help: 'lists API keys: IDs, users, actions and scopes',
    run: async ({ config }) => (await import('./keys.ts')).listKeys(config),
  },
  {
    name: 'keys create',
    words: '<user> [role] [entity-or-project ...]',
    flags: { actions: '<action,...>', days: '<n>', name: '<text>', limits: '<name=n,...>' },
    help: `creates an API key, shown once; role: ${roles.join(', ')} (default writer); --actions limits it to these actions, --days sets when it expires`,
    run: async ({ config, words, flag }) => (await import('./keys.ts')).printNewKey(config, words, flag),
  },
  {
    name: 'keys rotate',
    words: '<id>',
    flags: { 'overlap-hours': '<n>' },
    help: 'creates a new key with the same permissions, shown once; the old key works for another 24 hours (0 to 168)',
    run: async ({ config, words: [id = ''], flag }) =>
      (await import('./keys.ts')).printRotatedKey(config, id, flag('overlap-hours')),
  },
  {
    name: 'keys limits',
    words: '<id> [name=n ...]',
    help: 'sets limits of a key, 0 = no limit; without limits, shows the current ones',
    run: async ({ config, words }) => (await import('./limits.ts')).setKeyLimits(config, words),
  },
  {
    name: 'keys revoke',
    words: '<id>',
    help: 'revokes a key immediately',
    run: async ({ config, words: [id = ''] }) => (await import('./keys.ts')).revokeKey(config, id),
  },
  {
    name: 'users list',
    help: 'lists users, whether they are active, and their roles',
    run: async ({ config }) => (await import('./users.ts')).listUsers(config),
  },
  {
    name: 'users add',
    words: '<user>',
    flags: { service: '' },
    help: 'adds a person, or with --service a program',
    run: async ({ config, words: [user = ''], flag }) =>
      (await import('./users.ts')).addUser(config, user, flag('service') === 'true'),
  },
  {
    name: 'users erase',
    words: '<user>',
    help: 'ends all keys, sessions and roles and deletes name and email; the ID is kept',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).erase(config, user),
  },
  {
    name: 'users off',
    words: '<user>',
    help: 'deactivates a user: keys and sessions stop working',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).turnUser(config, user, true),
  },
  {
    name: 'users on',
    words: '<user>',
    help: 'activates a user again',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).turnUser(config, user, false),
  },
  {
    name: 'grants set',
    words: '<user> <scope> <role>',
    help: 'sets the role of a user on *, an entity or a project; none removes it. All keys of the user change immediately',
    run: async ({ config, words }) => (await import('./users.ts')).grantRole(config, words),
  },
  {
    name: 'projects list',
    words: '[part-of-name]',
    help: 'lists projects with calls or objects',
    run: async ({ config, words: [search = ''] }) => (await import('./projects.ts')).printProjects(config, search),
  },
  {
    name: 'projects show',
    words: '<project>',
    help: 'shows retention, limits and masking rules of a project',
    run: async ({ config, words: [project = ''] }) => (await import('./projects.ts')).showProject(config, project),
  },
  {
    name: 'projects set',
    words: '<project> <name=n ...>',
    help: 'sets retention in days of calls, payloads, files, statistics and log records (calls_days=30; none = forever), and limits',
    run: async ({ config, words }) => (await import('./projects.ts')).setProject(config, words),
  },
  {
    name: 'projects remove',
    words: '<project>',
    flags: { confirm: '<project>' },
    help: 'permanently closes a project and erases all of its data',
    run: async ({ config, words: [project = ''], flag }) =>
      (await import('./projects.ts')).removeProject(config, project, flag('confirm')),
  },
  {
    name: 'limits list',
    help: 'lists limits and quotas of entities, projects and keys',
    run: async ({ config }) => (await import('./limits.ts')).listLimits(config),
  },
  {
    name: 'limits set',
    words: '<entity-or-project> <name=n ...>',
    help: 'sets limits and quotas; 0 = no limit. For names see docs/access.md',
    run: async ({ config, words }) => (await import('./limits.ts')).setLimits(config, words),
  },
  {
    name: 'secrets list',
    help: 'lists names, versions and authors of secrets, never their values',
    run: async ({ config }) => (await import('./secrets.ts')).listSecrets(config),
  },
  {
    name: 'secrets set',
    words: '<entity-or-project> <name> [address ...]',
    help: 'sets a secret for inference; the value is read from standard input. Addresses limit where it may be sent',
    run: async ({ config, words }) => (await import('./secrets.ts')).setSecret(config, words),
  },
  {
    name: 'secrets remove',
    words: '<entity-or-project> <name>',
    help: 'removes a secret',
    run: async ({ config, words }) => (await import('./secrets.ts')).removeSecret(config, words),
  },
  {
    name: 'secrets rotate',
    help: 'encrypts all secrets again with the current master key; then CALLHOUSE_MASTER_KEYS_OLD can be removed',
    run: async ({ config }) => (await import('./secrets.ts')).rotateSecrets(config),
  },
  {
    name: 'directory export',
    words: '<file>',
    help: 'exports users, grants, keys (without their texts), settings and rules to a new file',
    run: async ({ config, words: [file = ''] }) => (await import('./directory.ts')).exportDirectory(config, file),
  },
  {
    name: 'directory import',
    words: '<file>',
    help: 'adds and replaces the entries of such a file; revoked keys stay revoked',
    run: async ({ config, words: [file = ''] }) => (await import('./directory.ts')).importDirectory(config, file),
  },
  {
    name: 'audit list',
    flags: { ...auditFilters, limit: '<n>' },
    help: 'lists audit events; an action can be a prefix, such as key.*',
    run: async ({ config, flag }) => (await import('./audit.ts')).listAudit(config, flag),
  },
  {
    name: 'audit export',
    words: '<file>',
    flags: auditFilters,
    help: 'exports all audit events to a new file',
    run: async ({ config, words: [file = ''], flag }) => (await import('./audit.ts')).exportAudit(config, file, flag),
  },
  {
    name: 'audit verify',
    flags: { anchor: '<hash>' },
    help: 'verifies that no audit event was changed, added or removed; --anchor: the hash of a logged checkpoint that must be present',
    run: async ({ config, flag }) => (await import('./audit.ts')).verifyAudit(config, flag),
  },
  {
    name: 'erase',
    words: '<project>',
    flags: { calls: '<id,...>', traces: '<id,...>', threads: '<id,...>', users: '<id,...>', reason: '<text>' },
    help: 'permanently deletes calls with their descendants and all data about them',
    run: async ({ config, words: [project = ''], flag }) =>
      (await import('./erase.ts')).eraseCalls(config, project, flag),
  },
  {
    name: 'erasures list',
    words: '[project]',
    help: 'lists erasures and their progress',
    run: async ({ config, words: [project = ''] }) => (await import('./erasures.ts')).listErasures(config, project),
  },
  {
    name: 'erasures show',
    words: '<id>',
    help: 'shows an erasure, and its receipt once it is done',
    run: async ({ config, words: [id = ''] }) => (await import('./erasures.ts')).showErasure(config, id),
  },
  {
    name: 'erasures export',
    words: '<file>',
    help: 'exports all deleted calls and removed projects to a new file for restore --erasures; keep the latest one apart from the backups',
    run: async ({ config, words: [file = ''] }) => (await import('./erasures.ts')).exportErased(config, file),
  },
  {
    name: 'holds list',
    words: '[project]',
    help: 'lists legal holds: data under a hold is never deleted',
    run: async ({ config, words: [project = ''] }) => (await import('./holds.ts')).listHolds(config, project),
  },
  {
    name: 'holds add',
    words: '<project>',
    flags: { calls: '<id,...>', traces: '<id,...>', threads: '<id,...>', reason: '<text>', until: '<time>' },
    help: 'creates a legal hold on calls, traces or threads, or on the whole project',
    run: async ({ config, words: [project = ''], flag }) => (await import('./holds.ts')).addHold(config, project, flag),
  },
  {
    name: 'holds release',
    words: '<id>',
    help: 'releases a legal hold; waiting erasures and retention continue',
    run: async ({ config, words: [id = ''] }) => (await import('./holds.ts')).releaseHold(config, id),
  },
  {
    name: 'doctor',
    flags: { json: '' },
    help: 'checks this machine, its settings and its engines',
    run: async ({ config, flag }) => (await import('./doctor.ts')).examine(config, flag('json') === 'true'),
  },
  {
    name: 'deadletters list',
    help: 'lists dead letters: rows that the database rejected',
    run: async ({ config }) => (await import('./dead-letters.ts')).deadLetters(config, 'list', []),
  },
  {
    name: 'deadletters show',
    words: '<id>',
    help: 'shows a dead letter with its reason',
    run: async ({ config, words }) => (await import('./dead-letters.ts')).deadLetters(config, 'show', words),
  },
  {
    name: 'deadletters replay',
    words: '<id or all>',
    help: 'retries dead letters: writes them to the log again',
    run: async ({ config, words }) => (await import('./dead-letters.ts')).deadLetters(config, 'replay', words),
  },
  {
    name: 'explain-cost',
    words: '<call id> [project]',
    flags: { json: '' },
    help: 'explains the cost of a call: usage, prices and calculation',
    run: async ({ config, words, flag }) =>
      (await import('./explain-cost.ts')).explainCost(config, words, flag('json') === 'true'),
  },
  {
    name: 'rebuild',
    words: '[table]',
    flags: rowsPerSecond,
    help: 'rebuilds a table while the server runs, and resumes after an interruption; without a table, lists the tables that can be rebuilt',
    run: async ({ config, words: [table], flag }) =>
      (await import('./rebuild.ts')).rebuild(config, table, flag('rows-per-second')),
  },
  {
    name: 'rebuild abandon',
    help: 'cancels an unfinished rebuild and keeps the old table',
    run: async ({ config }) => (await import('./rebuild.ts')).abandonRebuild(config),
  },
  {
    name: 'replay',
    flags: { from: '<position>', ...rowsPerSecond },
    help: 'applies retained records again; a position is calls=12, calls.2=12 or 12',
    run: async ({ config, flag }) =>
      (await import('./rebuild.ts')).replay(config, flag('from'), flag('rows-per-second')),
  },
  {
    name: 'export',
    words: '<folder>',
    flags: { project: '<entity/project>' },
    help: 'exports everything, or one project, as files for other programs',
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./transfer.ts')).transfer(config, 'export', folder, flag('project')),
  },
  {
    name: 'import',
    words: '<folder>',
    help: 'verifies an export and imports it; can be repeated',
    run: async ({ config, words: [folder = ''] }) => (await import('./transfer.ts')).transfer(config, 'import', folder),
  },
  {
    name: 'backup',
    words: '<folder>',
    flags: { to: '<destination>', 'with-master-key': '' },
    help: "backs up the data folder while the server runs; with Kafka and a ClickHouse server, the ClickHouse server writes the backup, for instance to \"Disk('backups', '2026-01-31')\", and the folder gets the manifest. --with-master-key: include the key that decrypts the secrets (one machine only)",
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./backup.ts')).backup(config, folder, flag('to'), flag('with-master-key') === 'true'),
  },
  {
    name: 'restore',
    words: '<folder>',
    flags: { from: '<destination>', erasures: '<file or none>' },
    help: 'verifies a backup and restores it to a new data folder, or to the empty database of a ClickHouse server; --erasures: a file of erasures export, so that data erased since the backup stays erased',
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./backup.ts')).restoreBackup(config, folder, flag('from'), flag('erasures')),
  },
]
