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
  server('serve', 'runs every role in one process (npm start)'),
  server('ingest', 'runs the role that takes writes, beside others that share a Kafka log and a ClickHouse server'),
  server('worker', 'runs the role that applies the log'),
  server('query', 'runs the role that answers reads'),
  {
    name: 'config',
    help: 'prints every setting, its value and its meaning',
    run: async ({ config }) => (await import('./config.ts')).showConfig(config),
  },
  {
    name: 'keys list',
    help: 'lists ids, users, actions and scopes of the API keys',
    run: async ({ config }) => (await import('./keys.ts')).listKeys(config),
  },
  {
    name: 'keys create',
    words: '<user> [role] [entity-or-project ...]',
    flags: { actions: '<action,...>', days: '<n>', name: '<text>', limits: '<name=n,...>' },
    help: `creates a key and shows it once; role: ${roles.join(', ')} (default writer), limited to the named actions; --days: it expires`,
    run: async ({ config, words, flag }) => (await import('./keys.ts')).printNewKey(config, words, flag),
  },
  {
    name: 'keys rotate',
    words: '<id>',
    flags: { 'overlap-hours': '<n>' },
    help: 'creates a successor and shows it once; the old key works for 24 hours more (0 to 168)',
    run: async ({ config, words: [id = ''], flag }) =>
      (await import('./keys.ts')).printRotatedKey(config, id, flag('overlap-hours')),
  },
  {
    name: 'keys limits',
    words: '<id> [name=n ...]',
    help: 'sets limits of a key and leaves the others, 0 = no limit; without any it shows them',
    run: async ({ config, words }) => (await import('./limits.ts')).setKeyLimits(config, words),
  },
  {
    name: 'keys revoke',
    words: '<id>',
    help: 'revokes a key',
    run: async ({ config, words: [id = ''] }) => (await import('./keys.ts')).revokeKey(config, id),
  },
  {
    name: 'users list',
    help: 'lists users, whether they are off, and their roles',
    run: async ({ config }) => (await import('./users.ts')).listUsers(config),
  },
  {
    name: 'users add',
    words: '<user>',
    flags: { service: '' },
    help: 'creates a person, or a service: a program that has keys',
    run: async ({ config, words: [user = ''], flag }) =>
      (await import('./users.ts')).addUser(config, user, flag('service') === 'true'),
  },
  {
    name: 'users erase',
    words: '<user>',
    help: 'ends keys, sessions and roles of a user, and forgets name and email; the id stays',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).erase(config, user),
  },
  {
    name: 'users off',
    words: '<user>',
    help: 'disables all keys and sessions of a user',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).turnUser(config, user, true),
  },
  {
    name: 'users on',
    words: '<user>',
    help: 'enables them again',
    run: async ({ config, words: [user = ''] }) => (await import('./users.ts')).turnUser(config, user, false),
  },
  {
    name: 'grants set',
    words: '<user> <scope> <role>',
    help: 'sets the role of a user on *, an entity or a project; none removes it. Every key of the user follows at once',
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
    help: 'shows retention, limits and masking rules',
    run: async ({ config, words: [project = ''] }) => (await import('./projects.ts')).showProject(config, project),
  },
  {
    name: 'projects set',
    words: '<project> <name=n ...>',
    help: 'sets days of retention of calls, payloads, files, statistics and log records (calls_days=30; none = forever), and limits',
    run: async ({ config, words }) => (await import('./projects.ts')).setProject(config, words),
  },
  {
    name: 'projects remove',
    words: '<project>',
    flags: { confirm: '<project>' },
    help: 'closes a project for good and erases its data',
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
    help: 'sets limits; 0 = no limit. docs/access.md has the names',
    run: async ({ config, words }) => (await import('./limits.ts')).setLimits(config, words),
  },
  {
    name: 'secrets list',
    help: 'lists names, versions and owners of secrets of entities and projects, never values',
    run: async ({ config }) => (await import('./secrets.ts')).listSecrets(config),
  },
  {
    name: 'secrets set',
    words: '<entity-or-project> <name> [address ...]',
    help: 'stores a secret for inference, read from standard input, and the addresses that it may be sent to',
    run: async ({ config, words }) => (await import('./secrets.ts')).setSecret(config, words),
  },
  {
    name: 'secrets remove',
    words: '<entity-or-project> <name>',
    help: 'removes a secret: later requests lack it',
    run: async ({ config, words }) => (await import('./secrets.ts')).removeSecret(config, words),
  },
  {
    name: 'secrets rotate',
    help: 'seals all secrets with the new master key, so that those of CALLHOUSE_MASTER_KEYS_OLD may go',
    run: async ({ config }) => (await import('./secrets.ts')).rotateSecrets(config),
  },
  {
    name: 'directory export',
    words: '<file>',
    help: 'writes users, grants, keys (never their texts), settings and rules to a new file',
    run: async ({ config, words: [file = ''] }) => (await import('./directory.ts')).exportDirectory(config, file),
  },
  {
    name: 'directory import',
    words: '<file>',
    help: 'adds and replaces the items of such a file; revoked keys stay revoked',
    run: async ({ config, words: [file = ''] }) => (await import('./directory.ts')).importDirectory(config, file),
  },
  {
    name: 'audit list',
    flags: { ...auditFilters, limit: '<n>' },
    help: 'lists audit events: changes and refusals; an action may be a prefix, key.*',
    run: async ({ config, flag }) => (await import('./audit.ts')).listAudit(config, flag),
  },
  {
    name: 'audit export',
    words: '<file>',
    flags: auditFilters,
    help: 'writes all of them to a new file',
    run: async ({ config, words: [file = ''], flag }) => (await import('./audit.ts')).exportAudit(config, file, flag),
  },
  {
    name: 'audit verify',
    flags: { anchor: '<hash>' },
    help: 'checks that no event was changed, added or removed; --anchor: the hash of a checkpoint in the log lines',
    run: async ({ config, flag }) => (await import('./audit.ts')).verifyAudit(config, flag),
  },
  {
    name: 'erase',
    words: '<project>',
    flags: { calls: '<id,...>', traces: '<id,...>', threads: '<id,...>', users: '<id,...>', reason: '<text>' },
    help: 'deletes these calls with their descendants, and removes all data about them for good',
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
    help: 'writes all deleted calls and removed projects to a new file, for restore --erasures: keep the latest apart from the backups',
    run: async ({ config, words: [file = ''] }) => (await import('./erasures.ts')).exportErased(config, file),
  },
  {
    name: 'holds list',
    words: '[project]',
    help: 'lists legal holds: data that nothing removes',
    run: async ({ config, words: [project = ''] }) => (await import('./holds.ts')).listHolds(config, project),
  },
  {
    name: 'holds add',
    words: '<project>',
    flags: { calls: '<id,...>', traces: '<id,...>', threads: '<id,...>', reason: '<text>', until: '<time>' },
    help: 'holds calls, traces or threads of a project, all of it when none are named',
    run: async ({ config, words: [project = ''], flag }) => (await import('./holds.ts')).addHold(config, project, flag),
  },
  {
    name: 'holds release',
    words: '<id>',
    help: 'ends a hold; erasures and retention that waited for it go on',
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
    help: 'lists rows that the store refused',
    run: async ({ config }) => (await import('./dead-letters.ts')).deadLetters(config, 'list', []),
  },
  {
    name: 'deadletters show',
    words: '<id>',
    help: 'shows one of them, with its reason',
    run: async ({ config, words }) => (await import('./dead-letters.ts')).deadLetters(config, 'show', words),
  },
  {
    name: 'deadletters replay',
    words: '<id or all>',
    help: 'writes them into the log again',
    run: async ({ config, words }) => (await import('./dead-letters.ts')).deadLetters(config, 'replay', words),
  },
  {
    name: 'explain-cost',
    words: '<call id> [project]',
    flags: { json: '' },
    help: 'explains the cost of a call: usage, price, arithmetic',
    run: async ({ config, words, flag }) =>
      (await import('./explain-cost.ts')).explainCost(config, words, flag('json') === 'true'),
  },
  {
    name: 'rebuild',
    words: '[table]',
    flags: rowsPerSecond,
    help: 'rebuilds a table while everything goes on, and continues after a kill; without a table it lists them',
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
    help: 'applies kept records again; a position is calls=12, calls.2=12 or 12',
    run: async ({ config, flag }) =>
      (await import('./rebuild.ts')).replay(config, flag('from'), flag('rows-per-second')),
  },
  {
    name: 'export',
    words: '<folder>',
    flags: { project: '<entity/project>' },
    help: 'writes everything, or one project, as files that other programs read',
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./transfer.ts')).transfer(config, 'export', folder, flag('project')),
  },
  {
    name: 'import',
    words: '<folder>',
    help: 'checks an export and writes it into this installation; may be repeated',
    run: async ({ config, words: [folder = ''] }) => (await import('./transfer.ts')).transfer(config, 'import', folder),
  },
  {
    name: 'backup',
    words: '<folder>',
    flags: { to: '<destination>', 'with-master-key': '' },
    help: "copies the data folder while the server goes on; with Kafka and a ClickHouse server the server writes it, for instance to \"Disk('backups', '2026-01-31')\", and the folder gets its manifest. --with-master-key: on one machine, also the key of the secrets in it",
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./backup.ts')).backup(config, folder, flag('to'), flag('with-master-key') === 'true'),
  },
  {
    name: 'restore',
    words: '<folder>',
    flags: { from: '<destination>', erasures: '<file or none>' },
    help: 'checks a backup and makes a data folder of it, or fills the empty database of a ClickHouse server; --erasures: a file of erasures export, so that erased data does not come back',
    run: async ({ config, words: [folder = ''], flag }) =>
      (await import('./backup.ts')).restoreBackup(config, folder, flag('from'), flag('erasures')),
  },
]
