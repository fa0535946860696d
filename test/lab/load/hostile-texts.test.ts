// @module-tag search
/** Hostile texts in every place that others choose: whatever the command, none acts on the terminal or forges a line. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { optionsOf } from '../../../src/options/describe-option.js'
import { optionCommands } from '../../../src/options/option.js'
import { actsIn, hostile, hostileHeader, planted } from '../../support/facts/hostile.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'
import { inProcess, type Printed } from '../../support/command/in-process.js'
import { type Relay, relayTo } from '../../support/servers/answer-relay.js'

let lab: Lab
let cluster: Relay
let instance: Relay
let admin: Relay
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', 3)
  const [from] = lab.line.staticIps
  cluster = await relayTo(lab.line.cluster.httpUrl, from)
  instance = await relayTo(lab.line.servicenow.httpUrl, from)
  admin = await relayTo(lab.line.admin.url, '127.0.0.1')
  folder = await mkdtemp(join(tmpdir(), 'hostile-'))
  const { STATIC_PROXY_URL: _, ...rest } = lab.env
  env = {
    ...rest,
    ELASTICSEARCH_URL: cluster.url,
    SERVICENOW_INSTANCE_URL: instance.url,
    SLUICE_ADMIN_URL: admin.url,
    SLUICE_MAX_ELAPSED: '300ms',
    SLUICE_TIMEOUT: '5s',
  }
})
afterAll(async () => {
  for (const relay of [cluster, instance, admin]) await relay[Symbol.asyncDispose]()
  await lab.close()
  await rm(folder, { recursive: true })
})

const harmless = (printed: Printed) => {
  expect(actsIn(withoutOurs(printed.stdout + printed.stderr))).toEqual([])
  expect(printed.code).not.toBe(70)
}

/** Our own line at the bottom of a terminal. */
function withoutOurs(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  return text.replaceAll(/\r\u001b\[K(?:[\w ·,.:/()%-]|\u001b\[\d\dm)*/g, '')
}

type Run = (...args: string[]) => Promise<Printed>

/** Commands that meet every kind of answer: in each group one after another, as a person would type them. */
const stories: readonly ((run: Run, index: string) => Promise<unknown>)[] = [
  async (run, index) => {
    const dead = join(folder, `${index}.dead.ndjson`)
    const state = ['--state-dir', join(folder, 'state')]
    const into = ['--index', index, ...state]
    await run('ingest', await inputOf(index), ...into, '--dead-letters', dead, '--run-id', index)
    await run('runs', ...state)
    await run('runs', index, ...state)
    await run('replay', dead, ...into, '--dead-letters', `${dead}.2`)
    await run('verify', index, ...state)
    await run('undo', index, '--yes', ...state)
  },
  async (run, index) => {
    const dead = ['--dead-letters', join(folder, `${index}.swap.ndjson`)]
    const into = ['--swap-alias', `${index}-alias`, '--state-dir', join(folder, 'swaps'), '--max-rejected', '9']
    for (const more of ['', '-again']) await run('ingest', await inputOf(`${index}${more}`), ...into, ...dead)
    await run('rollback', `${index}-alias`)
  },
  async (run, index) => {
    await run('doctor', '--index', index)
    await run('doctor', 'servicenow:incident')
  },
  async (run, index) => {
    const into = ['--index', `${index}-rows`, '--state-dir', join(folder, 'state')]
    await run('ingest', 'servicenow:incident', ...into)
    await run('ingest', 'servicenow:incident', ...into, '--deletions', 'reconcile')
    await run('pull', 'servicenow:incident')
    await run('ingest', 'no-such-file', ...into, '--on-failure', 'incident', '--incident-fields', 'category=a')
    await run('ingest', await inputOf(`${index}-alarm`), ...into, '--on-failure', 'incident', '--max-rejected', '9')
  },
  async run => {
    await run('filter', 'show')
    await run('filter', 'create', '--yes')
    await run('filter', 'attach', '--yes')
  },
]

async function inputOf(name: string): Promise<string> {
  const file = join(folder, `${name}${hostile.replaceAll('/', '|')}.ndjson`)
  await writeFile(file, '{"n":1}\n{"n":"no number"}\n{"n":{"a":1}}\nbroken\n')
  return file
}

async function tell(story: (typeof stories)[number], index: string, isTTY = false): Promise<void> {
  await story(async (...args) => {
    const printed = await inProcess(args, env, { isTTY })
    const acting = actsIn(withoutOurs(printed.stdout + printed.stderr))
    const isBug = printed.code === 70 ? printed.stderr : ''
    expect({ args, acting, isBug }).toEqual({ args, acting: [], isBug: '' })
    return printed
  }, index)
}

async function tellAll(index: string, isTTY = false): Promise<void> {
  for (const story of stories) await tell(story, index, isTTY)
}

const relays = () => [cluster, instance, admin]

test('in answers of the cluster, of the instance and of the administration', async () => {
  for (const relay of relays()) relay.alter = json => planted(json)
  await tellAll('planted', true)
  // So that a load gets further: only texts that Sluice does not compare.
  const compared = [
    'result',
    '_index',
    '_id',
    'type',
    'id',
    'number',
    'sys_id',
    'source',
    'sys_updated_on',
    'sys_created_on',
    'build_flavor',
    'access_token',
    'token_type',
    'refresh_token',
    'correlation_id',
    'value',
    'state',
  ]
  for (const relay of relays()) relay.alter = json => planted(json, compared)
  await tellAll('partly')
  for (const relay of relays()) relay.alter = json => json
})

/** Values that no answer should hold at that place. */
const strange: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  0.5,
  '',
  'text',
  '\ud800',
  [],
  [null],
  {},
  { a: { b: [] } },
  [[]],
  ['x'],
  [1],
  { type: 5, reason: {} },
]

/** Replaces one value somewhere in an answer. */
function withStrange(json: unknown, random: Seeded): unknown {
  if (typeof json !== 'object' || json === null || random.chance(0.15))
    return random.chance(0.1) ? deep : random.pick(strange)
  const names = Object.keys(json)
  if (names.length === 0) return random.pick(strange)
  const chosen = random.pick(names)
  const changed = Object.entries(json).map(([name, value]): [string, unknown] => [
    name,
    name === chosen ? withStrange(value, random) : value,
  ])
  return Array.isArray(json) ? changed.map(([, value]) => value) : Object.fromEntries(changed)
}

const deep: unknown = JSON.parse('[{"a":'.repeat(20_000) + '1' + '}]'.repeat(20_000))

test('an answer with a value of another type is no bug', async () => {
  for (let round = 0; round < 1500; round += 1) {
    const random = seeded(round)
    for (const relay of relays()) relay.alter = json => (random.chance(0.3) ? withStrange(json, random) : json)
    await tell(random.pick(stories), `strange-${round}`).catch((error: unknown) => {
      throw new Error(`round ${round}`, { cause: error })
    })
  }
  for (const relay of relays()) relay.alter = json => json
})

test('in reason phrases and headers', async () => {
  for (const relay of relays()) relay.said = hostileHeader
  await tellAll('headers')
  for (const relay of relays()) relay.said = undefined
})

test('in what a proxy says', async () => {
  let status = 403
  const body = `<h1>${hostile}</h1>`
  const headers = [
    'Server',
    'Via',
    'X-Squid-Error',
    'Proxy-Authenticate',
    'Location',
    'Retry-After',
    'Proxy-Status',
    'Content-Type',
  ]
  const proxy = createServer(socket => {
    socket.on('error', () => undefined)
    const lines = headers.map(
      name => `${name}: ${name === 'Location' ? 'http://x/' : ''}${hostileHeader}; error=${hostileHeader}\r\n`,
    )
    const said = `HTTP/1.1 ${status} ${hostileHeader}\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(said, 'latin1'), Buffer.from(body)])))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const port = (proxy.address() as AddressInfo).port
  for (status of [302, 400, 401, 402, 403, 407, 429, 500, 502, 503, 511]) {
    for (const url of ['https://es.example:9243', 'http://es.example:9200']) {
      const through = { ...env, STATIC_PROXY_URL: `http://user:pass@127.0.0.1:${port}`, ELASTICSEARCH_URL: url }
      harmless(
        await inProcess(
          ['ingest', join(folder, '*'), '--index', 'x', '--max-elapsed', '200ms', '--no-diagnosis'],
          through,
        ),
      )
      harmless(await inProcess(['doctor', '--max-elapsed', '200ms'], through))
    }
  }
  proxy.close()
})

describe.each(optionCommands)('in options of %s', command => {
  const rows = optionsOf(command).filter(({ label, flag }) => label !== undefined && flag !== undefined)
  test('of each', async () => {
    for (const {
      flag = '',
      label = '',
      env: [name = ''],
    } of rows) {
      const direct = { ELASTICSEARCH_URL: 'http://127.0.0.1:9', SERVICENOW_INSTANCE_URL: 'http://127.0.0.1:9' }
      const common = { SLUICE_MAX_ELAPSED: '1ms', SLUICE_DEAD_LETTERS: join(folder, 'none.ndjson'), ...direct }
      // Whatever becomes a file is made in the folder of this test.
      const value = /file|folder|path/.test(label) ? join(folder, hostile.replaceAll('/', '|')) : hostile
      for (const isTTY of [true, false]) {
        harmless(await inProcess([command, `${flag}=${value}`], common, { isTTY }))
        harmless(await inProcess([command, hostile, `${flag}=${value}1`], common, { isTTY }))
      }
      harmless(await inProcess([command, hostile], { ...common, [name]: value }))
    }
  })
})
