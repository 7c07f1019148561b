// The list of services of a process: the order of starts and stops, a start that fails, and commands by name.
import { expect, it } from 'vitest'
import { createServices, type Service } from '../../services/core/process/services.ts'

function listOfServices() {
  const done: string[] = []
  const logged: unknown[] = []
  const services = createServices({ warn: (...line: unknown[]) => void logged.push(line) })
  const service = (name: string, more: Partial<Service<string>> = {}): Service<string> => ({
    name,
    start() {
      done.push(`start ${name}`)
      return name
    },
    stop: (started) => void done.push(`stop ${started}`),
    ...more,
  })
  return { services, service, done, logged }
}

it('services start in order and stop in reverse order, each within its own time', async () => {
  const { services, service, done } = listOfServices()
  expect(await services.start(service('store', { stopMs: 60_000 }))).toBe('store')
  await services.start(service('log'))
  await services.start({ name: 'certificate', start: () => undefined, stop: () => void done.push('stop nothing') })
  await services.start({ name: 'settings', start: () => 'kept' })
  await services.start(service('http'))
  expect(services.stops().map(({ name, limitMs }) => [name, limitMs])).toEqual([
    ['http', 5_000],
    ['log', 5_000],
    ['store', 60_000],
  ])
  for (const { close } of services.stops()) await close()
  expect(done).toEqual(['start store', 'start log', 'start http', 'stop http', 'stop log', 'stop store'])
})

it('a start that fails is named, and what began is stopped past a stop that fails', async () => {
  const { services, service, done, logged } = listOfServices()
  await services.start(service('store'))
  const broken = () => {
    done.push('stop log')
    throw new Error('does not stop')
  }
  await services.start(service('log', { stop: broken }))
  const failure = new Error('port 6400 is in use')
  const failing = services.start(service('http', { start: () => Promise.reject(failure) }))
  await expect(failing).rejects.toBe(failure)
  expect(logged).toEqual([[{ service: 'http', reason: 'port 6400 is in use' }, 'not started']])
  await services.stopAll()
  expect(done).toEqual(['start store', 'start log', 'stop log', 'stop store'])
})

it('commands are found by their whole name, and an unknown one is refused', async () => {
  const { services, service } = listOfServices()
  const commands = (started: string) => ({ [`${started}.show`]: ([id]: string[]) => `${started} ${id}` })
  await services.start(service('deadletters', { commands }))
  await services.start(service('costs', { commands }))
  expect(await services.run({ command: 'deadletters.show', args: ['7'] })).toBe('deadletters 7')
  expect(await services.run({ command: 'costs.show', args: ['8'] })).toBe('costs 8')
  for (const command of ['costs', 'costs.', 'costs.show.all', 'toString', 'audit.show', ''])
    await expect(services.run({ command, args: ['9'] })).rejects.toThrow(`Unknown command ${command}`)
  await expect(services.start(service('costs', { commands }))).rejects.toThrow('has the command costs.show of another')
})
