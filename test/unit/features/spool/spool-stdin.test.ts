import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failure, isSluiceError, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Source } from '../../../../src/base/flow.js'
import type { IngestEvent } from '../../../../src/options/run-events.js'
import { StopSignals } from '../../../../src/run/loop/stop-signals.js'
import { readOptions } from '../../../../src/options/read-options.js'
import { spoolStdin } from '../../../../src/features/spool/spool-stdin.js'
import { systemClock } from '../../../../src/base/time/clock.js'

let work: string
beforeEach(async () => void (work = await mkdtemp(join(tmpdir(), 'spool-stdin-'))))
afterEach(async () => await rm(work, { recursive: true, force: true }))

const outage = failure('CLUSTER_UNAVAILABLE', { cluster: 'https://c.example', observed: 'status 503', status: 503 })

/** A load of stdin that ends so; what it throws, and what it told. */
async function stopped(
  stdin: Readable,
  load: (input: Source | undefined) => Promise<never>,
  onWarning?: () => void,
): Promise<{ error: SluiceError; warnings: string[] }> {
  const warnings: string[] = []
  const tell = (event: IngestEvent) => {
    if (event.type !== 'warning') return
    warnings.push(event.message)
    onWarning?.()
  }
  const source: Source = { id: 0, name: '-', open: () => stdin }
  const target = { url: 'https://c.example' }
  const options = { source: '-', stdin, spool: true, target, index: 'i', stateDir: join(work, 'state') }
  using stop = new StopSignals({ clock: systemClock })
  const spooling = spoolStdin(readOptions(options), () => false)
  const run = { stop, tell }
  const hook = await spooling?.feature(run)
  try {
    const [input] = (await spooling?.copies?.open(run, [source], join(work, 'state/spool/k'))) ?? []
    await load(input)
  } catch (thrown) {
    const error = await hook?.failed?.(thrown)
    if (isSluiceError(error)) return { error, warnings }
    throw error
  } finally {
    await hook?.dispose?.()
  }
  throw new Error('it did not stop')
}

const loseDisk = async () => await rm(join(work, 'state'), { recursive: true })

test('stdin that is lost once the load has stopped is how the run ends, with the receipt of the load', async () => {
  const stdin = new PassThrough()
  stdin.write('{"n":1}\n')
  const receipt = { run: 'r', status: 'failed', failure: outage, read: 1 }
  const { error, warnings } = await stopped(
    stdin,
    async input => {
      await input?.copy?.begun?.()
      await loseDisk()
      throw new SluiceError(outage, { receipt })
    },
    () => stdin.end('{"n":2}\n'),
  )
  const told = expect.stringMatching(
    /^cannot write \S+: the folder does not exist\. Sluice read stdin only up to byte 16$/,
  ) as string
  expect(error).toMatchObject({
    code: 'STATE_UNWRITABLE',
    message: told,
    receipt: { run: 'r', status: 'failed', read: 1, failure: { code: 'STATE_UNWRITABLE', message: told } },
  })
  expect(warnings).toEqual([
    expect.stringMatching(/^the load has stopped, but Sluice still spools stdin to its end \(CLUSTER_UNAVAILABLE: /),
  ])
})

test('stdin that was lost before the load stopped for another reason is told, and so is that', async () => {
  const stdin = new PassThrough()
  const { error, warnings } = await stopped(stdin, async input => {
    stdin.write('{"n":1}\n')
    const read = input?.open(new AbortController().signal)[Symbol.asyncIterator]()
    await read?.next()
    await loseDisk()
    stdin.end()
    await expect(read?.next()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
    throw new SluiceError(outage)
  })
  expect(error.code).toBe('STATE_UNWRITABLE')
  expect(warnings).toEqual([expect.stringMatching(/^the load has stopped too \(CLUSTER_UNAVAILABLE: /)])
})

test('stdin that fails once the load has stopped is named, too', async () => {
  const stdin = new PassThrough()
  const { error } = await stopped(
    stdin,
    async () => {
      throw new SluiceError(outage)
    },
    () => stdin.destroy(new Error('the cable is out')),
  )
  expect(error).toMatchObject({ code: 'INPUT_UNREADABLE', message: 'cannot read -: the cable is out' })
})

test('a load that stopped while stdin was taken to its end ends as it did', async () => {
  const stdin = new PassThrough()
  const { error, warnings } = await stopped(
    stdin,
    async () => {
      throw new SluiceError(outage)
    },
    () => stdin.end('{"n":1}\n'),
  )
  expect(error.failure).toBe(outage)
  expect(warnings).toHaveLength(1)
  expect(await readdir(join(work, 'state/spool/k'))).toHaveLength(2)
})
