/** The files in examples/many-workers: each is what its reader takes it for, and its commands get as far as their queue. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { inProcess } from '../../support/command/in-process.js'

const folder = fileURLToPath(new URL('../../../examples/many-workers', import.meta.url))
const example = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Seconds that a worker is given to finish what is under way. */
const GRACE_S = 25

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly { readonly command: readonly string[] }[]
      }
    }
    readonly scaleTargetRef?: { readonly name: string }
    readonly triggers?: readonly { readonly type: string; readonly metadata: Readonly<Record<string, string>> }[]
  }
}

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly command: string; readonly stop_grace_period?: string; readonly environment?: object }>
  >
}

function documentsIn(name: string): readonly unknown[] {
  const all = parseAllDocuments(example(name))
  expect(all.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  return all.map(one => one.toJS() as unknown)
}

/** Words of a command that is written as a shell would read it. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

/** A command whose options are wrong ends before it looks for its queue. */
async function expectRight([program, ...words]: readonly string[]): Promise<void> {
  expect(program).toBe('sluice')
  const env = {
    SLUICE_QUEUE: 'redis://127.0.0.1:1',
    ELASTICSEARCH_URL: 'https://127.0.0.1:1',
    SLUICE_LOG_FORMAT: 'text',
  }
  const { code, stderr } = await inProcess(words, env)
  expect({ code, stderr }, words.join(' ')).toEqual({ code: 4, stderr: expect.stringContaining('QUEUE_UNREACHABLE') })
}

test('Compose keeps what the queue is told, and its commands are right', async () => {
  const [{ services } = { services: {} }] = documentsIn('compose.yml') as readonly Compose[]
  const { queue, worker, load } = services
  expect(queue?.command).toBe('redis-server --appendonly yes --appendfsync everysec --maxmemory-policy noeviction')
  expect(parseInt(worker?.stop_grace_period ?? '', 10)).toBeGreaterThan(GRACE_S + 15)
  for (const one of [worker, load]) await expectRight(wordsOf(one?.command ?? ''))
})

test('the manifests of Kubernetes run the right commands, and the scaler scales the workers', async () => {
  const all = documentsIn('kubernetes.yaml') as readonly Manifest[]
  expect(all.map(({ kind }) => kind)).toEqual(['Job', 'Deployment', 'ScaledObject'])
  for (const { spec } of all.slice(0, 2)) {
    const pod = spec.template?.spec
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(GRACE_S + 15)
    await expectRight(pod?.containers[0]?.command ?? [])
  }
  expect(all[2]?.spec.scaleTargetRef?.name).toBe(all[1]?.metadata.name)
})

test('the unit of systemd is right, and systemd finds nothing wrong with it', async ({ skip }) => {
  const text = example('sluice-worker.service')
  const setting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1] ?? ''
  expect(parseInt(setting('TimeoutStopSec'), 10)).toBeGreaterThan(GRACE_S + 15)
  const [program, ...words] = wordsOf(setting('ExecStart'))
  expect(program).toBe('/usr/local/bin/sluice')
  await expectRight(['sluice', ...words])
  const place = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
  const verify = (unit: string): string[] => {
    const path = join(place, 'sluice-worker.service')
    writeFileSync(path, unit.replace('/usr/local/bin/sluice', process.execPath))
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
    return (stderr ?? '').split('\n').filter(line => line.includes('sluice-worker'))
  }
  const seen = verify(text.replace('RestartSec=', 'RestartSek='))
  const found = verify(text)
  rmSync(place, { recursive: true })
  if (seen.length === 0) skip('systemd-analyze is not installed, or verifies nothing here')
  expect(found).toEqual([])
})
