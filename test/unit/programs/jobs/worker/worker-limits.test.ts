import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { JoinedDeadLetters } from '../../../../../src/programs/jobs/control/join-dead-letters.js'
import {
  checkFound,
  checkRange,
  lettersFolder,
  whyNotTaken,
} from '../../../../../src/programs/jobs/worker/worker-limits.js'

const limits = { inputs: ['s3://bucket/logs/*', '/data/in/*.ndjson'], indices: ['logs-*', 'orders'] }

test.each([
  [['s3://bucket/logs/2026/a.gz'], 'logs-2026'],
  [['/data/in/a.ndjson'], 'orders'],
  [['/data/in/deep/../a.ndjson', 's3://bucket/logs/*'], 'logs-'],
])('takes a job that is within its limits: %j into %s', (sources, index) => {
  expect(whyNotTaken(limits, { sources, index })).toBeUndefined()
})

test.each([
  [['s3://other/logs/a.gz'], 'logs-2026', 'input s3://other/logs/a.gz'],
  [['s3://bucket/logs/../secret/a.gz'], 'logs-2026', 'input'],
  [['/data/in/../../etc/passwd.ndjson'], 'orders', 'input'],
  [['/data/in/a.ndjson', '/etc/shadow'], 'orders', 'input /etc/shadow'],
  [['/data/in/a.ndjson'], 'orders2', 'index orders2'],
  [['/data/in/a.ndjson'], '.security', 'index .security'],
  [[`/data/in/${'x'.repeat(1000)}\u0007`], 'orders', 'input'],
])('leaves a job to others that is not: %j into %s', (sources, index, why) => {
  const said = whyNotTaken(limits, { sources, index })
  expect(said).toContain(why)
  expect(said?.length).toBeLessThan(200)
  expect(said).not.toContain('\u0007')
  const inputs = sources.map(name => ({ name }))
  expect(() => checkRange(limits, { inputs, index } as never)).toThrow('the range of the job')
})

const servers = { inputs: ['https://data.example/open/*', 'https://*.logs.example:443/*', 's3://logs-*/2026/*'] }

test.each([
  'https://data.example/open/a.ndjson',
  'https://DATA.example:443/open/a.ndjson',
  'https://eu.logs.example/a/b.ndjson',
  's3://logs-eu/2026/a.gz',
])('opens %s, which a pattern of its server names', name => {
  expect(() => checkFound(servers, name)).not.toThrow()
})

test.each([
  // The parser of URLs makes a step up of these.
  'https://data.example/open/%2e%2e/secret.ndjson',
  'https://data.example/open/.%2E/secret.ndjson',
  // Some servers make a step up of these.
  'https://data.example/open/..%2fsecret.ndjson',
  'https://data.example/open/..;/secret.ndjson',
  // These parts are not sent as a path.
  'https://data.example/secret.ndjson#/../open/a.ndjson',
  'https://data.example/secret.ndjson?x=/../open/a.ndjson',
  // The rest of the pattern stands in the path of another server.
  'https://evil.example/.logs.example/a.ndjson',
  'https://evil.example\\.logs.example/a.ndjson',
  'https://evil.example#.logs.example/a.ndjson',
  'https://eu.logs.example@evil.example/a.ndjson',
  's3://logs-eu/../secret/2026/a.gz',
  's3://logs-eu/secret/2026/a.gz',
  's3://logs-eu/2026/../../secret/a.gz',
])('does not open %s, which only looks as if a pattern of a server named it', name => {
  expect(() => checkFound(servers, name)).toThrow('not among --only-inputs')
  expect(() => checkRange(servers, { inputs: [{ name, identity: '' }], index: 'x' })).toThrow('the range of the job')
})

test.each([
  ['https://data.example', 'https://data.example/a', false],
  ['https://data.*', 'https://data.example/a', true],
  ['https://*', 'https://any.example/a', true],
  ['*', 'https://any.example/a', true],
  ['*', '/etc/passwd', true],
  ['s3://*/logs/*', 's3://a/b/logs/c', false],
])('pattern %s, object %s: %s', (pattern, name, fits) => {
  const check = () => checkFound({ inputs: [pattern] }, name)
  if (fits) expect(check).not.toThrow()
  else expect(check).toThrow()
})

test('a worker without limits takes all', () => {
  expect(whyNotTaken({}, { sources: ['/any'], index: 'any' })).toBeUndefined()
})

test('its folder for dead letters is its own, and no name leads out of it', () => {
  expect(lettersFolder({}, '/anywhere/dead-1')).toBe('/anywhere/dead-1')
  for (const folder of ['/anywhere/dead-1', 'dead-1', '/x/../../dead-1'])
    expect(lettersFolder({ letters: '/own' }, folder)).toBe('/own/dead-1')
  for (const folder of ['/', '..', '/a/..', ''])
    expect(lettersFolder({ letters: '/own' }, folder)).toBe('/own/dead-letters')
})

test('a file outside the folder of the job is not joined into its dead letters', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'letters-'))
  try {
    await mkdir(join(folder, 'job'))
    await writeFile(join(folder, 'job', '1.ndjson'), 'one\n')
    await writeFile(join(folder, 'secret'), 'secret\n')
    await using letters = new JoinedDeadLetters(join(folder, 'job'))
    await letters.add(join(folder, 'job', '1.ndjson'), 'here')
    await letters.add(join(folder, 'secret'), 'here')
    await letters.add(join(folder, 'job', '..', 'secret'), 'here')
    expect(await letters.end()).toEqual({ path: join(folder, 'job.ndjson'), elsewhere: { here: 2 } })
    expect(await readFile(join(folder, 'job.ndjson'), 'utf8')).toBe('one\n')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a link in the folder of the job is not read, and others cannot read what is joined', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'letters-'))
  try {
    await chmod(folder, 0o755)
    await mkdir(join(folder, 'job'))
    await writeFile(join(folder, 'secret'), 'secret\n')
    await symlink(join(folder, 'secret'), join(folder, 'job', '1.ndjson'))
    await writeFile(join(folder, 'job', '2.ndjson'), 'two\n')
    await using letters = new JoinedDeadLetters(join(folder, 'job'))
    for (const name of ['1', '2', 'none']) await letters.add(join(folder, 'job', `${name}.ndjson`), 'here')
    await letters.add(join(folder, 'job', '.'), 'here')
    expect(await letters.end()).toEqual({ path: join(folder, 'job.ndjson'), elsewhere: { here: 3 } })
    expect(await readFile(join(folder, 'job.ndjson'), 'utf8')).toBe('two\n')
    expect((await stat(join(folder, 'job.ndjson'))).mode & 0o777).toBe(0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('commands that wait for the same job join its dead letters at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'letters-'))
  try {
    await mkdir(join(folder, 'job'))
    const files = ['1', '2'].map(name => join(folder, 'job', `${name}.ndjson`))
    for (const file of files) await writeFile(file, `${file}\n`)
    await using left = new JoinedDeadLetters(join(folder, 'job'))
    await using one = new JoinedDeadLetters(join(folder, 'job'))
    await using other = new JoinedDeadLetters(join(folder, 'job'))
    for (const file of files) for (const letters of [one, other, left]) await letters.add(file, 'here')
    expect([await one.end(), await other.end()]).toMatchObject([{ elsewhere: {} }, { elsewhere: {} }])
    expect(await readFile(join(folder, 'job.ndjson'), 'utf8')).toBe(files.map(file => `${file}\n`).join(''))
    await left[Symbol.asyncDispose]()
    expect(await readdir(join(folder, 'job'))).toEqual(['1.ndjson', '2.ndjson'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('looks into no input that a pattern finds outside the limits, and fills no index that only the options name', () => {
  expect(() => checkFound(limits, '/data/in/a.ndjson')).not.toThrow()
  expect(() => checkFound(limits, '/etc/passwd')).toThrow('it finds /etc/passwd, which is not among --only-inputs')
  expect(() => checkFound({ ...limits, job: 'a' }, '/etc/passwd')).toThrow('which is not an input of this command')
  const job = { sources: ['/data/in/a.ndjson'], index: 'orders' }
  expect(whyNotTaken(limits, { ...job, settings: { index: 'orders' } })).toBeUndefined()
  expect(whyNotTaken(limits, { ...job, settings: { swapAlias: '.security' } })).toContain('index .security')
})

const reader = { inputs: ['elasticsearch:logs-*', 'elasticsearch:orders'], from: 'https://old.example:9200' }

test.each(['elasticsearch:logs-2026', 'elasticsearch:logs-*', 'elasticsearch:orders'])(
  'reads %s of the cluster that it may read',
  name => {
    const job = { sources: [name], index: 'orders', from: reader.from }
    expect(whyNotTaken(reader, job)).toBeUndefined()
    expect(whyNotTaken({ from: reader.from }, job)).toBeUndefined()
    expect(() => checkFound(reader, name)).not.toThrow()
  },
)

test.each([
  'elasticsearch:secret',
  'elasticsearch:*',
  'elasticsearch:orders-2',
  'elasticsearch:orders,secret',
  '/etc/passwd',
])('reads nothing else: %s', name => {
  expect(whyNotTaken(reader, { sources: [name], index: 'orders', from: reader.from })).toContain('--only-inputs')
  expect(() => checkFound(reader, name)).toThrow('which is not among --only-inputs')
  expect(() => checkRange(reader, { inputs: [{ name, identity: 'x' }], index: 'orders' })).toThrow(
    'the range of the job',
  )
})

test('sends its credentials to no cluster that only a job names', () => {
  const job = { sources: ['elasticsearch:orders'], index: 'orders', from: 'https://elsewhere.example' }
  expect(whyNotTaken(reader, job)).toBe('it reads https://elsewhere.example, which is not --from of this worker')
  expect(whyNotTaken({}, job)).toContain('not --from of this worker')
})
