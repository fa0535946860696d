// @module-tag long
/** The files in examples/: each is what its reader takes it for, and the command in it loads documents. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { explain, failureCodes } from '../../../src/base/failure/failure.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { built } from '../../support/build.js'
import { type Ended, type Folder, binary, folder, shell } from '../../support/command/sluice.js'

// Each test starts processes.
const root = fileURLToPath(new URL('../../..', import.meta.url))
const example = (path: string) => readFileSync(join(root, 'examples', path), 'utf8')

/** A load is given as long to finish what is under way. */
const GRACE_S = 25
/** Exit codes after which the same command would end in the same way: of failures that are final, of rejected documents, of an overlap. */
const inVain = [
  ...new Set([1, 6, ...failureCodes.map(explain).flatMap(({ exit, retry }) => (retry === 'no' ? [exit] : []))]),
].toSorted((one, other) => one - other)

let lab: Lab
let work: Folder
/** What stands in the examples, and where it is in the test. */
let places: Readonly<Record<string, string>>
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
  const bin = join(work.path, 'bin')
  for (const name of ['bin', 'orders', 'state', 'home', 'container']) mkdirSync(join(work.path, name))
  program('sluice', `exec ${process.execPath} ${binary} "$@"`)
  for (const [name, count] of [
    ['orders-1', 30],
    ['orders-2', 12],
  ] as const)
    writeFileSync(join(work.path, 'orders', `${name}.ndjson`), documents(count))
  const access = Object.entries(lab.env).map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(join(work.path, 'access.env'), access.join(''))
  places = {
    '/srv/orders': join(work.path, 'orders'),
    '/data': join(work.path, 'orders'),
    '/var/lib/sluice': join(work.path, 'state'),
    '/state': join(work.path, 'state'),
    '/etc/sluice/access.env': join(work.path, 'access.env'),
    '/usr/local/bin/sluice': join(bin, 'sluice'),
    '/usr/local/bin:': `${bin}:`,
    '/app': join(work.path, 'container'),
  }
})
afterEach(async () => {
  await work[Symbol.asyncDispose]()
  await lab.close()
})

/** A program that the shells of the test find. */
function program(name: string, script: string): void {
  writeFileSync(join(work.path, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

function documents(count: number): string {
  return Array.from({ length: count }, (_, n) => `{"order":${n},"total":${n * 10}}\n`).join('')
}

/** As the example says it, with paths of the test. */
function here(text: string): string {
  const names = Object.keys(places).toSorted((one, other) => other.length - one.length)
  const path = new RegExp(names.map(name => `(?<![\\w/])${name}`).join('|'), 'g')
  return text.replaceAll(path, name => places[name] ?? name)
}

async function run(line: string, env: Readonly<Record<string, string>>, cwd = work.path): Promise<Ended> {
  const PATH = `${join(work.path, 'bin')}:${process.env['PATH']}`
  return await shell(line, { cwd, env: { PATH, HOME: join(work.path, 'home'), XDG_STATE_HOME: '', ...env } })
}

function expectLoaded({ code, stderr }: Ended, count = 42): void {
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(lab.control.count('orders')).toBe(count)
}

/** Lines that are no comments, nor empty. */
function lines(text: string): string[] {
  return text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'))
}

const field = (from: number, to: number) => `(?:\\*|${number(from, to)}(?:-${number(from, to)})?)(?:/\\d+)?`
const number = (from: number, to: number) => `(?:${Array.from({ length: to - from + 1 }, (_, n) => to - n).join('|')})`
/** Minute, hour, day of the month, month, day of the week. */
const schedule = new RegExp(
  `^${(
    [
      [0, 59],
      [0, 23],
      [1, 31],
      [1, 12],
      [0, 7],
    ] as const
  )
    .map(([from, to]) => `${field(from, to)}(?:,${field(from, to)})*`)
    .join(' ')}$`,
)

test('schedules of cron are told from others', () => {
  for (const fine of ['15 * * * *', '*/5 0-6 1,15 12 7']) expect(fine).toMatch(schedule)
  for (const wrong of ['60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '* * * *', '* * * * * *'])
    expect(wrong).not.toMatch(schedule)
})

describe('cron', () => {
  /** What cron gives to the shell. */
  const unescaped = (command: string) => command.replaceAll('\\%', '%')

  /** Variables, then minute to day of the week, user, command. */
  const parts = () => {
    const all = lines(example('cron/sluice-orders'))
    const variables = all.filter(line => /^[A-Z_]+=\S+$/.test(line)).map(line => line.split('=') as [string, string])
    const jobs = all.filter(line => !/^[A-Z_]+=/.test(line))
    const [, when = '', user = '', command = ''] = /^((?:\S+ ){4}\S+) (\S+) (.+)$/.exec(jobs[0] ?? '') ?? []
    return { count: all.length, variables, jobs, when, user, command }
  }

  test('the file has variables and one line with six fields, whose command holds no bare percent sign', () => {
    const { count, variables, jobs, when, user, command } = parts()
    expect(jobs).toHaveLength(1)
    expect(variables.length + jobs.length).toBe(count)
    expect(when).toMatch(schedule)
    expect(user).toMatch(/^[a-z][\w-]*$/)
    // It would end the command there.
    expect(command).not.toMatch(/(?<!\\)%/)
    expect(example('cron/sluice-orders')).toMatch(/[^\n]\n$/)
  })

  test('the command loads, keeps the receipt, and prints nothing to be mailed', async () => {
    const { variables, command } = parts()
    const env = Object.fromEntries(variables.map(([name, value]) => [name, here(value)]))
    const ended = await run(`exec ${env['SHELL']} -c "$COMMAND"`, { ...env, COMMAND: unescaped(here(command)) })
    expectLoaded(ended)
    expect(ended).toMatchObject({ stdout: '', stderr: '' })
    const receipts = readFileSync(join(work.path, 'state', 'receipts.ndjson'), 'utf8')
    expect(JSON.parse(receipts)).toMatchObject({ status: 'finished', created: 42 })
  })

  test('the command prints what is to be mailed if documents are rejected', async () => {
    writeFileSync(join(work.path, 'orders', 'orders-3.ndjson'), '["order",3]\n')
    const { variables, command } = parts()
    const env = Object.fromEntries(variables.map(([name, value]) => [name, here(value)]))
    const asked = { ...env, COMMAND: unescaped(here(command)) }
    const { stdout } = await run(`exec ${env['SHELL']} -c "$COMMAND"`, asked)
    expect(stdout).toMatch(/^error: 1 of 43 [^]*\nsluice ended with exit code 1: see \S+receipts\.ndjson\n$/)
  })
})

describe('systemd', () => {
  interface Unit {
    readonly [section: string]: Readonly<Record<string, readonly string[]>>
  }
  const unit = (name: string): Unit => {
    const found: Record<string, Record<string, string[]>> = {}
    let section: Record<string, string[]> = {}
    for (const line of lines(example(`systemd/${name}`))) {
      const [, title] = /^\[(\w+)\]$/.exec(line) ?? []
      const [, key = '', value = ''] = /^(\w+)=(.+)$/.exec(line) ?? []
      if (title !== undefined) section = found[title] = {}
      else if (key === '') throw new Error(`neither section nor setting: ${line}`)
      else (section[key] ??= []).push(value)
    }
    return found
  }
  const numbers = (text = '') => text.split(' ').map(Number)

  test('service and timer have their sections, and the exit codes what the catalogue says of them', () => {
    const service = unit('sluice-orders.service')
    expect(Object.keys(service)).toEqual(['Unit', 'Service'])
    const { Service = {}, Unit = {} } = service
    expect(Service['Type']).toEqual(['oneshot'])
    expect(numbers(Service['RestartPreventExitStatus']?.[0])).toEqual(inVain)
    expect(Service['Restart']).toEqual(['on-failure'])
    expect(numbers(Service['SuccessExitStatus']?.[0])).toEqual([explain('RUN_INTERRUPTED').exit])
    expect(parseInt(Service['TimeoutStopSec']?.[0] ?? '', 10)).toBeGreaterThan(GRACE_S)
    expect(Unit['StartLimitBurst']).toHaveLength(1)
    const timer = unit('sluice-orders.timer')
    expect(Object.keys(timer)).toEqual(['Unit', 'Timer', 'Install'])
    expect(timer['Timer']?.['OnCalendar']).toHaveLength(1)
    expect(timer['Install']).toEqual({ WantedBy: ['timers.target'] })
  })

  /** What it says of units, line by line; of those of this machine it may say more. */
  const verify = (service: string) => {
    const units = { 'sluice-orders.service': service, 'sluice-orders.timer': example('systemd/sluice-orders.timer') }
    const paths = Object.entries(units).map(([name, text]) => {
      writeFileSync(join(work.path, name), here(text))
      return join(work.path, name)
    })
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    return (stderr ?? '').split('\n').filter(line => line.includes('sluice-orders'))
  }

  test('systemd itself finds nothing wrong', ({ skip }) => {
    const service = example('systemd/sluice-orders.service')
    const seen = verify(service.replace('RestartSec=', 'RestartSek='))
    if (seen.length === 0) skip('systemd-analyze is not installed, or verifies nothing here')
    expect(verify(service)).toEqual([])
  })

  test('the command loads', async () => {
    const { Service = {} } = unit('sluice-orders.service')
    const [command = ''] = Service['ExecStart'] ?? []
    const settings = Object.fromEntries(
      (Service['Environment'] ?? []).map(setting => here(setting).split('=') as [string, string]),
    )
    // Words and quotes are the shell's as well; what else it would do to them, it must not find.
    expect(command.replaceAll(/'[^']*'/g, '')).not.toMatch(/[$*?~"\\|&;<>()]/)
    expect(places[Service['EnvironmentFile']?.[0] ?? '']).toBe(join(work.path, 'access.env'))
    const cwd = here(Service['WorkingDirectory']?.[0] ?? '')
    expectLoaded(await run(`exec ${here(command)}`, { ...lab.env, ...settings }, cwd))
    expect(existsSync(join(work.path, 'state', 'runs'))).toBe(true)
  })
})

describe('Kubernetes', () => {
  interface Container {
    readonly name: string
    readonly image: string
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value: string }[]
    readonly workingDir: string
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  }
  interface CronJob {
    readonly spec: {
      readonly schedule: string
      readonly concurrencyPolicy: string
      readonly jobTemplate: {
        readonly spec: {
          readonly podFailurePolicy: {
            readonly rules: readonly {
              readonly action: string
              readonly onExitCodes?: {
                readonly containerName: string
                readonly operator: string
                readonly values: number[]
              }
            }[]
          }
          readonly template: {
            readonly spec: {
              readonly restartPolicy: string
              readonly terminationGracePeriodSeconds: number
              readonly hostname: string
              readonly containers: readonly Container[]
              readonly volumes: readonly {
                readonly name: string
                readonly persistentVolumeClaim: { readonly claimName: string }
              }[]
            }
          }
        }
      }
    }
  }
  interface Claim {
    readonly kind: string
    readonly metadata: { readonly name: string }
    readonly spec: { readonly accessModes: readonly string[] }
  }
  const manifests = () => {
    const all = parseAllDocuments(example('kubernetes/cronjob.yaml'))
    expect(all.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    const [job, claim] = all.map(one => one.toJS() as unknown)
    const { spec } = job as CronJob
    const pod = spec.jobTemplate.spec.template.spec
    const [container] = pod.containers
    if (container === undefined) throw new Error('no container')
    return { all, job, claim: claim as Claim, spec, pod, container }
  }

  test('the manifest is a CronJob and the claim of its state, and exit codes mean what the catalogue says', () => {
    const { all, job, claim, spec, pod, container } = manifests()
    expect(all).toHaveLength(2)
    expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'CronJob' })
    expect(spec.schedule).toMatch(schedule)
    expect(spec.concurrencyPolicy).toBe('Forbid')
    // What a policy for failed pods requires.
    expect(pod.restartPolicy).toBe('Never')
    const policies = spec.jobTemplate.spec.podFailurePolicy.rules.filter(({ onExitCodes }) => onExitCodes !== undefined)
    expect(policies).toMatchObject([
      { action: 'FailJob', onExitCodes: { containerName: container.name, operator: 'In', values: inVain } },
    ])
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(GRACE_S)
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name))
    expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim', metadata: { name: 'sluice-state' } })
    expect(pod.volumes[0]?.persistentVolumeClaim.claimName).toBe(claim.metadata.name)
    // A fixed name of the host is right only where there are no two pods of it at once.
    expect({ hostname: pod.hostname, modes: claim.spec.accessModes }).toEqual({
      hostname: 'sluice-orders',
      modes: ['ReadWriteOncePod'],
    })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(container.image).toBe(`sluice:${version}`)
  })

  test('the container’s arguments load', async () => {
    const { container } = manifests()
    const words = container.args.map(word => `'${here(word)}'`).join(' ')
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, here(value)]))
    const ended = await run(`exec sluice ${words}`, { ...lab.env, ...env }, here(container.workingDir))
    expectLoaded(ended)
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'finished', created: 42 })
    expect(existsSync(join(work.path, 'state', 'sluice', 'runs'))).toBe(true)
  })
})

describe('Procfile', () => {
  const type = /^([A-Za-z0-9_-]+):\s*(.+)$/

  test('the file has one process type, and no comment that could be taken for another', () => {
    const text = example('procfile/Procfile')
    expect(text.split('\n').filter(line => type.test(line))).toHaveLength(1)
    expect(lines(text)).toHaveLength(1)
  })

  test('the command loads, and started again without its disk doubles nothing', async () => {
    const [, name, command = ''] = type.exec(lines(example('procfile/Procfile'))[0] ?? '') ?? []
    expect(name).toBe('load')
    program('date', `[ "$*" = '-u +%F' ] && echo 2026-11-21`)
    for (const disk of ['one', 'two']) {
      const cwd = join(work.path, disk)
      mkdirSync(cwd)
      const script = `#!/bin/sh\n[ "$1" = 2026-11-21 ] && cat ${join(work.path, 'orders')}/*\n`
      writeFileSync(join(cwd, 'export-orders'), script, { mode: 0o755 })
      const ended = await run(command, { ...lab.env, HOME: cwd }, cwd)
      expectLoaded(ended)
      expect(JSON.parse(ended.stdout)).toMatchObject({
        run: 'orders-2026-11-21',
        created: disk === 'one' ? 42 : 0,
        duplicate: disk === 'one' ? 0 : 42,
      })
    }
  })
})

describe('Dockerfile', () => {
  interface Instruction {
    readonly name: string
    readonly rest: string
  }
  const text = example('docker/Dockerfile')
  const instructions = lines(text.replaceAll('\\\n', ' ')).map((line): Instruction => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    return { name, rest }
  })
  const of = (name: string) => instructions.filter(one => one.name === name).map(({ rest }) => rest)
  /** From the folder of the project, and from the stage that builds to the image. */
  const copies = of('COPY').map(rest => {
    const words = rest.split(' ')
    const [first = ''] = words
    const isBuilt = first === '--from=build'
    const paths = isBuilt ? words.slice(1) : words
    return { isBuilt, from: paths.slice(0, -1), to: paths.at(-1) ?? '' }
  })

  test('has instructions that Docker knows, and an image that runs for nobody special, with its signals', () => {
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'VOLUME', 'ENV', 'USER', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD']
    expect(instructions.map(({ name }) => name).filter(name => !known.includes(name))).toEqual([])
    expect(instructions[0]?.name).toBe('FROM')
    for (const image of of('FROM')) expect(image).toMatch(/^node:\d+-slim( AS build)?$/)
    expect(Number(/node:(\d+)/.exec(of('FROM')[0] ?? '')?.[1])).toBeGreaterThanOrEqual(20)
    expect(of('USER')).toEqual(['node'])
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', '/app/bin/sluice.js'])
    expect(JSON.parse(of('CMD')[0] ?? '')).toEqual(['--help'])
    expect(of('ENV').join(' ')).toContain(`SLUICE_STATE_DIR=${of('VOLUME')[0]}`)
    expect(of('WORKDIR')).toEqual(['/build', of('VOLUME')[0]])
  })

  test('copies what the build needs', () => {
    const given = copies.filter(({ isBuilt }) => !isBuilt)
    for (const { from, to } of given) {
      for (const path of from) expect({ path, is: existsSync(join(root, path)) }).toEqual({ path, is: true })
      // The contents of a folder are copied, not the folder.
      if (from.some(path => statSync(join(root, path)).isDirectory())) expect([to]).toEqual(from)
      else expect(to.endsWith('/') || from.length === 1).toBe(true)
    }
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { build: string } }
    const [, script = ''] = /^node (\S+)$/.exec(scripts.build) ?? []
    const named = readFileSync(join(root, script), 'utf8').matchAll(/'([\w./-]+\.(?:js|json))'/g)
    const needed = [script, ...[...named].map(([, path = '']) => path)].filter(path => !path.startsWith('..'))
    expect(needed.length).toBeGreaterThan(2)
    const isCopied = (path: string) =>
      given.some(({ from }) => from.some(one => path === one || path.startsWith(`${one}/`)))
    expect(needed.filter(path => !isCopied(path))).toEqual([])
    expect(of('RUN')[0]).toBe('npm ci')
  })

  test('puts a whole program into the image: its command loads', async () => {
    for (const { from, to } of copies.filter(({ isBuilt }) => isBuilt)) {
      const source = (from[0] ?? '').replace(/^\/build/, built)
      mkdirSync(dirname(here(to)), { recursive: true })
      cpSync(source, here(to), { recursive: true })
    }
    const comment = text
      .split('\n')
      .filter(line => line.startsWith('#'))
      .map(line => line.slice(1))
      .join('\n')
    const [, command = ''] = /docker run [^\n]*\\\n\s+sluice (ingest .*)/.exec(comment) ?? []
    const env = Object.fromEntries(
      of('ENV')
        .flatMap(rest => rest.split(' '))
        .map(one => here(one).split('=') as [string, string]),
    )
    const words = (JSON.parse(of('ENTRYPOINT')[0] ?? '') as string[]).map(here).join(' ')
    expectLoaded(await run(`exec ${words} ${here(command)}`, { ...lab.env, ...env }, here(of('WORKDIR').at(-1) ?? '')))
    expect(existsSync(join(work.path, 'state', 'runs'))).toBe(true)
  })

  test('its health is what a receiver answers, and a load is healthy while it runs', async () => {
    const [, check = ''] = / CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
    const [node, file = ''] = JSON.parse(check) as string[]
    const copied = copies.find(({ to }) => to === file)
    expect(node).toBe('node')
    const health = async (env: Record<string, string>) =>
      (await run(`exec node ${join(root, copied?.from[0] ?? '')}`, env)).code
    let status = 200
    const receiver = createServer(({ url }, answer) => answer.writeHead(url === '/health' ? status : 404).end())
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    const listening = { SLUICE_LISTEN: `0.0.0.0:${port}` }
    expect(await health(listening)).toBe(0)
    status = 503
    expect(await health(listening)).toBe(1)
    receiver.closeAllConnections()
    await new Promise(resolve => receiver.close(resolve))
    expect(await health(listening)).toBe(1)
    expect(await health({})).toBe(0)
  })
})
