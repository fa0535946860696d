// @module-tag long
/**
 * Nine kinds of night: the lines of the guide's recipe run as cron runs them, with a program `mail` that keeps what it gets. The mails
 * stand in nights.txt. To write it again, run `npm run nights`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { eventually } from '../../support/eventually.js'
import { type Folder, binary, folder } from '../../support/command/sluice.js'

const guide = readFileSync(new URL('../../../docs/guide/every-night.md', import.meta.url), 'utf8')
const example = readFileSync(new URL('../../../examples/cron/sluice-orders', import.meta.url), 'utf8')

/** The lines of a crontab that are not comments. */
function linesOf(text: string): string[] {
  return text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'))
}

const recipe = linesOf(/```crontab\n([^`]*)```/.exec(guide)?.[1] ?? '')

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
  work = await folder()
  for (const name of ['bin', 'orders', 'lib', 'mails']) mkdirSync(at(name))
  program('sluice', `echo $$ > ${at('pid')}\nexec ${process.execPath} ${binary} "$@"`)
  program('sleep', `echo "$1" >> ${at('waits')}`)
  program('mail', `[ "$1 $3" = '-s operations' ] && cat > "${at('mails')}/$2"`)
  access({})
})
afterAll(async () => {
  await work[Symbol.asyncDispose]()
  await lab.close()
})

function at(...names: string[]): string {
  return join(work.path, ...names)
}

function program(name: string, script: string): void {
  writeFileSync(at('bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

function access(more: Readonly<Record<string, string>>): void {
  const all = Object.entries({ ...lab.env, ...more }).map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(at('access.env'), all.join(''))
}

function orders(name: string, count: number, broken = 0): void {
  const good = Array.from({ length: count }, (_, n) => `{"order":"${name}-${n}","total":${n}}\n`)
  writeFileSync(at('orders', `${name}.ndjson`), good.join('') + `["no order"]\n`.repeat(broken))
}

function here(text: string): string {
  const places = {
    '/srv/orders': at('orders'),
    '/var/lib/sluice': at('lib'),
    '/etc/sluice/access.env': at('access.env'),
    '/usr/local/bin:': `${at('bin')}:`,
  }
  return Object.entries(places).reduce((rest, [place, own]) => rest.replaceAll(place, own), text)
}

/** Does what cron does at a quarter past three: runs the line, and mails what it prints, if it prints anything. */
async function night(title: string): Promise<string> {
  const variables = recipe.filter(line => /^[A-Z_]+=/.test(line)).map(line => line.split('=') as [string, string])
  const [job = ''] = recipe.filter(line => !/^[A-Z_]+=/.test(line))
  const command = job.split(' ').slice(6).join(' ')
  const env = Object.fromEntries(variables.map(([name, value]) => [name, here(value)]))
  const cron = `printed=$("$SHELL" -c "$COMMAND" 2>&1)
    [ -z "$printed" ] || printf '%s\\n' "$printed" | mail -s '${title}' "$MAILTO"`
  const child = spawn('/bin/sh', ['-c', cron], {
    cwd: work.path,
    env: { ...env, COMMAND: here(command).replaceAll('\\%', '%'), HOME: work.path, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await new Promise(resolve => child.once('close', resolve))
  try {
    return readFileSync(at('mails', title), 'utf8')
  } catch {
    return ''
  }
}

const mails: string[] = []

async function mailed(title: string, running: Promise<string> = night(title)): Promise<string> {
  const mail = normal(await running)
  mails.push(`${title}\n${'='.repeat(title.length)}\n${mail === '' ? '(no mail)\n' : mail}`)
  return mail
}

/** What differs from one run to the next, by what it is. */
function normal(text: string): string {
  return text
    .replaceAll(work.path, '/home')
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{6}/g, 'RUN')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replaceAll(/(127\.0\.0\.\d|localhost):\d+/g, '$1:PORT')
    .replaceAll(/127\.0\.0\.[23]\b/g, 'ADDRESS')
    .replaceAll(/process \d+/g, 'process PID')
    .replaceAll(/(?<=PID on )[^\s,]+/g, 'HOST')
    .replaceAll(/[0-9a-f]{16,}/g, 'KEY')
    .replaceAll(/line \d+: +\d+ Killed/g, 'Killed')
    .replaceAll(/\d+ ms\b/g, 'N ms')
}

function sluicePid(): number {
  return Number(readFileSync(at('pid'), 'utf8'))
}

test('the guide shows the lines of the example', () => {
  expect(recipe).toEqual(linesOf(example))
})

test('the recipe mails exactly when a person should look', async () => {
  const receipts = () => readFileSync(at('lib', 'receipts.ndjson'), 'utf8').trimEnd().split('\n')
  const stored = () => lab.control.count('orders')

  orders('monday', 300)
  expect(await mailed('1. New files, and all is well')).toBe('')
  expect(stored()).toBe(300)

  expect(await mailed('2. Nothing new')).toBe('')
  expect(receipts()).toHaveLength(2)

  orders('tuesday', 200, 3)
  expect(await mailed('3. Rejected documents')).toContain('error: 3 of 203 documents were rejected')
  expect(await night('3. The night after')).toBe('')

  orders('wednesday', 5000, 150)
  expect(await mailed('4. Too many rejected documents')).toContain('exit code 3')
  const loaded = stored()
  orders('wednesday-evening', 100)
  expect(await mailed('4. The night after, with a new file')).toContain('REJECTED_NOT_REPLAYED')
  expect(stored()).toBe(loaded + 100)
  orders('wednesday', 0)
  expect(await night('4. The file is replaced, and the dead letters are there')).toContain('REJECTED_NOT_REPLAYED')
  for (const name of readdirSync(at('lib'))) if (name.includes('dead-letters')) rmSync(at('lib', name))
  expect(await night('4. The dead letters are deleted')).toBe('')

  orders('thursday', 100)
  access({ STATIC_PROXY_URL: 'http://user:pass@127.0.0.1:9', SLUICE_MAX_ELAPSED: '1ms' })
  expect(await mailed('5. The proxy is down')).toContain('exit code 4')
  expect(readFileSync(at('waits'), 'utf8')).toBe('900\n1800\n0\n')
  access({})

  lab.control.register('none')
  expect(await mailed('6. The IP filter refuses')).toContain('EGRESS_NOT_ALLOWED')
  lab.control.register('both')
  const before = stored()

  orders('friday', 10_000)
  access({ SLUICE_BATCH_DOCS: '100', SLUICE_CONCURRENCY: '1' })
  lab.control.plant({ latencyMs: 20 })
  const killed = night('7. Killed in the middle')
  await eventually(() => expect(stored()).toBeGreaterThan(before + 1000))
  process.kill(sluicePid(), 'SIGKILL')
  expect(await mailed('7. Killed in the middle', killed)).toContain('exit code 137')
  lab.control.heal()
  expect(await mailed('7. The night after, when the load continues')).toBe('')
  expect(stored()).toBe(before + 10_100)

  orders('saturday', 10_000)
  lab.control.plant({ latencyMs: 20 })
  const slow = night('8. The load of yesterday')
  await eventually(() => expect(stored()).toBeGreaterThan(before + 11_000))
  expect(await mailed('8. The load of yesterday still runs')).toContain('exit code 6')
  lab.control.heal()
  expect(await slow).toBe('')
  expect(stored()).toBe(before + 20_100)

  orders('sunday', 100)
  renameSync(at('lib', 'state'), at('lib', 'kept'))
  writeFileSync(at('lib', 'state'), '')
  expect(await mailed('9. The state cannot be written')).toContain('STATE_UNWRITABLE')
  rmSync(at('lib', 'state'))
  renameSync(at('lib', 'kept'), at('lib', 'state'))

  orders('sunday', 100, 2)
  access({ SLUICE_DEAD_LETTERS: '/dev/full' })
  expect(await mailed('9. The disk is full')).toContain('DEAD_LETTERS_UNWRITABLE')
  access({})
  expect(await night('9. The night after')).toContain('error: 2 of 102 documents were rejected')
  expect(stored()).toBe(before + 20_200)

  await expect(mails.join('\n')).toMatchFileSnapshot('nights.txt')
})
