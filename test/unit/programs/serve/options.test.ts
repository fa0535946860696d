import { expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/index.js'
import { table } from '../../../../src/options/table.js'
import { checkServeOptions } from '../../../../src/programs/serve/check-serve-options.js'
import { ofOneLoad } from '../../../../src/programs/serve/serve-options.js'

const good = {
  target: { url: 'https://c.example:9243' },
  index: 'events',
  stateDir: '/state',
  token: '0123456789abcdef',
}

function problem(more: object): string {
  try {
    checkServeOptions({ ...good, ...more })
    return 'none'
  } catch (error) {
    if (isSluiceError(error) && error.code === 'OPTION_INVALID') return error.message
    throw error
  }
}

test.each([
  [undefined, { host: '127.0.0.1', port: 8080 }],
  ['8081', { host: '127.0.0.1', port: 8081 }],
  ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['my-host.example:0', { host: 'my-host.example', port: 0 }],
])('%s is an address to listen on', (listen, address) => {
  expect(checkServeOptions({ ...good, listen })).toEqual(address)
})

test.each(['here', ':8080', '1.2.3.4', '1.2.3.4:99999', 'http://x:80', '::1:8080'])('%s is none', listen => {
  expect(problem({ listen })).toMatch(/listen/)
})

test('needs a token, but for loopback addresses where none is wanted', () => {
  expect(problem({ token: undefined })).toMatch(/token: a token is required/)
  expect(problem({ token: 'short' })).toMatch(/16 characters/)
  expect(problem({ token: 'with a blank in the middle' })).toMatch(/no spaces/)
  expect(problem({ token: false })).toBe('none')
  expect(problem({ token: false, listen: 'localhost:8080' })).toBe('none')
  expect(problem({ token: false, listen: '[::1]:8080' })).toBe('none')
  expect(problem({ token: false, listen: '0.0.0.0:8080' })).toMatch(/other machines can reach/)
  expect(problem({ token: false, listen: '[::]:8080' })).toMatch(/other machines can reach/)
})

test.each([
  [{ path: 'events' }, /path: is not a path/],
  [{ path: '/a?b' }, /path: is not a path/],
  [{ path: '/health' }, /path: is the path of the health report/],
  [{ ids: 'cluster' }, /ids: cannot be 'cluster'/],
  [{ stateDir: undefined }, /stateDir: is needed/],
  [{ maxBody: 10 }, /maxBody/],
  [{ spoolLimit: 10 }, /spoolLimit/],
  [{ runId: 'mine' }, /runId: is not an option of sluice serve/],
  [{ maxRejected: 3 }, /maxRejected/],
  [{ tls: { cert: 'PEM' } }, /tls: needs both/],
  [{ tls: true }, /tls: is a boolean/],
  [{ acceptAnyway: 'yes' }, /acceptAnyway/],
])('%j is refused', (more, told) => {
  expect(problem(more)).toMatch(told)
})

test('an option of a load is one of the command `sluice serve`, or the library refuses it for `serve`', () => {
  /** Fields of the library that hold several options of the table. */
  const fieldOf = (name: string) => {
    if (['set', 'drop', 'keep', 'rename'].includes(name)) return 'edits'
    if (table[name as keyof typeof table].group === 'CSV') return 'csv'
    if (['query', 'fields', 'displayValue', 'pageSize'].includes(name)) return 'table'
    if (name.startsWith('servicenow')) return 'servicenow'
    if (name.startsWith('source')) return 'remote'
    if (name.startsWith('from')) return 'from'
    return name
  }
  const taken = (command: 'ingest' | 'serve') =>
    Object.entries(table)
      .filter(([, row]) => row.as !== false && row.commands.includes(command))
      .map(([name]) => fieldOf(name))
  const served = new Set(taken('serve'))
  const others = taken('ingest').filter(name => !served.has(name))
  // Only the command reads it: a file whose token it renews.
  const ofTheCommand = ['tokenFile']
  const ofTheLibrary = ['source', 'stdin', 'startedAt']
  expect([...ofOneLoad].toSorted()).toEqual(
    [...new Set([...others.filter(name => !ofTheCommand.includes(name)), ...ofTheLibrary])].toSorted(),
  )
})
