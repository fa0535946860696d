/** The last steps of a job happen once, whichever process coordinates it when they are due: on a real Redis, into the lab. */
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { eventually } from '../support/eventually.js'
import { behind, indicesOf, wayInto } from '../support/lab/guarded-world.js'
import { index, lab, path } from '../support/lab/shared-lab.js'
import { atWork, expectAllOnce, leave, onA, parts, queue, slowly } from './faults-world.js'
import { listed, start, startIngest, startWorker } from './jobs-world.js'

const missing = parts.missing.filter(({ only }) => only === 'jobs')
if (missing.length > 0)
  console.warn(`skipped: ends of jobs: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)

describe.skipIf(missing.length > 0 && !process.env['CI'])('a job', () => {
  onA('Redis')

  test('switches its alias once, although its coordinator is killed before and after', async () => {
    const load = ['ingest', path('in/*.ndjson'), '--swap-alias', index, '--run-id', index, ...slowly, '--json']
    lab.control.plant({ stall: { method: 'POST', path: '/_aliases', done: false } })
    const struck = async () => await eventually(() => expect(lab.control.struck('stall')).toBe(1))
    const first = start(queue.url, load)
    await struck()
    first.child.kill('SIGKILL')
    expect(await behind(lab, index)).toBe(undefined)
    lab.control.plant({ stall: { method: 'POST', path: '/_aliases', done: true } })
    const second = start(queue.url, load)
    await struck()
    second.child.kill('SIGKILL')
    lab.control.heal()
    const full = await behind(lab, index)
    await expectAllOnce(start(queue.url, load))
    expect(await behind(lab, index)).toBe(full)
    expect((await indicesOf(lab, `${index}-*`)).map(({ name }) => name)).toEqual([full])
  })

  test('of a load without a name is one for all processes that have the same command', async () => {
    const load = ['ingest', path('in/*.ndjson'), '--swap-alias', index, ...slowly, '--json']
    const processes = [start(queue.url, load), start(queue.url, load)]
    for (const one of processes) await expectAllOnce(one)
    expect(await listed(queue.url)).toHaveLength(1)
    expect(await indicesOf(lab, `${index}-*`)).toHaveLength(1)
  })

  test('restores tuned settings, although its coordinator is killed', async () => {
    const settings = { refresh_interval: '9s', number_of_replicas: 2 }
    await using way = await connect(wayInto(lab))
    await way.client.indices.create({ index, settings })
    const load = ['--tune', ...slowly]
    const ingest = startIngest(queue.url, ...load)
    await atWork()
    const tuned = { refreshInterval: '-1', replicas: '0' }
    expect(await indicesOf(lab, index)).toMatchObject([tuned])
    ingest.child.kill('SIGKILL')
    const worker = startWorker(queue.url)
    await expectAllOnce(startIngest(queue.url, ...load))
    expect(await indicesOf(lab, index)).toMatchObject([{ refreshInterval: '9s', replicas: '2' }])
    await leave(worker)
  })
})
